"""What a conversion tells at its end: drawn for a person on a terminal, plain lines for anything else."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from tf2npu.report import as_text
from tf2npu.report.language import catalogue
from tf2npu.report.localized import localized, localized_lines
from tf2npu.report.model import Report
from tf2npu.report.outlook import outlook

QUIET, VERBOSE = "quiet", "verbose"
"""How much a command tells: the verdict alone, or every finding; anything else is what is left in short."""
Rerun = tuple[Path, Path | None]
"""SRC and OUT as the user typed them, for the commands that are shown."""


def show_summary(report: Report, stream: TextIO, rerun: Rerun, volume: str) -> None:
    """The short form, the verdict alone, or everything: drawn on a terminal, plain lines anywhere else."""
    if stream.isatty() and volume != QUIET:
        return show_all(report, _with_places(report.headline, *rerun), stream, rerun, shows_all=volume == VERBOSE)
    language = report.language
    if volume == QUIET:
        lines = [as_text.Line(catalogue(language).text(outlook(report).verdict))]
    else:
        told = as_text.full if volume == VERBOSE else as_text.brief
        lines = list(localized_lines(told(localized(report, language)), language))
        lines[0] = as_text.Line(_with_places(lines[0].text, *rerun), lines[0].style)
    as_text.show(lines, stream)


def show_all(report: Report, headline: str, stream: TextIO, rerun: Rerun | None = None, *, shows_all: bool = True) -> None:
    """Draw a report on a terminal, in its language.  rerun: what SRC and OUT of the commands to type are; None: they stay."""
    from tf2npu.report import terminal  # rich costs a tenth of a second to import

    told = localized(report, report.language)
    found = outlook(told)
    if rerun is not None:
        steps = [replace(step, command=_with_names(step.command, rerun)) for step in found.steps]
        found = replace(found, steps=steps)
    terminal.show(told, headline, found, stream, shows_all=shows_all)


def _with_names(command: str, rerun: Rerun) -> str:
    """A command to type with the user's own folders in the place of SRC and OUT."""
    names = {"SRC": shlex.quote(str(rerun[0])), "OUT": shlex.quote(str(rerun[1] or "OUT"))}
    return re.sub(r"(?<=[ ])(SRC|OUT)(?=[ /]|$)", lambda found: names[found[1]], command)


def show_path(path: Path, stream: TextIO, language: str) -> None:
    """Say where the report is."""
    if not stream.isatty():
        return as_text.show([as_text.Line(f"report: {path}")], stream)
    from tf2npu.report import terminal

    terminal.show_report_path(path, stream, language)


def _with_places(headline: str, src: Path, out: Path | None) -> str:
    names = {"SRC": shlex.quote(str(src)), "OUT": shlex.quote(str(out or "OUT"))}
    return re.sub(r"`tf2npu convert SRC OUT", lambda m: f"`tf2npu convert {names['SRC']} {names['OUT']}", headline)
