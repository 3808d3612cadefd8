"""The output at the end of a conversion: drawn for a person on a terminal, plain lines for anything else."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TextIO

from tf2npu.report.formats import as_text
from tf2npu.report.formats.localized import localized, localized_lines
from tf2npu.report.languages.language import catalogue
from tf2npu.report.model.report import Report
from tf2npu.report.work.overview import outlook

QUIET, VERBOSE = "quiet", "verbose"
"""Volumes of a command's output: the verdict alone, and every finding. Any other volume lists the open findings in short."""
Rerun = tuple[Path, Path | None]
"""SRC and OUT as the user typed them, for the commands that are shown."""


def show_summary(report: Report, stream: TextIO, rerun: Rerun, volume: str) -> None:
    """The short form, the verdict alone, or everything: drawn on a terminal, plain lines anywhere else."""
    if stream.isatty() and volume != QUIET:
        return show_all(report, _with_places(report.headline, *rerun), stream, shows_all=volume == VERBOSE)
    language = report.language
    if volume == QUIET:
        lines = [as_text.Line(catalogue(language).text(outlook(report).verdict))]
    else:
        told = as_text.full if volume == VERBOSE else as_text.brief
        lines = list(localized_lines(told(localized(report, language)), language))
        lines[0] = as_text.Line(_with_places(lines[0].text, *rerun), lines[0].style)
    as_text.show(lines, stream)


def show_all(report: Report, headline: str, stream: TextIO, *, shows_all: bool = True) -> None:
    """Draw a report on a terminal, in its language."""
    from tf2npu.report.formats import terminal  # rich costs a tenth of a second to import

    told = localized(report, report.language)
    found = outlook(told)
    terminal.show(told, headline, found, stream, shows_all=shows_all)


def show_path(path: Path, stream: TextIO, language: str) -> None:
    """Say where the report is."""
    if not stream.isatty():
        return as_text.show([as_text.Line(as_text.report_line(path, language))], stream)
    from tf2npu.report.formats import terminal

    terminal.show_report_path(path, stream, language)


def _with_places(headline: str, src: Path, out: Path | None) -> str:
    names = {"SRC": shlex.quote(str(src)), "OUT": shlex.quote(str(out or "OUT"))}
    return re.sub(r"`tf2npu convert SRC OUT", lambda m: f"`tf2npu convert {names['SRC']} {names['OUT']}", headline)
