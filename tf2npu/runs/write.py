"""The record of `tf2npu run`: run.json, for a report that is elsewhere or that is written in the same process.

Its places name files relative to one folder, the project's, so that nothing of this computer stands in it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import tf2npu
from npu_formats.files.directory import Directory
from npu_formats.files.draft import put_whole
from tf2npu.report.runs.record import VERSION, RunRecord, checked_record, render
from tf2npu.runs.coverage import StatementMarks
from tf2npu.runs.failure import Failure, Place
from tf2npu.runs.stale_files import digests, loaded, root_of, sources

_OF_EVIDENCE = ("device_lines", "host_lines", "input_lines", "limit_lines", "copy_lines", "switched_lines", "memory_peaks")
_WITH_APIS = ("device_lines", "host_lines", "session_lines")
"""Evidence of nodes and sessions, which a report tells of APIs, too."""

_PLACE = re.compile(r" \((.+:\d+)\)")
"""The place in the name of a function of eager code."""


class Project:
    """The files whose lines a run tells of.

    root: their folder, as a real path, "" where it is not known.  paths: of the files below it; None: all that are no library's.
    """

    def __init__(self, root: str, paths: Collection[str] | None) -> None:
        self.root, self._paths = root, None if paths is None else frozenset(paths)

    def path_of(self, file: str) -> str | None:
        """The path of a file by its real path; None for one that is not the project's."""
        if not self.root or not file.startswith(os.path.join(self.root, "")):
            return None
        path = os.path.relpath(file, self.root).replace(os.sep, "/")
        if self._paths is not None:
            return path if path in self._paths else None
        return None if "site-packages" in path.split("/") else path

    def place(self, line: str) -> str:
        """A place "file:line" as run.json names it: outside of the project by the file's name alone."""
        file, _, number = line.rpartition(":")
        path = self.path_of(os.path.realpath(file)) if file else None
        return f"{path}:{number}" if path is not None else os.path.basename(line)

    def read(self) -> dict[str, str]:
        """The digest of each of its files that was loaded, by path."""
        return digests(*self._loaded(), self.root)

    def sources(self) -> dict[str, bytes]:
        """Each of its files that was loaded, by path."""
        return sources(*self._loaded(), self.root)

    def _loaded(self) -> tuple[list[str], list[str]]:
        """Files of the project that were loaded, and their paths."""
        files = [file for file in loaded([*sys.modules.values()]) if self.path_of(file) is not None]
        return files, [self.path_of(file) or "" for file in files]


def project_of(script: str, paths: Collection[str] | None) -> Project:
    """The project that a script belongs to.  paths: of a report's files; None where there is no report."""
    if paths is None:
        return Project(os.path.dirname(os.path.realpath(script)) if script else "", None)
    return Project(root_of((), paths, script), paths)


def script_of(module: str | None, script: str | Path | None) -> str:
    """The file that will be run; "" where only Python finds it."""
    if script is not None:
        return str(Path(script) / "__main__.py") if os.path.isdir(script) else str(script)
    name = os.path.join(os.getcwd(), *(module or "").split("."))
    return next((file for file in (f"{name}.py", os.path.join(name, "__main__.py")) if os.path.isfile(file)), "")


def short(line: str) -> str:
    """A place without folders of this computer, which a report does not name."""
    relative = os.path.relpath(line) if line else ""
    return os.path.basename(line) if relative.startswith(os.pardir) else relative


def short_label(function: str) -> str:
    """The name of a function, "step (FILE:LINE)", without folders of this computer."""
    return _PLACE.sub(lambda found: f" ({short(found[1])})", function)


def record(
    told: dict[str, Any], script: str, exit_code: int, failure: Failure | None, project: Project, marks: StatementMarks
) -> RunRecord:  # fmt: skip
    """The record of what this process ran, as the shim's hooks told it.  Raises: NotAReport."""
    evidence = _evidence(told, failure, project, marks)
    for kind in ("sessions_left_open", "sessions_on_tensorflow"):
        told[kind] = [short(line) for line in told[kind]]
    for change in told["shape_changes"]:
        change["places"] = [short(line) for line in change["places"]]
    for session in told["sessions"]:
        session["place"] = short(session["place"])
        for kind in session["runs"]:
            if "function" in kind:
                kind["function"] = short_label(kind["function"])
    for function in (*told.get("functions", ()), *told.get("functions_on_tensorflow", ())):
        function["name"] = short_label(function["name"])
    if failure is not None:
        told["failure"] = _failure(failure)
    run = {"script": script, "exit_code": exit_code, **told, "files": project.read()}
    return checked_record(
        {
            "schema_version": VERSION,
            "tool": {"name": "tf2npu", "version": tf2npu.__version__},
            "run": run,
            "evidence": evidence,
        }
    )


def _evidence(told: dict[str, Any], failure: Failure | None, project: Project, marks: StatementMarks) -> dict[str, Any]:
    """The evidence that belongs to lines; its kinds are taken out of `told`."""
    from tf2npu.runs.api_use import api_lines  # brings a parser with it, which only a run that is reported needs

    evidence = {kind: told.pop(kind, []) for kind in _OF_EVIDENCE}
    for kind in _OF_EVIDENCE:
        for entry in evidence[kind]:
            if "place" in entry:
                entry["place"] = project.place(entry["place"])
    for entry in evidence["input_lines"]:
        entry["places"] = [project.place(line) for line in entry["places"]]
    left = {*told["sessions_left_open"]}
    ran_on = [(session["place"], "device") for session in told["sessions"]]
    ran_on += [(line, "TensorFlow") for line in told["sessions_on_tensorflow"]]
    evidence["session_lines"] = [
        {"place": project.place(line), "ran_on": where, "is_left_open": line in left} for line, where in sorted({*ran_on})
    ]
    evidence["reached_files"] = marks.document()
    seen = {entry["place"] for kind in _WITH_APIS for entry in evidence[kind]}
    evidence["api_lines"] = api_lines(project.sources(), marks.statements, seen)
    failed = (failure.node_place, failure.place) if failure is not None else ()
    evidence["failed_at"] = [project.place(_line(place)) for place in failed if place is not None]
    return evidence


def _failure(failure: Failure) -> dict[str, Any]:
    """The entry for a failure in report.json, without the finding."""
    return {
        "type": failure.type, "message": failure.message, "place": short(_line(failure.place)), "node": failure.node,
        "op": failure.op, "node_place": short(_line(failure.node_place)), "finding": None,
    }  # fmt: skip


def _line(place: Place | None) -> str:
    return f"{place[0]}:{place[1]}" if place is not None else ""


def write(made: RunRecord, file: Path) -> None:
    """Write run.json, whole.  Raises: OSError."""
    texts: Iterable[str] = [render(made)]
    with Directory.given(file.parent) as folder:
        put_whole(folder, file.name, texts)
