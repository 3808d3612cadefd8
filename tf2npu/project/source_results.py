"""The results of a project's sources: each is converted and placed in the output, or it is said why not."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from sys import intern
from typing import TYPE_CHECKING

from tf2npu import file_findings
from tf2npu.findings import FileResult, Level, Status, UnsafePlace
from tf2npu.project import workers
from tf2npu.project.known_facts import Facts
from tf2npu.project.output import Output, unreadable
from tf2npu.project.phase import Phase, Phases
from tf2npu.project.request import Revise
from tf2npu.project.sources import Sources

if TYPE_CHECKING:
    from tf2npu.config import Config
    from tf2npu.scanner.project_facts import ProjectFacts


class SourceResults:
    """The results of a project's sources.

    work: converts a file; revise: gives the result as it is to be written; crashes: tracebacks of defects of ours.
    """

    def __init__(self, sources: Sources, facts: Facts, work: workers.Work, config: Config, revise: Revise) -> None:
        self._sources, self._facts, self._work, self._config, self._revise = sources, facts, work, config, revise
        self.crashes: list[str] = []

    def placed(self, phases: Phases, shared_key: bytes, output: Output) -> Iterator[FileResult]:
        """Convert each source and place it in `output`.  shared_key: stands for the settings and the project's facts."""
        entries = {entry.path: entry for entry in self._sources.all}
        converting = Phase("result", self._work, "converting", FileResult, _without_source)
        made = phases.each(converting, shared_key, self._shared, self._sources.ordinary)
        for path, result in itertools.chain(made, self._too_large()):
            data = self._sources.read(entries[path])
            if data is None:
                continue
            whole = self._crashed(result) if isinstance(result, workers.Crash) else _with_source(result, data)
            revised = self._revise(whole, partial(self._again, path, data))
            yield _lightened(output.place_result(entries[path], revised, data))
        yield from (unreadable(path, error) for path, error in sorted(self._sources.unread.items()) if path in entries)

    def _shared(self) -> tuple[Config, ProjectFacts]:
        return self._config, self._facts.project

    def _again(self, path: str, data: bytes, places: frozenset[UnsafePlace]) -> FileResult:
        """The result of a file with unsafe fixes at some places."""
        shared = replace(self._config, unsafe_at=places), self._facts.project
        result = next(workers.run(self._work, [(path, data)], shared, 1))
        return self._crashed(result) if isinstance(result, workers.Crash) else result

    def _crashed(self, crash: workers.Crash) -> FileResult:
        self.crashes.append(f"{crash.path}: {crash.error}\n{crash.details}")
        message = f"internal error of tf2npu: {crash.error}; the file was copied as it is"
        return FileResult(crash.path, Status.FAILED, [file_findings.INTERNAL.finding(Level.MANUAL, message)])

    def _too_large(self) -> Iterator[tuple[str, FileResult]]:
        """The sources that are not converted, with what is said of them."""
        from tf2npu.engine.convert_file import mentions_relevant_module

        for entry in self._sources.too_large:
            result = FileResult(entry.path, Status.COPIED)
            if mentions_relevant_module(self._sources.read(entry) or b""):
                message = f"{entry.size / (1 << 20):.1f} MB of source that mentions TensorFlow: copied without conversion"
                result.findings.append(file_findings.LARGE_SOURCE.finding(Level.MANUAL, message))
            yield entry.path, result


def _without_source(result: FileResult) -> FileResult:
    """The result as the cache holds it, whose key stands for the file's content: it is not stored a second time."""
    return replace(result, before=b"", after=result.after if result.status is Status.CONVERTED else b"")


def _with_source(result: FileResult, data: bytes) -> FileResult:
    """The result with the text before and after, wherever it came from."""
    return replace(
        result,
        findings=list(result.findings),
        before=data,
        after=result.after if result.status is Status.CONVERTED else data,  # not a second copy of the same bytes
    )


def _lightened(result: FileResult) -> FileResult:
    """The result without the text where the report has nothing to show in it, so that large projects fit into memory."""
    if not result.findings and not result.edits:
        result.before = result.after = b""
    result.apis = [replace(use, name=intern(use.name), rule=intern(use.rule), note=intern(use.note)) for use in result.apis]
    return result
