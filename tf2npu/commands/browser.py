"""Show a report in the reader's browser, as --open asks for."""

from __future__ import annotations

import logging
import webbrowser
from pathlib import Path

from npu_formats.escape import visible
from tf2npu.report.writer import page_to_open

log = logging.getLogger(__name__)


def open_report(folder: Path | None, formats: list[str]) -> None:
    """Start the browser with the first page of a report; say so where there is no page, or no browser can be started."""
    page = page_to_open(formats)
    if folder is None or not page:
        log.warning("--open has no effect: no web page was written; take --format html, and --report where nothing is written")
    elif not webbrowser.open((folder / page).resolve().as_uri()):
        log.warning("--open has no effect: no browser could be started; the report is %s", visible(str(folder / page)))
