"""The next steps: at most five, those first that hold up most."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from tf2npu.report.model.report import Report
from tf2npu.report.work.decisions import FAILED, Decision
from tf2npu.report.work.effort import cost_of_decision, minutes_of
from tf2npu.report.work.entry_scripts import Entry, commands, is_ordinary, scripts_reaching
from tf2npu.scanner.notebooks.notebook_path import is_notebook

_OUT = "out"
"""The folder that is proposed for what a conversion writes, as in README.md. One that is not tf2npu's is refused, not changed."""
MOST_STEPS = 5
"""The most steps that are told: what a person keeps in mind."""


@dataclass(frozen=True)
class Step:
    """Something to do.

    decision: what to decide, or None where something is to be run.  scripts: entry scripts that need a file of it.
    minutes: what it costs, in the middle of the range.  what, command: text and line to type of a step that runs something.
    """

    decision: Decision | None = None
    scripts: int = 0
    minutes: float = 0.0
    what: str = ""
    command: str = ""


def next_steps(report: Report, left: Sequence[Decision], entries: Sequence[Entry]) -> list[Step]:
    """The steps; the last one runs what can be run, so that something is proven."""
    running = _running(report, entries)
    reach = scripts_reaching(list(entries))
    steps = [
        Step(decision, max(reach.get(file.path, 0) for file, _ in decision.sites), minutes_of(decision, report.effort))
        for decision in left
    ]
    steps.sort(key=lambda step: _order(report, step))
    return [*steps[: MOST_STEPS - len(running)], *running]


def _order(report: Report, step: Step) -> tuple[bool, int, float]:
    """Blockers first, then what most entry scripts need, then what settles most places a minute."""
    decision = step.decision
    assert decision is not None
    is_blocker = decision.label == FAILED or cost_of_decision(decision, report.effort).kind == "blocked"
    return not is_blocker, -step.scripts, -decision.n_places / max(step.minutes, 1.0)


def _running(report: Report, entries: Sequence[Entry]) -> list[Step]:
    """One step that takes the script which is nearest to it a rung further."""
    if report.command == "scan":
        if not report.apis:
            return []
        source = shlex.quote(report.paths.source) if report.paths.source else "SRC"
        return [Step(what="Convert: nothing has been written yet.", command=f"tf2npu convert {source} {_OUT}")]
    ordinary = [e for e in entries if is_ordinary(e.script) and not is_notebook(e.script.path) and 0 < e.rung < 4]
    if not ordinary:
        return []
    entry = min(ordinary, key=lambda e: (e.open_places > 0, -e.rung))
    lines = commands(report, entry.script)
    compare = next((line for line in lines if line.text.startswith("tf2npu check")), None)
    line = compare if entry.rung == 3 and compare is not None else lines[1]
    return [Step(what=f"{line.what}.", command=line.text)]
