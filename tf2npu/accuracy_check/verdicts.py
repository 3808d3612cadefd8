"""Verdicts on the runs of a check: those that agree, the one that decides on a mode, if a cause can be named, the exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from npu_formats.documents.check_record import Cause, Record, Run

Verdict = Literal["agrees", "differs", "failed", "not run"]
ExitCode = Literal[0, 1, 3]
AGREES: Final = "agrees"
DIFFERS: Final = "differs"
FAILED: Final = "failed"
NOT_RUN: Final = "not run"
GRAPH_TYPES = "must_keep_origin_dtype"
"""The mode of runs in the types of the graph."""
RANDOMNESS: Final = "randomness"
EXIT_AGREES: Final = 0
EXIT_DIFFERS: Final = 1
EXIT_FAILED: Final = 3
"""Exit codes: all agrees; something differs; a run failed or was not made, or the record cannot be read. 2 is wrong use."""


@dataclass(frozen=True)
class Mode:
    """The runs of a precision mode, and the one that decides: the first that does not agree, else the last."""

    name: str
    runs: list[Run]
    decides: Run
    verdict: Verdict


def verdict_of(run: Run) -> Verdict:
    """Whether a run agrees, differs or failed."""
    if run.failure is not None:
        return FAILED
    return AGREES if run.agrees or run.run == "A" else DIFFERS


def modes(record: Record) -> list[Mode]:
    """The graph's types first, then each mode that was asked for, in the order of their first runs."""
    names = dict.fromkeys(run.mode for run in record.runs if run.run in ("E", "F"))
    return [_graph_types(record), *(_asked(record, name) for name in names if name != GRAPH_TYPES)]


def _graph_types(record: Record) -> Mode:
    """Runs B, C and D; runs A and A' decide where they failed or differ, as nothing can be said without them."""
    asked = [run for run in record.runs if run.run in ("E", "F") and run.mode == GRAPH_TYPES]
    runs = [run for run in record.runs if run.run in ("B", "C", "D")] + asked
    wrong = [run for run in record.runs if run.run in ("A", "A'") and verdict_of(run) != AGREES]
    if not wrong and not runs:
        return Mode(GRAPH_TYPES, [], record.runs[0], NOT_RUN)
    return _decided(GRAPH_TYPES, [*wrong, *runs])


def _asked(record: Record, name: str) -> Mode:
    return _decided(name, [run for run in record.runs if run.run in ("E", "F") and run.mode == name])


def _decided(name: str, runs: list[Run]) -> Mode:
    decides = next((run for run in runs if verdict_of(run) != AGREES), runs[-1])
    return Mode(name, runs, decides, verdict_of(decides))


def names_causes(record: Record) -> bool:
    """Whether a difference can have one cause: not where the original is not the same each time."""
    again = [run for run in record.runs if run.run == "A'"]
    return not record.randomness and all(verdict_of(run) != DIFFERS for run in again)


def cause_of(record: Record, run: Run) -> Cause:
    """The cause of a run's difference; "" where it does not differ, or nothing is known."""
    if verdict_of(run) != DIFFERS:
        return ""
    return run.cause if names_causes(record) else RANDOMNESS


def exit_code(record: Record) -> ExitCode:
    """A failed run wins over one that differs; a check that was stopped before it found a difference has not shown agreement."""
    verdicts = [verdict_of(run) for run in record.runs] + [mode.verdict for mode in modes(record)]
    if FAILED in verdicts:
        return EXIT_FAILED
    if DIFFERS in verdicts:
        return EXIT_DIFFERS
    return EXIT_AGREES if record.is_complete and NOT_RUN not in verdicts else EXIT_FAILED
