"""What is left to do as decisions: findings about which one sentence says the same, and which one answer settles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tf2npu.findings import Finding, Level, Status
from tf2npu.report.model import WORK_LEVELS, FileReport, Report
from tf2npu.report.places import n_places, without_places
from tf2npu.report.rule_facts import RuleFacts, RuleTexts

FAILED = "failed"
"""The label of what stands in a file that failed; the others are the levels of work, worst first."""
LABELS = (FAILED, *(level.value for level in WORK_LEVELS))


@dataclass
class Decision:
    """One sentence and every finding that says it, by file and place.

    label: "failed", "unsupported" or "manual".  message: without the places that it names.
    """

    label: str
    facts: RuleFacts
    message: str
    sites: list[tuple[FileReport, Finding]] = field(default_factory=list)

    @property
    def n_places(self) -> int:
        return n_places(finding for _, finding in self.sites)

    @property
    def n_files(self) -> int:
        return len({file.path for file, _ in self.sites})


def decisions(report: Report, rules: RuleTexts) -> list[Decision]:
    """What the baseline does not hold, worst first, then what settles most places."""
    found: dict[tuple[str, RuleFacts, str], Decision] = {}
    for file in report.files:
        for finding in file.new_findings():
            if label := label_of_work(file, finding):
                key = label, rules.of(finding), without_places(finding.message)
                found.setdefault(key, Decision(*key)).sites.append((file, finding))
    return sorted(found.values(), key=lambda d: (LABELS.index(d.label), -d.n_places, d.facts.id, d.message, d.facts.why))


def label_of_work(file: FileReport, finding: Finding) -> str:
    """Under what a finding stands in a list of work; "" for one that needs nobody."""
    if file.status is Status.FAILED and finding.level not in (Level.FIXED, Level.INFO):
        return FAILED
    return finding.level.value if finding.level in WORK_LEVELS else ""


def n_findings(found: Sequence[Decision]) -> int:
    return sum(len(decision.sites) for decision in found)
