"""The history that a conversion keeps: what was left after it, behind what was left after those before."""

from __future__ import annotations

from pathlib import Path

from tf2npu.report.model.report import Report
from tf2npu.report.model.rule_facts import RuleTexts
from tf2npu.report.work.decisions import decisions
from tf2npu.report.work.effort import minutes_of
from tf2npu.report.work.history import entry_of, extended


def keep_history(report: Report, folder: Path, src: Path) -> None:
    """Give a report that is written into a folder the history of this folder, with itself as the last entry."""
    left = decisions(report, RuleTexts(report))
    minutes = sum(minutes_of(decision, report.effort) for decision in left) if report.effort.minutes else None
    report.history = extended(folder, src, entry_of(left, minutes))
