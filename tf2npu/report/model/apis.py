"""The APIs of a whole project: uses of all files added up, and how much of what was seen is understood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tf2npu.findings import ApiUse, Verdict
from tf2npu.report.model.report import ApiRow, Report

_TORCH = "torch"
"""The module whose names are PyTorch's; all others are TensorFlow's, or Horovod's."""
_MINDSPORE_RULES = "NPM"
"""The beginning of the ids of rules that tell of MindSpore, whose names are looked up in lists of their own and not counted."""
_MOST_PLACES = 10
"""The most places that a row of the API table names: more are not read."""


def add_up(uses: Mapping[str, Sequence[ApiUse]]) -> tuple[ApiRow, ...]:
    """A row for each API of the uses by file, those used most first; the places are the first ones of the first files."""
    rows: dict[tuple[str, str], ApiRow] = {}
    for path in sorted(uses):
        for use in uses[path]:
            cell = f"cell {use.cell}:" if use.cell is not None else ""
            place = f"{path}:{cell}{use.line}"
            row = rows.get((use.name, use.note))
            if row is None:
                row = ApiRow(use.name, use.verdict, 0, 0, (), use.rule, use.note)
            places = (*row.places, place)[:_MOST_PLACES]
            rows[use.name, use.note] = replace(row, count=row.count + use.count, n_files=row.n_files + 1, places=places)
    return tuple(sorted(rows.values(), key=lambda row: (-row.count, row.name, row.note)))


def numbers(report: Report) -> dict[str, int]:
    """References that were seen, those with a verdict, and those without."""
    seen = sum(row.count for row in report.apis)
    unknown = sum(row.count for row in report.apis if row.verdict is Verdict.UNKNOWN)
    return {"seen": seen, "resolved": seen - unknown, "unknown": unknown}


def sentence(report: Report) -> str:
    """The numbers in words, with what they leave out."""
    if not report.apis and any(finding.rule.startswith(_MINDSPORE_RULES) for _, finding in report.findings()):
        return "names of MindSpore are not counted: findings tell those that MindSpore 2 does not have"
    counts, n_failed = numbers(report), report.statuses()["failed"]
    text = f"{counts['seen']} references to {_frameworks(report)}: {counts['resolved']} resolved, {counts['unknown']} unknown"
    return f"{text}; those in {n_failed} failed {'file' if n_failed == 1 else 'files'} are not counted" if n_failed else text


def _frameworks(report: Report) -> str:
    """The frameworks that the references are to, in words; TensorFlow where there are none."""
    of_torch = {row.name.partition(".")[0] == _TORCH for row in report.apis}
    names = [name for name, is_torch in (("TensorFlow", False), ("PyTorch", True)) if is_torch in of_torch]
    return " and ".join(names) or "TensorFlow"
