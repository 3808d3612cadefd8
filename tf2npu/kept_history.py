"""The history that a conversion keeps: what was left after it, behind what was left after those before."""

from __future__ import annotations

from pathlib import Path

from tf2npu.report.decisions import decisions
from tf2npu.report.effort import effort
from tf2npu.report.history import entry_of, extended
from tf2npu.report.model import Report
from tf2npu.report.rule_facts import RuleTexts


def keep_history(report: Report, folder: Path, src: Path) -> None:
    """Give a report that is written into a folder the history of this folder, with itself as the last entry."""
    left = decisions(report, RuleTexts(report))
    report.history = extended(folder, src, entry_of(left, effort(report, left).left.minutes))
