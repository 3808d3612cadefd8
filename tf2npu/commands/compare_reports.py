"""The command `tf2npu report --compare OLD NEW`: two reports in, their difference out, and the exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import click

from npu_formats.escape import visible
from tf2npu.commands.named_report import file_of, named_report
from tf2npu.prediction.output import ForeignPage, check_folder, put_pages
from tf2npu.refused_request import RefusedRequest
from tf2npu.report.compared import as_json as compared_json
from tf2npu.report.compared import as_markdown
from tf2npu.report.compared import as_text as compared_text
from tf2npu.report.compared.comparison import Comparison, compare
from tf2npu.report.formats import as_text
from tf2npu.report.formats.localized import localized
from tf2npu.report.model.report import Report

FORMATS = ("text", "html", "md", "json")
_FILES = {"text": "compare.txt", "html": "compare.html", "md": "compare.md", "json": "compare.json"}
EXIT_NEW = 1
"""Exit code of --fail-on new where there is new work, as of a conversion that leaves work."""


def run(before: Path, after: Path, formats: list[str], target: Path | None, language: str, *, fail_on: str | None) -> int:
    """Compare two files of reports, show or write the difference.  Returns: the exit code."""
    if unknown := [name for name in formats if name not in FORMATS]:
        raise RefusedRequest(f"--compare writes no {unknown[0]}: choose of {', '.join(FORMATS)}")
    if "html" in formats or len(formats) > 1:
        target = target or file_of(after).parent
    if target is not None:
        _refuse_foreign(target, tuple(_FILES[name] for name in formats))
    reports = named_report(before), named_report(after)
    found = _compared(reports, "en" if formats == ["json"] else language)
    if target is None:
        _show(found, formats[0])
    else:
        _write(found, reports, formats, target)
    return EXIT_NEW if fail_on == "new" and found.new else 0


def _compared(reports: tuple[Report, Report], language: str) -> Comparison:
    before, after = (localized(report, language) for report in reports)
    return compare(before, replace(after, language=language))


def _text(found: Comparison) -> str:
    return "".join(f"{visible(line.text)}\n" for line in compared_text.lines(found))


def _html(found: Comparison) -> str:
    from tf2npu.report.compared.page import render  # Jinja costs a tenth of a second to import

    return render(found)


_RENDERERS: dict[str, Callable[[Comparison], str]] = {
    "text": _text, "html": _html, "md": as_markdown.render, "json": compared_json.render,
}  # fmt: skip


def _show(found: Comparison, chosen: str) -> None:
    if chosen == "text":
        as_text.show(compared_text.lines(found), sys.stdout)
    else:
        click.echo(_RENDERERS[chosen](found), nl=False)


def _refuse_foreign(folder: Path, names: tuple[str, ...]) -> None:
    try:
        check_folder(folder, names)
    except ForeignPage as error:
        raise RefusedRequest(str(error)) from None


def _write(found: Comparison, reports: tuple[Report, Report], formats: list[str], folder: Path) -> None:
    """Write each format, and show the numbers. Like report.json, compare.json is English in every language."""
    pages: Iterator[tuple[str, str]] = (
        (_FILES[name], _RENDERERS[name](found if name != "json" else _compared(reports, "en"))) for name in formats
    )
    try:
        put_pages(pages, folder)
    except (OSError, ForeignPage) as error:
        reason = (error.strerror or error) if isinstance(error, OSError) else error
        raise RefusedRequest(f"{folder}: the comparison cannot be written: {reason}") from None
    as_text.show(compared_text.lines(found), sys.stdout)
    for name in formats:
        click.echo(f"comparison: {visible(str(folder / _FILES[name]))}", err=True)
