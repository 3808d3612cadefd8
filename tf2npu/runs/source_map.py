"""The evidence of a run at the lines of the report: a run knows lines of the converted files, findings those of the original."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from npu_formats.whole_number import whole_number
from tf2npu.report.model.report import FileReport, Report
from tf2npu.report.runs.document import RunDocument
from tf2npu.report.runs.source_map import LineOrigins
from tf2npu.runs.failure import worst_around
from tf2npu.runs.stale_files import digest_of

Ranges = list[tuple[int, int]]
_AT_A_LINE = ("copy_lines", "switched_lines", "memory_peaks")
"""Evidence that is shown with its line, and says nothing about findings."""


class Placement:
    """The places of one report.  folder: under which its files lie as the run names them, "" or with a slash at the end.

    ran: digests of the files that the run has read, by path as it names them.
    """

    def __init__(self, report: Report, folder: str = "", ran: Mapping[str, str] = MappingProxyType({})) -> None:
        self._is_scan, self._ran = report.command == "scan", ran
        self._files = {file.path: file for file in report.files}
        self.folder = folder
        self._origins: dict[str, LineOrigins] = {}

    def file(self, name: str) -> FileReport | None:
        """The file of the report that a run names so."""
        return self._files.get(self.folder + name)

    def at(self, place: str) -> dict[str, Any] | None:
        """The line of the original of `path:line`; None where the report does not have the file.  A line that was put in
        belongs to the one above it.
        """
        name, _, text = place.rpartition(":")
        file, line = self.file(name), whole_number(text)
        if file is None or line is None:
            return None
        return {"path": file.path, "line": self._of(file).near(line)}

    def lines(self, file: FileReport, ranges: Iterable[tuple[int, int]]) -> Ranges:
        """The same of statements; those that were put in are left out."""
        found = {
            (min(lines), max(lines)) for first, last in ranges if (lines := self._of(file).of_range(first, last))
        }  # fmt: skip
        return sorted(found)

    def _of(self, file: FileReport) -> LineOrigins:
        if file.path not in self._origins:
            self._origins[file.path] = LineOrigins(replace(file, changes=[]) if self._is_original(file) else file)
        return self._origins[file.path]

    def _is_original(self, file: FileReport) -> bool:
        """Whether the run has read a file as it was before its conversion, as a script for PyTorch may run."""
        then = self._ran.get(file.path.removeprefix(self.folder))
        return self._is_scan or (file.source is not None and then == digest_of(file.source.encode("utf-8", "surrogatepass")))


def placed(evidence: Mapping[str, Any], placement: Placement) -> RunDocument:
    """The evidence of a run, as run.json holds it, as report.json does."""
    return {
        "device_lines": [
            {**at, "count": entry["count"]} for entry in evidence["device_lines"] if (at := placement.at(entry["place"]))
        ],
        "host_lines": [_with_finding(entry, placement) for entry in evidence["host_lines"]],
        "limit_lines": [_with_finding(entry, placement) for entry in evidence.get("limit_lines", ())],
        **{kind: [{**entry, "at": placement.at(entry["place"])} for entry in evidence.get(kind, ())] for kind in _AT_A_LINE},
        "input_lines": [found for entry in evidence["input_lines"] if (found := _input(entry, placement))["lines"]],
        "session_lines": [
            {**at, "ran_on": entry["ran_on"], "is_left_open": entry["is_left_open"]}
            for entry in evidence["session_lines"] if (at := placement.at(entry["place"]))
        ],
        "api_lines": [
            {**at, "apis": entry["apis"]} for entry in evidence.get("api_lines", ()) if (at := placement.at(entry["place"]))
        ],
        "reached_files": [found for entry in evidence["reached_files"] for found in _reached(entry, placement)],
    }  # fmt: skip


def _with_finding(entry: Mapping[str, Any], placement: Placement) -> dict[str, Any]:
    at = placement.at(entry["place"])
    file = placement.file(entry["place"].rpartition(":")[0])
    found = worst_around(file, at["line"]) if at is not None and file is not None else None
    return {
        **entry, "at": at,
        "finding": {"rule": found.rule, "path": file.path, "line": found.span.line} if found is not None and file else None,
    }  # fmt: skip


def _input(entry: Mapping[str, Any], placement: Placement) -> dict[str, Any]:
    lines = [at for place in entry["places"] if (at := placement.at(place))]
    return {
        "input": entry["input"], "lines": lines, "count": entry["count"], "shapes": entry["shapes"], "steps": entry["steps"],
    }  # fmt: skip


def _reached(entry: Mapping[str, Any], placement: Placement) -> Iterable[dict[str, Any]]:
    file = placement.file(entry["path"])
    if file is None:
        return
    reached = placement.lines(file, map(tuple, entry["reached"]))
    missed = sorted({*placement.lines(file, map(tuple, entry["not_reached"]))} - {*reached})
    yield {"path": file.path, "reached": reached, "not_reached": missed}
