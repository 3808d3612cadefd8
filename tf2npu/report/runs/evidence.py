"""The evidence of runs on findings: confirmed, contradicted, not reached, or nothing where a run can say nothing.

A run on the simulated device is asked what it can show: where nodes ran, which shapes inputs had, where sessions ran and were
closed, where the script ended. What a rule claims, of these, stands in claims.csv. A finding whose rule claims nothing that a
run shows is at most told to be not reached.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path

from tf2npu.findings import Finding, Level
from tf2npu.report.languages.language import Catalogue, counted
from tf2npu.report.model.report import FileReport, Report
from tf2npu.report.runs.line_evidence import Entry, RunLines, has_changed
from tf2npu.rules.engine.repeated_findings import other_places

_CLAIMS = Path(__file__).parents[1] / "claims.csv"
_LEAST_STEPS = 2
"""Steps from which on one shape is a sign that the shape stays: a single step has one in any case."""


class State(str, Enum):
    """The state of a finding, as runs show it."""

    CONFIRMED = "confirmed"
    CONTRADICTED = "contradicted"
    NOT_REACHED = "not reached"


@dataclass(frozen=True)
class Proof:
    """The proof of a run on a finding.  text: the evidence, in English.  line: of the original.  script: that was run."""

    state: State
    text: str
    line: int
    script: str


_Said = tuple[State, str]
_Ask = Callable[[RunLines, range, Finding], "_Said | None"]


class Proofs:
    """The proofs of a report, by runs that ran its files as they are now."""

    def __init__(self, report: Report) -> None:
        self._runs = report.runs
        self._lines: dict[str, list[RunLines]] = {}
        is_translated = report.runs and report.english is not None
        self._english = {id(told): said for _, told, said, _ in report.with_english()} if is_translated else {}

    def of(self, file: FileReport, finding: Finding) -> Proof | None:
        """The proof of a finding: what a run shows counts more than that another one did not come there."""
        finding = self._english.get(id(finding), finding)  # whose message names its other places
        found = [proof for lines in self._lines_of(file) for proof in _proofs(lines, file, finding)]
        states = [State.CONFIRMED, State.CONTRADICTED]
        shown = min((p for p in found if p.state in states), key=lambda p: states.index(p.state), default=None)
        if shown is not None or len(found) < len(self._lines_of(file)):
            return shown
        return found[0] if found else None

    def _lines_of(self, file: FileReport) -> list[RunLines]:
        if file.path not in self._lines:
            runs = (run for run in self._runs if file.path in run.get("files", {}))
            fresh = [run for run in runs if not has_changed(run, file.path)]
            self._lines[file.path] = [RunLines(run, file.path) for run in fresh]
        return self._lines[file.path]


def in_words(proof: Proof | None, texts: Catalogue) -> str:
    """State, evidence and script on one line, for formats of text; "" where no run says anything."""
    if proof is None:
        return ""
    return f"{texts.word(proof.state.value)}: {texts.text(proof.text)} ({texts.text('Run:')} {proof.script})"


def _proofs(lines: RunLines, file: FileReport, finding: Finding) -> Iterator[Proof]:
    """The proof of one run, at most one: evidence at any of the finding's places, else that none was reached."""
    if finding.cell is not None:
        return
    places = [range(finding.span.line, finding.span.end_line + 1)]
    places += [range(line, line + 1) for _, line in other_places(finding.message)[1]]
    script = lines.run["script"]
    said = [(place, answer) for place in places if (answer := _answer(lines, place, file, finding)) is not None]
    best = min(said, key=lambda one: one[1][0] is not State.CONFIRMED, default=None)
    if best is not None:
        yield Proof(best[1][0], best[1][1], best[0].start, script)
    elif all(lines.was_reached(place.start) is False for place in places):
        yield Proof(State.NOT_REACHED, "This line was not reached.", places[0].start, script)


def _answer(lines: RunLines, place: range, file: FileReport, finding: Finding) -> _Said | None:
    failure = lines.run.get("failure") or {}
    failed = failure.get("finding")
    if failed is not None and (failed["rule"], failed["path"], failed["line"]) == (finding.rule, file.path, place.start):
        return State.CONFIRMED, f"The run ended here with {failure['type']}: {failure['message']}"
    ask = _ASKED.get(_claims().get(finding.rule, ""))
    if ask is None or lines.was_reached(place.start) is False:
        return None
    return ask(lines, place, finding)


def _host(lines: RunLines, place: range, finding: Finding) -> _Said | None:
    on_host, n_on_device = lines.on_host(place), lines.n_on_device(place)
    if on_host:
        first, count = on_host[0], sum(entry["count"] for entry in on_host)
        nodes = counted(count, "node")
        return State.CONFIRMED, f"On the host ran {nodes} of this line, such as {first['example']}: {first['reason']}"
    if n_on_device:
        return State.CONTRADICTED, f"On the device ran {counted(n_on_device, 'node')} of this line, and none on the host."
    return None


def _seen(lines: RunLines, place: range, finding: Finding) -> _Said | None:
    """A finding that was made of what a run has shown: other runs may show it, too, and never the opposite."""
    told = [entry for entry in lines.seen(place) if _tells_of(entry, finding.message)]
    times = counted(sum(entry["count"] for entry in told), "time")
    return (State.CONFIRMED, f"The run has seen this {times}.") if told else None


def _tells_of(entry: Entry, message: str) -> bool:
    return message.startswith(entry["message"]) if "message" in entry else f"({entry['direction']})" in message


def _shapes(lines: RunLines, place: range, finding: Finding) -> _Said | None:
    """A finding says that shapes change, or, of what was fixed, that they do so no more."""
    inputs = lines.inputs(place)
    most = max(inputs, key=lambda entry: (entry["count"], entry["steps"]), default=None)
    if most is None:
        return None
    if most["count"] > 1:
        state = State.CONTRADICTED if finding.level is Level.FIXED else State.CONFIRMED
        return state, f"{most['input']} had {most['count']} shapes in {counted(most['steps'], 'step')}: {_shown(most)}"
    if most["steps"] < _LEAST_STEPS:
        return None
    state = State.CONFIRMED if finding.level is Level.FIXED else State.CONTRADICTED
    return state, f"{most['input']} had one shape in {counted(most['steps'], 'step')}: {_shown(most)}"


def _shown(entry: Entry) -> str:
    left = entry["count"] - len(entry["shapes"])
    return ", ".join(entry["shapes"]) + (f" and {left} more" if left > 0 else "")


def _session(lines: RunLines, place: range, finding: Finding) -> _Said | None:
    """Evidence on a session that was to run on the device, for a finding that was fixed."""
    ran_on = {entry["ran_on"] for entry in lines.sessions(place)}
    if not ran_on or finding.level is not Level.FIXED:
        return None
    return (State.CONTRADICTED, _ON_TENSORFLOW) if "TensorFlow" in ran_on else (State.CONFIRMED, _ON_DEVICE)


def _switched_off(lines: RunLines, place: range, finding: Finding) -> _Said | None:
    ran_on = {entry["ran_on"] for entry in lines.sessions(place)}
    return (State.CONFIRMED, _ON_TENSORFLOW) if "TensorFlow" in ran_on else None


def _open(lines: RunLines, place: range, finding: Finding) -> _Said | None:
    sessions = lines.sessions(place)
    if not sessions or finding.level is Level.FIXED:
        return None
    is_open = any(entry["is_left_open"] for entry in sessions)
    return (State.CONFIRMED, _LEFT_OPEN) if is_open else (State.CONTRADICTED, _CLOSED)


def _end(lines: RunLines, place: range, finding: Finding) -> _Said | None:
    """A finding says that a run ends here.  One that ended here was told of before."""
    went_on = lines.was_reached(place.start) and not lines.run.get("failure")
    return (State.CONTRADICTED, "This line was reached, and the run did not end here.") if went_on else None


_ON_DEVICE = "The session that is made here ran on the device."
_ON_TENSORFLOW = "The session that is made here ran on TensorFlow, as its config names no NpuOptimizer."
_LEFT_OPEN = "The session that is made here was still open when the script ended."
_CLOSED = "The session that is made here was closed before the script ended."
_ASKED: dict[str, _Ask] = {
    "host": _host, "shapes": _shapes, "session": _session, "switched off": _switched_off, "open": _open, "end": _end,
    "seen": _seen,
}  # fmt: skip


@lru_cache(maxsize=1)
def _claims() -> dict[str, str]:
    """The claim of each rule, by its id, of those that a run can show."""
    with _CLAIMS.open(encoding="utf-8", newline="") as stream:
        return {row["rule"]: row["claim"] for row in csv.DictReader(stream)}
