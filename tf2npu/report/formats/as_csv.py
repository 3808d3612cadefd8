"""The findings as CSV: a line for each, with names of columns as report.json has them.

Source: RFC 4180 for fields and line ends. The byte order mark is there because spreadsheets take a file without it for one
of the machine's old code page.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from npu_formats.escape import visible_lines
from tf2npu.report.formats.tables import Cell, findings
from tf2npu.report.model.report import Report

_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20", "'")
"""First characters of fields that a spreadsheet computes, the wide forms of some locales included; and the apostrophe, so that a
program that reads the file may take one away from each field that begins with it."""


def pieces(report: Report) -> Iterator[str]:
    """The text piece by piece, a line of the table each."""
    table = findings(report)
    yield "\ufeff" + _line(table.columns)
    yield from (_line(row.fields) for row in table.rows())


def render(report: Report) -> str:
    """The whole text."""
    return "".join(pieces(report))


def _line(fields: tuple[Cell, ...]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow([_field(field) if isinstance(field, str) else field for field in fields])
    return text.getvalue()


def _field(text: str) -> str:
    """A text that no spreadsheet computes: an apostrophe stands before what begins as a formula does."""
    shown = visible_lines(text.replace("\r\n", "\n"))
    return f"'{shown}" if shown.startswith(_STARTS_A_FORMULA) else shown
