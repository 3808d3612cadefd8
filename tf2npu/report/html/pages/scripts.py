"""The list of the scripts that are run, with how far each has been proven."""

from __future__ import annotations

from collections.abc import Iterable

from tf2npu.report.formats.render_context import View, page_name
from tf2npu.report.html.list_pages import list_pages
from tf2npu.report.html.listing import Badges, Code, Column, Link, Listing, Row, Said
from tf2npu.report.html.page_types import Page
from tf2npu.report.html.sections.entry_scripts import STARTS
from tf2npu.report.work.entry_scripts import RUNGS, Entry, commands

_COLUMNS = (
    Column("Script", "text"), Column("Proven", "text"), Column("Open findings", "number"), Column("Needed files", "number"),
    Column("Run it"), Column("What shows it"), Column("What starts it"),
)  # fmt: skip
_SHOWN = "# of # scripts shown"


def pages(view: View) -> Iterable[Page]:
    if not view.entries:
        return ()
    rows = [_row(view, entry) for entry in view.entries]
    listing = Listing("scripts", _COLUMNS, rows, "Proven", RUNGS, "path", (_SHOWN, _SHOWN))
    return list_pages(view, listing, "Scripts that are run", "Each rung is shown by what was done.")


def _row(view: View, entry: Entry) -> Row:
    file = view.files_by_path.get(entry.script.path)
    href = page_name(file.path) if file is not None and file.has_page else ""
    rung = RUNGS[entry.rung]
    cells = (
        Link(entry.script.path, "", href), Badges(((rung, None),)), entry.open_places, len(entry.needs),
        Code(commands(view.report, entry.script)[0].text), Said(view.texts.text(entry.evidence)),
        Said(view.texts.text(STARTS[entry.script.starts])),
    )  # fmt: skip
    return Row(cells, (rung,))
