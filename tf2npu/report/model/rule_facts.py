"""Facts about a rule: its title, why it exists, and how to tell that it is done, for rules and for notes on whole files alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from tf2npu.file_findings import FILE_FINDINGS
from tf2npu.findings import Finding
from tf2npu.report.languages.language import catalogue
from tf2npu.report.model.report import Report
from tf2npu.rules import rule_parts


@dataclass(frozen=True)
class RuleFacts:
    """Facts on one part of a rule: parts share the title and have reasons, and ways to tell that it is done, of their own."""

    id: str
    title: str = ""
    why: str = ""
    done_when: str = ""

    @property
    def anchor(self) -> str:
        """The anchor on the page of rules; empty for a rule that this version does not know: there is nothing to say."""
        return f"rule-{self.id}" if self.title else ""


class RuleTexts:
    """Facts on each rule that a report mentions, in the report's language.  more: ids of rules beside those of its findings."""

    def __init__(self, report: Report, more: Iterable[str] = ()) -> None:
        texts = catalogue(report.language)
        self._by_part: dict[tuple[str, str], RuleFacts] = {}
        for key in sorted({(f.rule, f.part) for _, f in report.findings()} | {(rule_id, "") for rule_id in more}):
            facts = _facts(*key)
            self._by_part[key] = RuleFacts(facts.id, *(texts.text(said) for said in (facts.title, facts.why, facts.done_when)))

    def __iter__(self) -> Iterator[tuple[RuleFacts, list[str]]]:
        """Each rule once, by id, with the reasons of those of its parts that found something."""
        reasons: dict[str, tuple[RuleFacts, list[str]]] = {}
        for facts in self._by_part.values():
            whys = reasons.setdefault(facts.id, (facts, []))[1]
            if facts.why and facts.why not in whys:
                whys.append(facts.why)
        return iter(reasons.values())

    def of(self, finding: Finding) -> RuleFacts:
        """Facts on the part that made a finding; no reason where a report does not say which of several it was."""
        return self._by_part[finding.rule, finding.part]

    def title(self, rule_id: str) -> str:
        """The title of a rule that the report mentions; its id where this version does not know it."""
        return next((facts.title for facts in self._by_part.values() if facts.id == rule_id and facts.title), rule_id)

    def anchor(self, rule_id: str) -> str:
        """The anchor of a rule on the page of rules; "" for one that the report does not mention."""
        return next((facts.anchor for facts in self._by_part.values() if facts.id == rule_id), "")


class RuleIds(RuleTexts):
    """Rules by their ids only, for what tells no texts of them: these cost the loading of all rules."""

    def __init__(self) -> None:
        self._by_part = {}

    def of(self, finding: Finding) -> RuleFacts:
        return RuleFacts(finding.rule)


@lru_cache(maxsize=256)
def part_with_these_reasons(rule_id: str, part: str) -> str:
    """The part of a rule declared first that is explained with the same words; the part itself where nobody knows it."""
    own = _known().get(rule_id, [])
    facts = next((facts for name, facts in own if name == part), None)
    return next((name for name, other in own if other == facts), part)


def _facts(rule_id: str, part: str) -> RuleFacts:
    """Facts on a part; of a rule that this version does not know the id only."""
    known = _known()
    if not (own := known.get(rule_id)):
        return RuleFacts(rule_id)
    found = next((facts for name, facts in own if name == part), None)
    said = ({facts.why for _, facts in own}, {facts.done_when for _, facts in own})
    return found or RuleFacts(rule_id, own[0][1].title, *(texts.pop() if len(texts) == 1 else "" for texts in said))


@lru_cache(maxsize=1)
def _known() -> dict[str, list[tuple[str, RuleFacts]]]:
    """The parts of each rule, by id, with their names."""
    known: dict[str, list[tuple[str, RuleFacts]]] = {}
    for part in rule_parts():
        known.setdefault(part.id, []).append((part.name, RuleFacts(part.id, part.title, part.why, part.done_when)))
    return known | {note.id: [("", RuleFacts(note.id, note.title, note.why, note.done_when))] for note in FILE_FINDINGS}
