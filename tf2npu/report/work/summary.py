"""The summary of a report in report.json, so that every format can show it: verdict and effort."""

from __future__ import annotations

from typing import Any

from tf2npu.report.model.report import Report
from tf2npu.report.model.rule_facts import RuleIds, RuleTexts
from tf2npu.report.work.decisions import decisions
from tf2npu.report.work.effort import Effort, Share, effort
from tf2npu.report.work.verdict import is_blocker, verdict


def summarised(report: Report) -> dict[str, Any]:
    """Keys of the summary."""
    left = decisions(report, RuleIds())
    if any(map(is_blocker, left)):  # whose titles the verdict names
        left = decisions(report, RuleTexts(report))
    said, estimate = verdict(report, left), effort(report, left)
    return {
        "verdict": {"kind": said.kind, "sentence": said.sentence, "blockers": list(said.blockers)},
        "effort": {
            **_hours(estimate, estimate.left),
            **{name.replace(" ", "_"): _share(estimate, share) for name, share in estimate.shares.items()},
            "settings": _settings(report),
        },
    }


def _share(estimate: Effort, share: Share) -> dict[str, Any]:
    return {"decisions": share.decisions, "places": share.places, "lines": share.lines, **_hours(estimate, share)}


def _hours(estimate: Effort, share: Share) -> dict[str, list[float]]:
    """The range, with the digits that are worth keeping; nothing where none is told."""
    hours = estimate.hours(share)
    return {} if hours is None else {"hours": [round(one, 2) for one in hours]}


def _settings(report: Report) -> dict[str, Any]:
    settings = report.effort
    minutes = [{"rule": rule, "first": first, "further": further} for rule, first, further in settings.minutes]
    return {"low": settings.low, "high": settings.high, "minutes": minutes}
