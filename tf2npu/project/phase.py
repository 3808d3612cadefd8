"""A phase of a conversion: a function of each file, whose results come from the cache or from the workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tf2npu.project import workers
from tf2npu.project.cache import Cache
from tf2npu.project.sources import Sources
from tf2npu.project.walk import Entry

Progress = Callable[[str, int, int], None]
"""A function that shows the progress: it takes what is being done, the files that are done, and the files in all."""


def as_it_is(result: Any) -> Any:
    """A result in the form in which a phase gave it."""
    return result


@dataclass(frozen=True)
class Phase:
    """name: of its results in the cache.  work: the function.  label: for the bar.

    kind: the type that the cache holds.  stored: gives the form for the cache of a result.
    """

    name: str
    work: workers.Work
    label: str
    kind: type[Any]
    stored: Callable[[Any], Any] = as_it_is


class Phases:
    """Carries out phases over the files of a project.  cache: None where none is used.  jobs: workers at most."""

    def __init__(self, sources: Sources, cache: Cache | None, jobs: int, progress: Progress) -> None:
        self._sources, self._cache, self._most_jobs, self._progress = sources, cache, jobs, progress

    def each(
        self, phase: Phase, shared_key: bytes, shared: Callable[[], tuple[Any, ...]], entries: list[Entry]
    ) -> Iterator[tuple[str, Any]]:
        """(path, work(path, data, *shared())) of each readable entry.

        shared_key: stands for what `shared` returns, which is asked for only when something is missing in the cache.
        """
        keys: dict[str, bytes] = {}
        misses = []
        for entry in entries:
            data = self._sources.read(entry)
            if data is None:
                continue
            stored = None
            if self._cache is not None:
                keys[entry.path] = self._cache.key(phase.name, entry.path, data, shared_key)
                stored = self._cache.get(keys[entry.path], phase.kind)
            if stored is None:
                misses.append(entry)
            else:
                yield entry.path, stored
        n_done = len(entries) - len(misses)
        for path, result in self._fresh(phase.work, shared(), misses) if misses else ():
            n_done += 1
            self._progress(phase.label, n_done, len(entries))
            if self._cache is not None and not isinstance(result, workers.Crash):
                self._cache.put(keys[path], phase.stored(result))
            yield path, result

    def _fresh(self, work: workers.Work, shared: tuple[Any, ...], entries: list[Entry]) -> Iterator[tuple[str, Any]]:
        n_workers = workers.worth_starting(self._most_jobs, sum(entry.size for entry in entries))
        done: list[str] = []
        jobs = self._jobs(entries, done)
        for index, result in enumerate(workers.run(work, jobs, shared, n_workers)):
            yield done[index], result

    def _jobs(self, entries: list[Entry], paths: list[str]) -> Iterator[workers.Job]:
        """The entries with their bytes, read when they are needed; the paths really handed out are noted in `paths`."""
        for entry in entries:
            data = self._sources.read(entry)
            if data is not None:
                paths.append(entry.path)
                yield entry.path, data
