"""The evidence of one run on the lines of one file, looked up by line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tf2npu.report.runs.document import RunDocument

Entry = Mapping[str, Any]


class RunLines:
    """path: of the file in the report."""

    def __init__(self, run: RunDocument, path: str) -> None:
        self.run = run
        self._statements = {line: found for found in _statements(run, path) for line in range(found[0], found[1] + 1)}
        self._device = _by_line((entry["line"], entry) for entry in run.get("device_lines", ()) if entry["path"] == path)
        self._sessions = _by_line((entry["line"], entry) for entry in run.get("session_lines", ()) if entry["path"] == path)
        self._host = _by_line(
            (entry["at"]["line"], entry) for entry in run.get("host_lines", ()) if entry["at"] and entry["at"]["path"] == path
        )
        self._seen = _by_line(
            (entry["at"]["line"], entry)
            for kind in ("limit_lines", "copy_lines")
            for entry in run.get(kind, ())
            if entry["at"] and entry["at"]["path"] == path
        )
        self._inputs = _by_line(
            (at["line"], entry) for entry in run.get("input_lines", ()) for at in entry["lines"] if at["path"] == path
        )

    def was_reached(self, line: int) -> bool | None:
        """Whether the statement on a line was begun; None where the run cannot tell."""
        found = self._statements.get(line)
        return found[2] if found is not None else None

    def n_on_device(self, lines: range) -> int:
        """Nodes that these lines, or else the statement that they stand in, made and that ran on the device."""
        return sum(entry["count"] for entry in self.on_device(lines))

    def on_device(self, lines: range) -> list[Entry]:
        return self._near(self._device, lines)

    def on_host(self, lines: range) -> list[Entry]:
        return self._near(self._host, lines)

    def seen(self, lines: range) -> list[Entry]:
        """Limits of the chip, and copies, of operators of PyTorch."""
        return self._near(self._seen, lines)

    def inputs(self, lines: range) -> list[Entry]:
        return self._near(self._inputs, lines)

    def sessions(self, lines: range) -> list[Entry]:
        return self._near(self._sessions, lines)

    def _near(self, entries: Mapping[int, list[Entry]], lines: range) -> list[Entry]:
        """Entries of the lines; where there are none, those of the statement: Python names the first line of a long call."""
        found = [entry for line in lines for entry in entries.get(line, ())]
        statement = self._statements.get(lines.start)
        if found or statement is None:
            return found
        return [entry for line in range(statement[0], statement[1] + 1) for entry in entries.get(line, ())]


def has_changed(run: RunDocument, path: str) -> bool:
    """Whether a file is no longer as the run has run it."""
    return path in run.get("changed_files", ())


def _statements(run: RunDocument, path: str) -> Iterator[tuple[int, int, bool]]:
    """First line, last line, and whether the run came to it; those inside others after them."""
    for file in run.get("reached_files", ()):
        if file["path"] == path:
            found = [(*lines, True) for lines in file["reached"]] + [(*lines, False) for lines in file["not_reached"]]
            yield from sorted(found, key=lambda one: (one[0] - one[1], one[2]))


def _by_line(entries: Iterable[tuple[int, Entry]]) -> dict[int, list[Entry]]:
    found: dict[int, list[Entry]] = defaultdict(list)
    for line, entry in entries:
        found[line].append(entry)
    return found
