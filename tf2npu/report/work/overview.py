"""The outlook that a person reads first: a verdict, the decisions that are left, and the next steps."""

from __future__ import annotations

from dataclasses import dataclass

from tf2npu.report.model.counts import counted_findings
from tf2npu.report.model.report import Report
from tf2npu.report.model.rule_facts import RuleTexts
from tf2npu.report.work.decisions import Decision, decisions
from tf2npu.report.work.entry_scripts import entries
from tf2npu.report.work.next_steps import next_steps
from tf2npu.report.work.verdict import verdict

MOST_STEPS = 3
"""Steps that a terminal shows: more are a plan, which the report has."""


@dataclass(frozen=True)
class Step:
    """A thing to do.  sentence: in English.  command: as it is typed, "" where there is none."""

    sentence: str
    command: str = ""


@dataclass(frozen=True)
class Outlook:
    """verdict: one sentence in English.  left: the decisions."""

    verdict: str
    left: list[Decision]
    steps: list[Step]


def outlook(report: Report) -> Outlook:
    """The outlook on a report; its decisions are in the report's language."""
    left = decisions(report, RuleTexts(report))
    ordered = next_steps(report, left, entries(report))
    steps = [Step(step.what, step.command) if step.decision is None else _step(step.decision) for step in ordered]
    return Outlook(verdict(report, left).sentence, left, [*steps[: MOST_STEPS - 1], *steps[-1:]][:MOST_STEPS])


def _step(decision: Decision) -> Step:
    title = decision.facts.title or decision.facts.id
    settled = counted_findings(len(decision.sites), decision.n_places)
    return Step(f"Decide about {title}: {settled}.", f"tf2npu rules {decision.facts.id}")
