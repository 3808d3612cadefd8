"""Lines of a converted file as lines of the original, which findings count."""

from __future__ import annotations

from tf2npu.report.model.aligned import compare
from tf2npu.report.model.report import FileReport


class LineOrigins:
    """Source map of one file."""

    def __init__(self, file: FileReport) -> None:
        changed = file.source is not None and file.changes
        self._rows = compare(file.source or "", file.changes).rows if changed else None
        self._before = {row.after: row.before for row in self._rows or () if row.after is not None}

    def of(self, line: int) -> int | None:
        """The line of the original; None for one that was put in."""
        return self._before.get(line) if self._rows is not None else line

    def near(self, line: int) -> int:
        """The same; for a line that was put in the one above, or the first one below at the beginning of a file."""
        if self._rows is None:
            return line
        last = next((number for number, row in enumerate(self._rows) if row.after == line), -1)
        above = next((row.before for row in reversed(self._rows[: last + 1]) if row.before is not None), 0)
        return above or next((row.before for row in self._rows if row.before is not None), 1)

    def of_range(self, first: int, last: int) -> list[int]:
        """The lines of the original in a range."""
        return [line for number in range(first, last + 1) if (line := self.of(number)) is not None]
