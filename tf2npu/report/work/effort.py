"""The work of a report in shares: what is done, to decide, to write with code at hand or without, and hours on request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tf2npu.config import EffortSettings
from tf2npu.findings import Finding, Level
from tf2npu.report.model.counts import n_places, without_places
from tf2npu.report.model.report import Report
from tf2npu.report.work.choices import changed_lines
from tf2npu.report.work.costs import Cost, cost_of
from tf2npu.report.work.decisions import Decision

SHARES = ("done by the tool", "to decide", "to copy", "to write", "blocked")
"""Shares of the work: what nobody has to do any more; what a person looks at and decides; what is written with code that the
findings show; what is written without any; and what has no way to the NPU before the whole project is decided about."""


@dataclass(frozen=True)
class Share:
    """Decisions of one kind and the places that they settle.

    lines: those that are to be written; a place without code at hand counts as one.  minutes: by the table and the settings.
    """

    decisions: int = 0
    places: int = 0
    lines: int = 0
    minutes: float = 0.0

    def with_one(self, places: int, lines: int, minutes: float) -> Share:
        return Share(self.decisions + 1, self.places + places, self.lines + lines, self.minutes + minutes)


@dataclass(frozen=True)
class Effort:
    """The work.  shares: by the names in SHARES; the first is work that nobody has to do any more."""

    shares: dict[str, Share]
    settings: EffortSettings

    @property
    def left(self) -> Share:
        """The sum of the shares that are left to do."""
        rest = [share for name, share in self.shares.items() if name != SHARES[0]]
        counts = ((share.decisions, share.places, share.lines, share.minutes) for share in rest)
        return Share(*map(sum, zip(*counts, strict=True)))

    def hours(self, share: Share) -> tuple[float, float] | None:
        """The range of person-hours of a share; None unless the settings have minutes of a team's own.

        The table alone orders public projects no better than chance (docs/report_effort.md), so that nothing is told from it.
        """
        if not self.settings.minutes:
            return None
        return share.minutes * self.settings.low / 60, share.minutes * self.settings.high / 60


def effort(report: Report, left: Iterable[Decision]) -> Effort:
    """The work of a report; left: its decisions."""
    shares = dict.fromkeys(SHARES, Share())
    for places, cost in _done(report):
        shares[SHARES[0]] = shares[SHARES[0]].with_one(places, 0, cost.minutes(places))
    for decision in left:
        name, minutes = share_of(decision), minutes_of(decision, report.effort)
        lines = sum(_lines(finding) for _, finding in decision.sites) if name in ("to copy", "to write") else 0
        shares[name] = shares[name].with_one(decision.n_places, lines, minutes)
    return Effort(shares, report.effort)


def share_of(decision: Decision) -> str:
    """The share of a decision, one of SHARES: by its class, and by whether every finding of it shows the code to write."""
    kind = cost_of_decision(decision, EffortSettings()).kind
    if kind in ("look", "blocked"):
        return {"look": "to decide", "blocked": "blocked"}[kind]
    return "to copy" if all(finding.after for _, finding in decision.sites) else "to write"


def _lines(finding: Finding) -> int:
    """Lines to write for a finding: those of its code that differ, at each of its places."""
    code = changed_lines(finding.before, finding.after)[1] if finding.replaces else finding.after
    return n_places([finding]) * max(1, len(code.splitlines()))


def _done(report: Report) -> list[tuple[int, Cost]]:
    """Work that the tool has done, or would do: the number of places and the cost of each sentence."""
    found: dict[tuple[str, str, str], int] = {}
    for _, finding in report.findings():
        if finding.level is Level.FIXED:
            key = finding.rule, finding.part, without_places(finding.message)
            found[key] = found.get(key, 0) + n_places([finding])
    return [(places, cost_of(*key[:2], Level.MANUAL.value, report.effort)) for key, places in found.items()]


def cost_of_decision(decision: Decision, settings: EffortSettings) -> Cost:
    """The cost of the places of a decision, by the rule and part of its first finding."""
    finding = decision.sites[0][1]
    return cost_of(finding.rule, finding.part, decision.label, settings)


def minutes_of(decision: Decision, settings: EffortSettings) -> float:
    """Minutes that a decision costs, in the middle of the range."""
    return cost_of_decision(decision, settings).minutes(decision.n_places)


def shown_minutes(decision: Decision, settings: EffortSettings) -> str:
    """The minutes of a decision as a range, in English; "" unless the settings have minutes of a team's own."""
    if not settings.minutes:
        return ""
    minutes = minutes_of(decision, settings)
    return f"{minutes * settings.low:.0f} to {minutes * settings.high:.0f} minutes"


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
