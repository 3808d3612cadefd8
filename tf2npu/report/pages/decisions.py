"""What is left to do by reason: failed files, then unsupported, then manual; the largest group first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tf2npu.report.decisions import LABELS, label_of_work
from tf2npu.report.file_page import are_many
from tf2npu.report.page import Page
from tf2npu.report.rule_facts import RuleFacts
from tf2npu.report.view import Site, View

_OPEN_GROUPS_UP_TO = 25
"""Rows up to which a group of findings is unfolded: what a screen or two hold."""
_MOST_ROWS = 50
"""Rows of a group: the list of findings has the rest."""


@dataclass
class Row:
    """What one message says about one or several places of a file."""

    first: Site
    more: list[Site] = field(default_factory=list)
    n_findings: int = 1
    n_places: int = 1


@dataclass
class Group:
    """What is left to do for one reason."""

    label: str  # failed, unsupported or manual
    facts: RuleFacts
    sites: list[Site] = field(default_factory=list)

    @property
    def rows(self) -> list[Row]:
        """The places; those of one file about which one sentence says the same many times share a row."""
        of_one: dict[tuple[str, str, str], list[Site]] = {}
        for site in self.sites:
            of_one.setdefault((site.href.partition("#")[0], site.api, site.message), []).append(site)
        rows = [[sites] if are_many(sites) and sites[0].href else [[site] for site in sites] for sites in of_one.values()]
        return [
            Row(
                sites[0],
                [*sites[1:], *(other for site in sites for other in site.others)],
                len(sites),
                sum(site.n_places for site in sites),
            )
            for shared in rows
            for sites in shared
        ]

    @property
    def shown(self) -> list[Row]:
        return self.rows[:_MOST_ROWS]

    @property
    def n_more(self) -> int:
        return max(0, len(self.rows) - _MOST_ROWS)

    @property
    def n_places(self) -> int:
        return sum(site.n_places for site in self.sites)

    @property
    def is_open(self) -> bool:
        return len(self.rows) <= _OPEN_GROUPS_UP_TO


def pages(view: View) -> Iterator[Page]:
    yield Page("decisions.html", "pages/decisions.html", lambda: {"groups": groups(view)})


def groups(view: View) -> list[Group]:
    found: dict[tuple[str, RuleFacts], Group] = {}
    for file in view.report.files:
        for number, finding in enumerate(file.findings, 1):
            label = "" if number - 1 in file.known else label_of_work(file, finding)
            if label:
                facts = view.rules.of(finding)
                group = found.setdefault((label, facts), Group(label, facts))
                group.sites.append(view.site(file, finding, number))
    return sorted(found.values(), key=lambda g: (LABELS.index(g.label), -len(g.sites), g.facts.id, g.facts.why))
