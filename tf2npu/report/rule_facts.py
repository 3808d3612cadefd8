"""What a report says about a rule: its title and why it exists, for rules and for notes on whole files alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tf2npu.file_findings import FILE_FINDINGS
from tf2npu.report.language import catalogue
from tf2npu.report.model import Report
from tf2npu.rules import all_rules


@dataclass(frozen=True)
class RuleFacts:
    id: str
    title: str = ""
    why: str = ""


def describe(ids: Iterable[str]) -> dict[str, RuleFacts]:
    """Facts by rule id, sorted; a rule that this version does not know has an id only."""
    known = {rule.id: RuleFacts(rule.id, rule.title, rule.why) for rule in all_rules()}
    known |= {note.id: RuleFacts(note.id, note.title, note.why) for note in FILE_FINDINGS}
    return {rule_id: known.get(rule_id, RuleFacts(rule_id)) for rule_id in sorted(set(ids))}


def rules_of(report: Report) -> dict[str, RuleFacts]:
    """Facts on each rule that the report mentions, in the report's language."""
    texts = catalogue(report.language)
    facts = describe(finding.rule for _, finding in report.findings())
    return {rule_id: RuleFacts(rule_id, texts.text(rule.title), texts.text(rule.why)) for rule_id, rule in facts.items()}
