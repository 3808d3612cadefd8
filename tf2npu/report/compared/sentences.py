"""The sentences of a comparison of two reports, in every format alike."""

from __future__ import annotations

from collections.abc import Iterator

from tf2npu.report.compared.comparison import Comparison
from tf2npu.report.languages.language import counted
from tf2npu.report.model.report import Report
from tf2npu.report.model.rule_facts import RuleIds
from tf2npu.report.work.decisions import decisions

HEADINGS = {"new": "New since the earlier report:", "moved": "Moved:", "closed": "Closed since the earlier report:"}
"""Above each of the lists."""


def sentence(found: Comparison) -> str:
    """The numbers in one sentence."""
    left = f"{found.n_left} finding is left" if found.n_left == 1 else f"{found.n_left} findings are left"
    return (
        f"{len(found.closed)} closed, {len(found.new)} new, {len(found.moved)} moved, {found.n_stayed} as before: {left} to do."
    )


def work_left(report: Report) -> tuple[int, int]:
    """The decisions that a report leaves, and the places that they settle."""
    left = decisions(report, RuleIds())
    return len(left), sum(decision.n_places for decision in left)


def work_left_in_words(found: Comparison) -> str:
    """The work that is left, beside that of the earlier report."""
    after, before = work_left(found.after), work_left(found.before)
    return f"Work left: {_counted(*after)}; before: {_counted(*before)}."


def _counted(n_decisions: int, n_places: int) -> str:
    return f"{counted(n_decisions, 'decision')}, {counted(n_places, 'place')}"


def caveats(found: Comparison) -> Iterator[str]:
    """Sentences about why the reports may differ where nobody has changed a source."""
    before, after = found.before, found.after
    if before.tool_version != after.tool_version:
        yield (
            f"The reports are of tf2npu {before.tool_version} and {after.tool_version}: rules may have changed between them. "
            "Make the earlier one again to be sure."
        )
    if before.mode != after.mode:
        yield (
            f"The reports were made with --distributed {before.mode} and {after.mode}: what the modes convert is not the same. "
            "Make both with one mode to be sure."
        )
    if before.files and after.files and not {f.path for f in before.files} & {f.path for f in after.files}:
        yield "The reports share no file: check that both are of the same SRC."
