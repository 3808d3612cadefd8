"""An estimate of the work left, as a range of person-hours: a decision costs its first place and, less, each further one."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tf2npu.config import EffortSettings
from tf2npu.findings import Level
from tf2npu.report.model.counts import n_places, without_places
from tf2npu.report.model.report import Report
from tf2npu.report.work.decisions import Decision

TABLE = Path(__file__).parents[1] / "effort.csv"
"""A row for each part of each rule, and for findings of rules that are not known, which have no rule and their level as part."""
CLASSES = ("look", "change", "rewrite", "blocked")
"""Classes of work at a place: to look and decide; to change a few lines; to write something else; and a place that has no way to
the NPU as it is, where the whole project needs a decision."""
_SHARE_OF_CLASS = {"look": "to decide", "change": "to write", "rewrite": "to write", "blocked": "blocked"}
SHARES = ("done by the tool", "to decide", "to write", "blocked")
"""Shares into which the hours are split."""


@dataclass(frozen=True)
class Cost:
    """A row of the table.  kind: one of CLASSES.  first, further: minutes.  source: where the figures come from."""

    kind: str
    first: float
    further: float
    source: str = ""

    def minutes(self, places: int) -> float:
        """Minutes that a decision about so many places costs."""
        return self.first + (places - 1) * self.further if places else 0.0


@dataclass(frozen=True)
class Share:
    """Decisions of one kind, the places that they settle, and their minutes."""

    decisions: int = 0
    places: int = 0
    minutes: float = 0.0

    def with_one(self, places: int, minutes: float) -> Share:
        return Share(self.decisions + 1, self.places + places, self.minutes + minutes)


@dataclass(frozen=True)
class Effort:
    """The estimate.  shares: by the names in SHARES; the first is work that nobody has to do any more."""

    shares: dict[str, Share]
    settings: EffortSettings

    @property
    def left(self) -> Share:
        """The sum of the shares that are left to do."""
        rest = [share for name, share in self.shares.items() if name != SHARES[0]]
        return Share(sum(s.decisions for s in rest), sum(s.places for s in rest), sum(s.minutes for s in rest))

    def hours(self, share: Share) -> tuple[float, float]:
        """The range of person-hours of a share."""
        return share.minutes * self.settings.low / 60, share.minutes * self.settings.high / 60


def effort(report: Report, left: Iterable[Decision]) -> Effort:
    """The estimate for a report; left: its decisions."""
    shares = dict.fromkeys(SHARES, Share())
    for places, cost in [*_done(report), *((d.n_places, cost_of_decision(d, report.effort)) for d in left)]:
        name = SHARES[0] if cost.kind == _DONE else _SHARE_OF_CLASS[cost.kind]
        shares[name] = shares[name].with_one(places, cost.minutes(places))
    return Effort(shares, report.effort)


_DONE = "done"


def _done(report: Report) -> list[tuple[int, Cost]]:
    """Work that the tool has done, or would do: the number of places and the cost of each sentence."""
    found: dict[tuple[str, str, str], int] = {}
    for _, finding in report.findings():
        if finding.level is Level.FIXED:
            key = finding.rule, finding.part, without_places(finding.message)
            found[key] = found.get(key, 0) + n_places([finding])
    costs = {key: cost_of(key[0], key[1], Level.MANUAL.value, report.effort) for key in found}
    return [(places, Cost(_DONE, costs[key].first, costs[key].further)) for key, places in found.items()]


def cost_of_decision(decision: Decision, settings: EffortSettings) -> Cost:
    """The cost of the places of a decision, by the rule and part of its first finding."""
    finding = decision.sites[0][1]
    return cost_of(finding.rule, finding.part, decision.label, settings)


def minutes_of(decision: Decision, settings: EffortSettings) -> float:
    """Minutes that a decision costs, in the middle of the range."""
    return cost_of_decision(decision, settings).minutes(decision.n_places)


def cost_of(rule: str, part: str, label: str, settings: EffortSettings) -> Cost:
    """The cost of places of which a part of a rule speaks; label: their level, for a rule that is not in the table."""
    table = costs()
    unknown = Level.UNSUPPORTED.value if label == Level.UNSUPPORTED.value else Level.MANUAL.value
    cost = table.get((rule, part)) or _of_rule().get(rule) or table["", unknown]
    asked = [(len(prefix), first, further) for prefix, first, further in settings.minutes if rule.startswith(prefix)]
    return Cost(cost.kind, *max(asked)[1:], "[tool.tf2npu.effort]") if asked else cost


@lru_cache(maxsize=1)
def costs() -> dict[tuple[str, str], Cost]:
    """The table: (rule, part) -> cost."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {(r["rule"], r["part"]): Cost(r["class"], float(r["first"]), float(r["further"]), r["source"]) for r in rows}


@lru_cache(maxsize=1)
def _of_rule() -> dict[str, Cost]:
    """The cost of each rule's first part, for findings that do not say which part made them."""
    return {rule: cost for (rule, _), cost in reversed(costs().items()) if rule}


def shown_hours(low: float, high: float) -> str:
    """A range of hours for people: no digits that the estimate does not have."""
    if high < 0.25:
        return "under 15 minutes" if high else "0 hours"
    ends = _round(low), _round(high)
    if ends[0] == ends[1]:
        return "about 1 hour" if ends[0] == "1" else f"about {ends[0]} hours"
    return f"{ends[0]} to {ends[1]} hours"


def _round(hours: float) -> str:
    return f"{hours:.0f}" if hours >= 9.5 else f"{round(hours * 2) / 2 or 0.5:g}"


def method(rows: Sequence[Decision], settings: EffortSettings) -> list[tuple[Decision, Cost, float]]:
    """The decisions with what a place costs and the minutes of each, the costliest first."""
    found = [(decision, cost_of_decision(decision, settings), minutes_of(decision, settings)) for decision in rows]
    return sorted(found, key=lambda row: -row[2])
