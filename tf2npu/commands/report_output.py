"""The report that a command writes and the short form that it shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TextIO

from npu_formats.files.lock import Busy
from tf2npu.commands.browser import open_report
from tf2npu.commands.convert_summary import QUIET, Rerun, show_path, show_summary
from tf2npu.refused_request import RefusedRequest
from tf2npu.report import writer
from tf2npu.report.errors import TooLarge
from tf2npu.report.model.report import Report


def check_report_folder(report_folder: Path | None, formats: list[str], force: bool) -> None:
    if report_folder is None:
        return
    try:
        writer.check(report_folder, formats, force=force)
    except writer.ForeignFile as error:
        raise RefusedRequest(str(error)) from None


def tell(
    report: Report, report_folder: Path | None, formats: list[str], *, stream: TextIO, rerun: Rerun, volume: str, opens: bool,
    **options: Any,
) -> None:  # fmt: skip
    """Write the report and show the short form, with the command to rerun as the user would type it; `opens`: show it."""
    show_summary(report, stream, rerun, volume)  # first: files are converted, also where the report cannot be written
    if report_folder is not None and writer.has_files(formats):
        write_report(report, report_folder, formats, **options)
        if volume != QUIET:
            show_path(_shown_report(report_folder, formats), stream, report.language)
    if "github" in formats:
        stream.write(writer.text_of(report, "github"))
    if opens:
        open_report(report_folder, formats)


def write_report(report: Report, target: Path, formats: list[str], **options: Any) -> None:
    try:
        writer.write(report, target, formats, **options)
    except OSError as error:
        raise RefusedRequest(f"{target}: the report cannot be written: {error.strerror or error}") from None
    except (Busy, writer.ForeignFile, TooLarge) as error:
        raise RefusedRequest(f"{error}; the report is not written") from None


def _shown_report(report_folder: Path, formats: list[str]) -> Path:
    return report_folder / "index.html" if "html" in formats else report_folder
