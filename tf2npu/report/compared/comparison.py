"""The comparison of the work in two reports, finding by finding through the fingerprints of SARIF and baselines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from tf2npu.findings import Finding, Level
from tf2npu.report.model.baseline import fingerprints
from tf2npu.report.model.counts import n_places, without_places
from tf2npu.report.model.report import FileReport, Report
from tf2npu.report.model.rule_facts import RuleFacts, RuleTexts
from tf2npu.report.work.labels import LABELS, label_of_work

BY_TOOL, ACCEPTED, FILE_GONE, NO_WORK, GONE = "fixed", "accepted", "file_gone", "no_work", "gone"
REASONS = {
    BY_TOOL: "the converter changes it now",
    ACCEPTED: "the baseline holds it now",
    FILE_GONE: "the later report has no such file",
    NO_WORK: "it needs nobody any more",
    GONE: "it is not in the source any more",
}
"""Reasons of a closed finding: the word of the JSON, and its text for people. The first that fits is given."""


@dataclass(frozen=True)
class Work:
    """A finding that needs a person.

    label: under what it stands in a list of work.  key: its fingerprint.  facts: on its rule, in the report's language.
    """

    label: str
    file: FileReport
    finding: Finding
    key: str
    facts: RuleFacts


@dataclass(frozen=True)
class Closed:
    """Work of the earlier report that the later one has no more.  reason: one of REASONS."""

    work: Work
    reason: str


@dataclass(frozen=True)
class Moved:
    """The same work at another line, or in a file of another name."""

    before: Work
    after: Work


@dataclass(frozen=True)
class Comparison:
    """Each list by file and place.  n_stayed: findings that are as and where they were."""

    before: Report
    after: Report
    new: list[Work]
    closed: list[Closed]
    moved: list[Moved]
    n_stayed: int

    @property
    def n_left(self) -> int:
        """Findings of work that the later report has."""
        return self.n_stayed + len(self.moved) + len(self.new)


@dataclass
class Group:
    """Work that one sentence speaks of.  sites: by file and place."""

    label: str
    facts: RuleFacts
    message: str
    sites: list[Work] = field(default_factory=list)

    @property
    def n_places(self) -> int:
        return n_places(work.finding for work in self.sites)


def compare(before: Report, after: Report) -> Comparison:
    """The comparison of the work of two reports, whose language has to be the same."""
    old, new = _work(before), _work(after)
    accepted, was_accepted = _known(after), _known(before)
    fresh = [work for key, work in new.items() if key not in old and key not in was_accepted]
    lost = [work for key, work in old.items() if key not in new]
    renamed = _renamed(before, after, lost, fresh)
    moved = [Moved(work, new[key]) for key, work in old.items() if key in new and _place(work) != _place(new[key])]
    gone, come = {pair.before.key for pair in renamed}, {pair.after.key for pair in renamed}
    reasons = _Reasons(after, accepted)
    return Comparison(
        before,
        after,
        [work for work in fresh if work.key not in come],
        [Closed(work, reasons.of(work)) for work in lost if work.key not in gone],
        sorted([*moved, *renamed], key=lambda pair: (pair.after.file.path, pair.after.finding.span)),
        sum(1 for key in new if key in old or key in was_accepted) - len(moved),
    )


def grouped(found: Iterable[Work]) -> list[Group]:
    """The work by what is said of it, worst first, then what has most places."""
    groups: dict[tuple[str, RuleFacts, str], Group] = {}
    for work in found:
        key = work.label, work.facts, without_places(work.finding.message)
        groups.setdefault(key, Group(*key)).sites.append(work)
    return sorted(groups.values(), key=lambda g: (LABELS.index(g.label), -g.n_places, g.facts.id, g.message, g.facts.why))


class _Reasons:
    """The reasons that work is not in the later report any more."""

    def __init__(self, after: Report, accepted: set[str]) -> None:
        self._accepted = accepted
        self._files = {file.path: file for file in after.files}
        self._levels: dict[str, dict[str, Level]] = {}

    def of(self, work: Work) -> str:
        file = self._files.get(work.file.path)
        if work.key in self._accepted:
            return ACCEPTED
        if file is None:
            return FILE_GONE
        if file.path not in self._levels:
            levels = (finding.level for finding in file.findings)
            self._levels[file.path] = dict(zip(fingerprints(file), levels, strict=True))
        level = self._levels[file.path].get(work.key)
        return GONE if level is None else BY_TOOL if level is Level.FIXED else NO_WORK


def _work(report: Report) -> dict[str, Work]:
    """The work that no baseline holds, by fingerprint, in the order of the report."""
    rules, found = RuleTexts(report), {}
    for file in report.files:
        for number, (finding, key) in enumerate(zip(file.findings, fingerprints(file), strict=True)):
            if number not in file.known and (label := label_of_work(file, finding)):
                found[key] = Work(label, file, finding, key, rules.of(finding))
    return found


def _known(report: Report) -> set[str]:
    """Fingerprints of what the report's baseline holds."""
    return {key for file in report.files if file.known for n, key in enumerate(fingerprints(file)) if n in file.known}


def _place(work: Work) -> tuple[int | None, int]:
    return work.finding.cell, work.finding.span.line


def _renamed(before: Report, after: Report, lost: Sequence[Work], fresh: Sequence[Work]) -> list[Moved]:
    """Work of files that are gone, and the same in files that were not there.

    A file counts as renamed when one new file has at least half of its work; of several the one that has most.
    """
    had, has = {file.path for file in before.files}, {file.path for file in after.files}
    left = _by_file(work for work in lost if work.file.path not in has)
    come = _by_file(work for work in fresh if work.file.path not in had)
    pairs: list[Moved] = []
    for contents in left.values():
        path = max(come, key=lambda path: (_n_shared(contents, come[path]), path), default="")
        if path and 2 * _n_shared(contents, come[path]) >= len(contents):
            pairs += [Moved(work, come[path][key]) for key, work in contents.items() if key in come[path]]
            del come[path]
    return pairs


def _n_shared(one: dict[str, Work], other: dict[str, Work]) -> int:
    return len(one.keys() & other.keys())


def _by_file(found: Iterable[Work]) -> dict[str, dict[str, Work]]:
    """The work of each file by what a fingerprint is without the file's name."""
    files: dict[str, dict[str, Work]] = {}
    nameless: dict[int, dict[str, str]] = {}
    for work in found:
        file = work.file
        if id(file) not in nameless:
            nameless[id(file)] = dict(zip(fingerprints(file), fingerprints(replace(file, path="")), strict=True))
        files.setdefault(file.path, {})[nameless[id(file)][work.key]] = work
    return files


def by_reason(closed: Iterable[Closed]) -> dict[str, int]:
    """The number of findings that were closed for each reason, in the order of REASONS; without reasons that closed none."""
    counts = Counter(each.reason for each in closed)
    return {reason: counts[reason] for reason in REASONS if counts[reason]}
