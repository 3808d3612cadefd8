"""Labels of findings that are work: the level of each, or that its file failed."""

from __future__ import annotations

from tf2npu.findings import Finding, Level, Status
from tf2npu.report.model.report import WORK_LEVELS, FileReport

FAILED = "failed"
"""The label of what stands in a file that failed; other work has its level."""
LABELS = (FAILED, *(level.value for level in WORK_LEVELS))
"""All labels, worst first."""


def label_of_work(file: FileReport, finding: Finding) -> str:
    """Under what a finding stands in a list of work; "" for one that needs nobody."""
    if file.status is Status.FAILED and finding.level not in (Level.FIXED, Level.INFO):
        return FAILED
    return finding.level.value if finding.level in WORK_LEVELS else ""


def label_of_choice(file: FileReport, finding: Finding) -> str:
    """Under what a finding stands among what can be decided: as work, or "info" for an unsafe fix that may be made."""
    is_open = finding.level is Level.INFO and finding.unsafe and finding.answer is None and file.status is not Status.FAILED
    return label_of_work(file, finding) or (Level.INFO.value if is_open else "")
