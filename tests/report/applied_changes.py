"""The text that the changes of a report make of a file."""

from __future__ import annotations

from tf2npu.report.model.changes import offsets_of, splice
from tf2npu.report.model.report import Change, Lines


def apply_changes(text: str, changes: list[Change]) -> str:
    """`text` with all changes applied."""
    lines = Lines(text)
    return splice(text, [offsets_of(lines, change) for change in changes])
