"""The verdict on a project, out of a closed list: the first thing that a reader wants to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tf2npu.report.languages.language import counted
from tf2npu.report.model.report import Report
from tf2npu.report.work.costs import is_blocking
from tf2npu.report.work.decisions import Decision
from tf2npu.report.work.smoke_runs import seen_to_train

READY, AFTER, BLOCKED, NO_PROJECT = "ready", "after decisions", "blocked", "not TensorFlow 1"
VERDICTS = (READY, AFTER, BLOCKED, NO_PROJECT)
"""The closed list."""
_MOST_NAMED = 2
"""The most blockers that the sentence names: the page of decisions has all."""


@dataclass(frozen=True)
class Verdict:
    """kind: one of VERDICTS.  sentence: it in words, in English.  blockers: ids of the rules that stand in the way."""

    kind: str
    sentence: str
    blockers: tuple[str, ...] = ()


def is_blocker(decision: Decision) -> bool:
    """Whether there is no way to the NPU before a decision about the whole project is made."""
    finding = decision.sites[0][1]
    return is_blocking(finding.rule, finding.part, decision.label)


def verdict(report: Report, left: Sequence[Decision]) -> Verdict:
    """The verdict; left: the report's decisions."""
    if not report.apis and not left:
        return Verdict(NO_PROJECT, "Nothing to convert: no file refers to TensorFlow or PyTorch.")
    blockers = [d for d in left if is_blocker(d)]
    seen = seen_to_train(report.runs)
    if blockers:
        return Verdict(BLOCKED, f"Blocked by {_named(blockers)}.", tuple(dict.fromkeys(d.facts.id for d in blockers)))
    if left:
        return Verdict(AFTER, _together(f"Ready after {counted(len(left), 'decision')}.", seen))
    return Verdict(READY, _together("Ready to run.", seen))


def _together(sentence: str, seen: str) -> str:
    """The verdict, and what smoke runs have shown."""
    return f"{sentence} {seen}" if seen else sentence


def _named(blockers: Sequence[Decision]) -> str:
    titles = list(dict.fromkeys(decision.facts.title or decision.facts.id for decision in blockers))
    more = f" and {len(titles) - _MOST_NAMED} more" if len(titles) > _MOST_NAMED else ""
    return ", ".join(titles[:_MOST_NAMED]) + more
