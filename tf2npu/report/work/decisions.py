"""Work that is left, as decisions: findings about which one sentence says the same, and which one answer settles."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tf2npu.findings import Answer, Finding, Level, Status
from tf2npu.report.model.counts import n_places, without_count, without_places
from tf2npu.report.model.report import FileReport, Report
from tf2npu.report.model.rule_facts import RuleFacts, RuleTexts, part_with_these_reasons
from tf2npu.report.work.costs import is_blocking
from tf2npu.report.work.entry_scripts import scripts_reaching
from tf2npu.report.work.labels import FAILED, LABELS, label_of_choice, label_of_work

_ID_LETTERS = 16
"""Hex digits of a decision's id: 64 bits, so that two of a million decisions are alike once in 40 million reports."""
_NAMES_LINES = "NPU970"
"""The rule whose sentences have, behind each API, the lines where it stands."""
_LINES_OF_APIS = re.compile(r"(?<=\w) \(\d+(?:, \d+)*(?:, \.\.\.)?\)")
_LINE = re.compile(r"(?<=\bline )\d+(?:, \d+)*")  # of another place, which moves without the sentence meaning anything else
_IN_ORDER = (*LABELS, Level.INFO.value)
_MOST_NAMED = 5
"""The most people that a line names: the page of decisions has all."""
_UNSAFE = "--unsafe-fixes"
"""Option that a message names where a fix may change values or shapes."""


@dataclass
class Decision:
    """One sentence and every finding that says it, by file and place.

    id: the same in every language and whatever else the project holds.  label: "failed", "unsupported" or "manual".
    message: without the places that it names.  sites: the file, the finding, and its number in the file, from 1.
    scripts: entry scripts that need a file of it; of the file that most need.
    """

    id: str
    label: str
    facts: RuleFacts
    message: str
    is_unsafe: bool = False
    sites: list[tuple[FileReport, Finding]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    scripts: int = 0

    @property
    def n_places(self) -> int:
        return n_places(finding for _, finding in self.sites)

    @property
    def n_files(self) -> int:
        return len({file.path for file, _ in self.sites})


@dataclass
class Decided:
    """Findings that one person settled with one answer, and the sentence that they share."""

    answer: Answer
    facts: RuleFacts
    message: str
    sites: list[tuple[FileReport, Finding]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)

    @property
    def n_places(self) -> int:
        return n_places(finding for _, finding in self.sites)


def decisions(report: Report, rules: RuleTexts) -> list[Decision]:
    """The decisions about work that the baseline does not hold, in the order in which every format tells them.

    Files that failed come first, then what blocks the whole project, then the worse level, then what more entry scripts need,
    then what settles more places.
    """
    return _decisions(report, rules, label_of_work)


def optional(report: Report, rules: RuleTexts) -> list[Decision]:
    """Unsafe fixes that the converter offers where nothing has to be done: they are nobody's work, and may be chosen."""
    return _decisions(report, rules, lambda file, finding: "" if label_of_work(file, finding) else label_of_choice(file, finding))


def _decisions(report: Report, rules: RuleTexts, label_of: Callable[[FileReport, Finding], str]) -> list[Decision]:
    found: dict[tuple[str, str], Decision] = {}
    for file, finding, english, number in report.with_english():
        if number - 1 not in file.known and (label := label_of(file, finding)):
            key = label, decision_id(label, english)
            one = found.get(key)
            if one is None:
                is_unsafe = english.unsafe or _UNSAFE in english.message
                one = found[key] = Decision(key[1], label, rules.of(finding), sentence(finding), is_unsafe)
            one.sites.append((file, finding))
            one.numbers.append(number)
    reach = scripts_reaching(report) if found else {}
    for one in found.values():
        one.scripts = max(reach.get(file.path, 0) for file, _ in one.sites)
    return sorted(found.values(), key=_order)


def _order(one: Decision) -> tuple[object, ...]:
    finding = one.sites[0][1]
    is_last = one.label != FAILED, not is_blocking(finding.rule, finding.part, one.label)
    return *is_last, _IN_ORDER.index(one.label), -one.scripts, -one.n_places, one.facts.id, one.message, one.facts.why


def decided(report: Report, rules: RuleTexts) -> list[Decided]:
    """The decisions that people have made, by rule and sentence, with who made them and what for."""
    found: dict[Answer, Decided] = {}
    for file in report.files:
        for number, finding in enumerate(file.findings, 1):
            if finding.answer is not None:
                one = found.setdefault(finding.answer, Decided(finding.answer, rules.of(finding), sentence(finding)))
                one.sites.append((file, finding))
                one.numbers.append(number)
    return sorted(found.values(), key=lambda d: (d.facts.id, d.message, d.answer.choice, d.answer.who, d.answer.note))


def decision_id(label: str, finding: Finding) -> str:
    """The id of a finding's decision: that of its answer, else a digest of rule, reasons and sentence.

    Findings that one answer settles share it. The message has to be the English one.
    """
    if finding.answer is not None:
        return finding.answer.decision
    said = _LINE.sub("", sentence(finding))
    parts = FAILED if label == FAILED else "", finding.rule, part_with_these_reasons(finding.rule, finding.part), said
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:_ID_LETTERS]


def sentence(finding: Finding) -> str:
    """The message of a finding, without the lines of its file that it names behind APIs or at the end, and without a count."""
    said = without_count(without_places(finding.message))
    return _LINES_OF_APIS.sub("", said) if finding.rule == _NAMES_LINES else said


def who_decided(report: Report) -> str:
    """The number of places that people have decided about, and who did; "" where nobody has."""
    places: Counter[str] = Counter()
    for _, finding in report.findings():
        if finding.answer is not None:
            places[finding.answer.who] += n_places([finding])
    if not places:
        return ""
    total = "1 place decided" if places.total() == 1 else f"{places.total()} places decided"
    in_order = sorted(places.items(), key=lambda one: (-one[1], one[0]))
    named = [f"{number} by {who or 'somebody without a name'}" for who, number in in_order]
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    return f"{total}: {', '.join(named[:_MOST_NAMED])}{more}"


def report_id(report: Report) -> str:
    """An id that tells a project's report from another's: a digest of the paths of its files but for those only copied."""
    paths = "\0".join(file.path for file in report.files if file.status is not Status.COPIED)
    return hashlib.sha256(paths.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_LETTERS]


def n_findings(found: Sequence[Decision]) -> int:
    return sum(len(decision.sites) for decision in found)
