"""The list of all files."""

from __future__ import annotations

from collections.abc import Iterable

from tf2npu.findings import Status
from tf2npu.report.formats.render_context import View, page_name
from tf2npu.report.html.list_pages import list_pages
from tf2npu.report.html.listing import Badges, Column, Link, Listing, Row, Said
from tf2npu.report.html.one_file import levels_of
from tf2npu.report.html.page_types import Page
from tf2npu.report.model.counts import SHOWN
from tf2npu.report.model.report import FileReport

_COLUMNS = (Column("Path", "text"), Column("Status", "text"), Column("Findings", "number"), Column("What is said of the file"))


def pages(view: View) -> Iterable[Page]:
    rows = [_row(file) for file in view.report.files]
    listing = Listing(
        "files", _COLUMNS, rows, "Status", tuple(status.value for status in Status), "path", (SHOWN["files"], SHOWN["files"])
    )
    return list_pages(view, listing, "Files", "", left_out=view.report.left_out)


def _row(file: FileReport) -> Row:
    """A file without a page says what was found in it here."""
    said = "" if file.has_page else " ".join(finding.message for finding in file.findings)
    href = page_name(file.path) if file.has_page else ""
    cells = (
        Link(file.path, "", href), Badges(((file.status.value, None),)), Badges(tuple(levels_of(file).items())), Said(said),
    )  # fmt: skip
    return Row(cells, (file.status.value,))
