"""The scripts that start the project, how far each has been proven, and the commands to type."""

from __future__ import annotations

from typing import Any

from tf2npu.report.formats.render_context import View, page_name
from tf2npu.report.html.page_types import Section, run_page_name
from tf2npu.report.work.entry_scripts import CHECKED, RUNGS, Entry, commands, run_of

_SHOWN = 6
"""Scripts with their commands on the first page; the page of scripts has all."""


def section(view: View) -> Section | None:
    if not view.entries:
        return None
    values = {
        "entries": [entry_values(view, entry) for entry in view.entries[:_SHOWN]],
        "n_more": max(0, len(view.entries) - _SHOWN),
        "rungs": [view.texts.word(rung) for rung in RUNGS[1:]],
    }
    return Section("entry_scripts", view.texts.text("Scripts that are run"), values)


def entry_values(view: View, entry: Entry) -> dict[str, Any]:
    """The values that a page shows of a script."""
    texts, file = view.texts, view.files_by_path.get(entry.script.path)
    return {
        "path": entry.script.path,
        "href": page_name(file.path) if file is not None and file.has_page else "",
        "starts": texts.text(STARTS[entry.script.starts]),
        "rung": entry.rung,
        "rung_name": texts.word(RUNGS[entry.rung]),
        "evidence": texts.text(entry.evidence),
        "proof": _proof(view, entry),
        "open_places": entry.open_places,
        "commands": []
        if view.report.command == "scan"
        else [(texts.text(c.what), c.text) for c in commands(view.report, entry.script)],
    }


def _proof(view: View, entry: Entry) -> tuple[str, str]:
    """(text, address) of the link to what is the evidence: the check, or the run; without an address where neither is."""
    if RUNGS[entry.rung] == CHECKED:
        return view.texts.text("Its check"), "check.html" if "check.html" in view.report.beside else "runs.html#check"
    run = run_of(view.report, entry.script)
    return view.texts.text("Its run"), "" if run is None else run_page_name(1 + view.report.runs.index(run))


STARTS = {
    "named": "named in the settings",
    "guard": "has a __main__ guard",
    "command": "is an installed command",
    "package": "starts its package",
    "loading": "runs when it is loaded",
    "test": "a test",
    "notebook": "a notebook",
    "launcher": "a shell script that starts others",
}
"""Reasons to take a script for an entry point, in English."""
