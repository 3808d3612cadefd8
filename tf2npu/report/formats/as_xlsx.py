"""The report as a workbook: a sheet for each table, with filters, a head that stays, and links to the pages beside it.

Source: ECMA-376 (Office Open XML) part 1 for escapes in texts; Excel's own limits for cells, rows and links. A text is never
a formula: its cell says that it holds a text, and that it stays one when somebody edits it.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from npu_formats.escape import for_xml, visible_lines
from tf2npu.report.formats.render_context import View, page_name
from tf2npu.report.formats.tables import Cell, Row, Table, summary, tables
from tf2npu.report.languages.language import catalogue
from tf2npu.report.model.report import Report

INSTALL = "pip install 'tf2npu[xlsx]'"
"""Command that installs openpyxl, which writes the workbook."""
MOST_ROWS = 1_048_575
"""Rows of a sheet below its head; Excel opens no more."""
MOST_LINKS = 65_530
"""Links of a sheet; Excel calls a file with more damaged."""
_MOST_CHARACTERS = 32_700
"""Characters of a cell: Excel holds 32,767, and the rest is for the words that tell of a cut."""
_ESCAPE = re.compile("_(?=x[0-9A-Fa-f]{4}_)")
_TIMES = re.compile(rb"<dcterms:(created|modified)[^>]*>[^<]*</dcterms:\1>")
_WIDTHS = {
    "path": 50, "message": 90, "why": 60, "title": 30, "before": 40, "after": 40, "api": 35, "name": 45, "places": 40,
    "evidence": 60, "script": 40, "failure": 60, "changed_files": 40, "in words": 90, "note": 60, "Script file": 50,
    "API name": 40, "Advice": 80, "Module": 30, "device": 24, "value": 60,
}  # fmt: skip
"""Widths of columns in characters."""
_WIDTH = 14
"""Width of the others, which holds their head."""


def is_possible() -> bool:
    """Whether openpyxl, an extra of the package, is installed."""
    return find_spec("openpyxl") is not None


def pieces(report: Report) -> Iterator[bytes]:
    """The bytes of the workbook, the same for the same report: without times, neither of the archive nor of the document."""
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    book.properties.creator = "tf2npu"
    found, texts = tables(report), catalogue(report.language)
    rows = [(texts.text(name), value) for name, value in summary(report)]
    rows += [(texts.text("not in this workbook"), text) for table in found if (text := _cut(table))]
    view = View(report)
    _sheet(book, Table("summary", ("name", "value"), lambda: (Row(row) for row in rows)), view)
    for table in found:
        _sheet(book, table, view)
    made = io.BytesIO()
    book.save(made)
    yield _without_times(made)


def _cut(table: Table) -> str:
    n_rows = sum(1 for _ in table.rows())
    return f"{table.name}: {n_rows - MOST_ROWS} rows; report.json has them" if n_rows > MOST_ROWS else ""


def _sheet(book: Any, table: Table, view: View) -> None:
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter

    texts, sheet, wrapped = view.texts, book.create_sheet(table.name), Alignment(wrap_text=True, vertical="top")
    sheet.freeze_panes = "A2"
    for number, name in enumerate(table.columns, 1):
        sheet.column_dimensions[get_column_letter(number)].width = _WIDTHS.get(name, _WIDTH)
    sheet.append([_cell(sheet, texts.text(name) if table.has_words else name, Font(bold=True)) for name in table.columns])
    n_rows = n_links = 0
    for row in table.rows():
        if n_rows == MOST_ROWS:
            break
        n_rows += 1
        cells = [_cell(sheet, value) for value in row.fields]
        for name, cell in zip(table.columns, cells, strict=True):
            if _is_long(name, cell):
                cell.alignment = wrapped
        if (way := _way(view, row)) and n_links < MOST_LINKS:
            n_links += 1
            _link(cells[_linked(table)], way)
        sheet.append(cells)
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(table.columns))}{n_rows + 1}"


def _is_long(name: str, cell: Any) -> bool:
    """Whether a cell holds a text that is longer than its column is wide, or that has several lines."""
    return isinstance(cell.value, str) and (len(cell.value) > _WIDTHS.get(name, _WIDTH) or "\n" in cell.value)


def _linked(table: Table) -> int:
    """The column whose cells are links: the one that names the file or the place."""
    return next(n for n, name in enumerate(table.columns) if name in ("path", "first place", "Script file"))


def _cell(sheet: Any, value: Cell, font: Any = None) -> Any:
    from openpyxl.cell import WriteOnlyCell

    if not isinstance(value, str):
        return WriteOnlyCell(sheet, value)
    cell = WriteOnlyCell(sheet, text_in_cell(value))
    cell.data_type = "s"
    cell.quotePrefix = True
    if font is not None:
        cell.font = font
    return cell


def _way(view: View, row: Row) -> str:
    """The page and anchor that show a row; "" where none does."""
    if row.file is None or not row.file.has_page:
        return ""
    if row.number:
        return view.page_of_finding(row.file, row.number)
    return view.href_of_place(row.place) if row.place else page_name(row.file.path)


def _link(cell: Any, way: str) -> None:
    from openpyxl.styles import Font
    from openpyxl.worksheet.hyperlink import Hyperlink

    page, _, anchor = way.partition("#")
    cell.hyperlink = Hyperlink(ref="", target=page, location=anchor or None)
    cell.font = Font(underline="single", color="0563C1")


def text_in_cell(text: str) -> str:
    """A text as a cell holds it: odd characters as code points, and no run of characters that Excel reads as an escape."""
    shown = for_xml(visible_lines(text.replace("\r\n", "\n")))
    escaped = _ESCAPE.sub("_x005F_", shown)
    if len(escaped) <= _MOST_CHARACTERS:
        return escaped
    return f"{escaped[:_MOST_CHARACTERS]} ... ({len(escaped) - _MOST_CHARACTERS} characters more in report.json)"


def _without_times(made: io.BytesIO) -> bytes:
    """The same archive with one fixed time for each member, and a document that has none."""
    result = io.BytesIO()
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(member, _TIMES.sub(b"", data) if name == "docProps/core.xml" else data)
    return result.getvalue()
