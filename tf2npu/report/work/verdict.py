"""The verdict on a project, out of a closed list: the first thing that a reader wants to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tf2npu.findings import Level
from tf2npu.report.languages.language import counted
from tf2npu.report.model.report import Report
from tf2npu.report.work.costs import is_blocking
from tf2npu.report.work.decisions import Decision
from tf2npu.report.work.smoke_runs import seen_to_train
from tf2npu.rules.engine.untaken_branches import condition_in

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
    conditions = _blocked_if(report)
    if left:
        return Verdict(AFTER, _together(f"Ready after {counted(len(left), 'decision')}.", conditions, seen))
    return Verdict(READY, _together("Ready to run.", conditions, seen))


def _together(*sentences: str) -> str:
    """The verdict, what would block a program that is started otherwise, and what smoke runs have shown."""
    return " ".join(sentence for sentence in sentences if sentence)


def _blocked_if(report: Report) -> str:
    """The sentence on options that are off by default, and with which a program comes to what has no way to the NPU."""
    conditions = {
        condition_in(said.message): None
        for _, finding, said, _ in report.with_english()
        if finding.level is Level.INFO and is_blocking(said.rule, said.part, said.level.value)
    }
    named = [condition for condition in conditions if condition]
    shown = ", or ".join(named[:_MOST_NAMED]) + _more(named)
    return f"Blocked only if {shown}." if named else ""


def _more(named: Sequence[str]) -> str:
    return f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""


def _named(blockers: Sequence[Decision]) -> str:
    titles = list(dict.fromkeys(decision.facts.title or decision.facts.id for decision in blockers))
    return ", ".join(titles[:_MOST_NAMED]) + _more(titles)
