"""The next steps: the first decisions that are left, in the order of all lists, and a command that proves something."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from tf2npu.report.model.report import Report
from tf2npu.report.work.decisions import Decision
from tf2npu.report.work.entry_scripts import Entry, commands, is_ordinary
from tf2npu.scanner.notebooks.path import is_notebook

_OUT = "out"
"""The folder that is proposed for what a conversion writes, as in README.md. One that is not tf2npu's is refused, not changed."""
_CONVERT = "tf2npu convert SRC OUT"
"""The beginning of a command in the sentences of a report, which do not know its paths."""
MOST_STEPS = 5
"""The most steps that are told: what a person keeps in mind."""


@dataclass(frozen=True)
class Step:
    """Something to do.

    decision: what to decide, or None where something is to be run.  what, command: text and line to type of a step that runs
    something.
    """

    decision: Decision | None = None
    what: str = ""
    command: str = ""


def next_steps(report: Report, left: Sequence[Decision], entries: Sequence[Entry]) -> list[Step]:
    """The steps; the last one runs what can be run, so that something is proven.  left: the decisions, in their order."""
    running = _running(report, entries)
    return [*(Step(decision) for decision in left[: MOST_STEPS - len(running)]), *running]


def _running(report: Report, entries: Sequence[Entry]) -> list[Step]:
    """One step that takes the script which is nearest to it a rung further."""
    if report.command == "scan":
        if not report.apis:
            return []
        return [Step(what="Convert: nothing has been written yet.", command=with_real_paths(report, _CONVERT))]
    ordinary = [e for e in entries if is_ordinary(e.script) and not is_notebook(e.script.path) and 0 < e.rung < 4]
    if not ordinary:
        return []
    entry = min(ordinary, key=lambda e: (e.open_places > 0, -e.rung))
    lines = commands(report, entry.script)
    compare = next((line for line in lines if line.text.startswith("tf2npu check")), None)
    line = compare if entry.rung == 3 and compare is not None else lines[1]
    return [Step(what=f"{line.what}.", command=line.text)]


def with_real_paths(report: Report, text: str) -> str:
    """A text with the real paths in the commands to convert that it has: as they are typed in OUT, or where `scan` was run."""
    source = shlex.quote(report.paths.source) if report.paths.source else "SRC"
    if report.command == "scan":
        return text.replace(_CONVERT, f"tf2npu convert {source} {_OUT}")
    return text.replace(_CONVERT, f"tf2npu convert {source} .") if report.paths.source else text
