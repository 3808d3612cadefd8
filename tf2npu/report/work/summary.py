"""The summary of a report in report.json, so that every format can show it: verdict and effort."""

from __future__ import annotations

from typing import Any

from tf2npu.findings import Finding
from tf2npu.report.model.report import Report
from tf2npu.report.model.rule_facts import RuleFacts, RuleTexts
from tf2npu.report.work.decisions import decisions
from tf2npu.report.work.effort import Effort, Share, effort
from tf2npu.report.work.verdict import is_blocker, verdict


class _Ids(RuleTexts):
    """Rules by their ids only: their texts cost the loading of all rules, and report.json holds none."""

    def __init__(self) -> None:
        self._by_part = {}

    def of(self, finding: Finding) -> RuleFacts:
        return RuleFacts(finding.rule)


def summarised(report: Report) -> dict[str, Any]:
    """Keys of the summary."""
    left = decisions(report, _Ids())
    if any(map(is_blocker, left)):  # whose titles the verdict names
        left = decisions(report, RuleTexts(report))
    said, estimate = verdict(report, left), effort(report, left)
    return {
        "verdict": {"kind": said.kind, "sentence": said.sentence, "blockers": list(said.blockers)},
        "effort": {
            "hours": _hours(estimate, estimate.left),
            **{name.replace(" ", "_"): _share(estimate, share) for name, share in estimate.shares.items()},
            "settings": _settings(report),
        },
    }


def _share(estimate: Effort, share: Share) -> dict[str, Any]:
    return {"decisions": share.decisions, "places": share.places, "hours": _hours(estimate, share)}


def _hours(estimate: Effort, share: Share) -> list[float]:
    """The range, with the digits that are worth keeping."""
    return [round(hours, 2) for hours in estimate.hours(share)]


def _settings(report: Report) -> dict[str, Any]:
    settings = report.effort
    minutes = [{"rule": rule, "first": first, "further": further} for rule, first, further in settings.minutes]
    return {"low": settings.low, "high": settings.high, "minutes": minutes}
