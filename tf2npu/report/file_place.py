"""Places of a file's findings in the text that a report holds of it."""

from __future__ import annotations

from tf2npu.findings import Finding
from tf2npu.report.model import FileReport, Lines


def row_in_source(file: FileReport, cell: int | None, line: int) -> int:
    """Line of the report's source that a line belongs to; of a notebook that is counted from its cell."""
    return line if cell is None or cell >= len(file.cell_lines) else file.cell_lines[cell] + line


def text_at(file: FileReport, finding: Finding, lines: Lines) -> str:
    """What the report's source has at the place of a finding. lines: of that source."""
    span = finding.span
    first, last = (row_in_source(file, finding.cell, line) for line in (span.line, span.end_line))
    return lines.text[lines.offset(first, span.column) : lines.offset(last, span.end_column)]
