"""What a person has to know first: a verdict, what there is to decide, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

from tf2npu.report.decisions import Decision, decisions
from tf2npu.report.model import Report
from tf2npu.report.places import counted_findings
from tf2npu.report.rule_facts import RuleTexts

MOST_STEPS = 3
"""Steps that a terminal shows: more are a plan, which the report has."""


@dataclass(frozen=True)
class Step:
    """A thing to do.  sentence: in English.  command: as it is typed, "" where there is none."""

    sentence: str
    command: str = ""


@dataclass(frozen=True)
class Outlook:
    """verdict: one sentence in English.  left: the decisions.  minutes: estimate for each of them, empty where none is made."""

    verdict: str
    left: list[Decision]
    minutes: list[float]
    steps: list[Step]


def outlook(report: Report) -> Outlook:
    """The outlook on a report; its decisions are in the report's language."""
    left = decisions(report, RuleTexts(report))
    return Outlook(_verdict(left), left, [], [_step(decision) for decision in left[:MOST_STEPS]])


def _verdict(left: list[Decision]) -> str:
    if not left:
        return "Ready to run."
    return f"Ready after {len(left)} decisions." if len(left) > 1 else "Ready after 1 decision."


def _step(decision: Decision) -> Step:
    title = decision.facts.title or decision.facts.id
    settled = counted_findings(len(decision.sites), decision.n_places)
    return Step(f"Decide about {title}: {settled}.", f"tf2npu rules {decision.facts.id}")
