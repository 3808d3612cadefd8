"""Spread per-file work over processes; results come back in the order of the files, whatever finishes first."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from npu_formats.files.orphaned_workers import watch_main_process

Job = tuple[str, bytes]  # path, content
Work = Callable[..., Any]  # work(path, data, *shared), importable by name

_CHUNK_BYTES = 64 << 10
"""Bytes of source that a worker takes at a time: small, so that no worker is left with a long rest at the end."""
_BYTES_WORTH_A_WORKER = 150 << 10
"""Bytes of source from which on a further process saves more than it costs to start."""


@dataclass(frozen=True)
class Crash:
    """The work on one file ended in a way it never should; the other files are not affected."""

    path: str
    error: str
    details: str


def default_jobs() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def worth_starting(jobs: int, total_bytes: int) -> int:
    """The number of worker processes, at most `jobs`, that pay for their start with this much source; 1: in this process."""
    return max(1, min(jobs, 1 + total_bytes // _BYTES_WORTH_A_WORKER))


def run(work: Work, jobs: Iterable[Job], shared: tuple[Any, ...], n_workers: int) -> Iterator[Any]:
    """Yield `work(path, data, *shared)` or a Crash for each job, in order."""
    if n_workers <= 1:
        yield from _run_here(work, jobs, shared)
        return
    pool = _Pool(work, shared, n_workers)
    try:
        yield from pool.results(_chunks(jobs))
    finally:
        pool.stop()


def apart(work: Callable[..., Any], *arguments: Any) -> Any:
    """`work(*arguments)` in a process of its own, whose memory ends with it. Raises: BrokenProcessPool when that dies."""
    with ProcessPoolExecutor(1, _context(), _start_worker, (work, arguments)) as executor:
        return executor.submit(_run_apart).result()


def _run_here(work: Work, jobs: Iterable[Job], shared: tuple[Any, ...]) -> Iterator[Any]:
    was_enabled = gc.isenabled()
    gc.disable()  # as in the workers: see _start_worker
    try:
        for number, (path, data) in enumerate(jobs):
            yield _guarded(work, path, data, shared)
            if number % 32 == 31:
                gc.collect(0)  # what a file leaves behind is young
    finally:
        if was_enabled:
            gc.enable()


def _guarded(work: Work, path: str, data: bytes, shared: tuple[Any, ...]) -> Any:
    try:
        return work(path, data, *shared)
    except Exception as error:  # a bug of ours in one file must not cost the others
        return Crash(path, f"{type(error).__name__}: {error}", traceback.format_exc())


def _chunks(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    chunk: list[Job] = []
    size = 0
    for job in jobs:
        chunk.append(job)
        size += len(job[1])
        if size >= _CHUNK_BYTES or len(chunk) >= 64:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


_shared_in_worker: tuple[Work, tuple[Any, ...]]


def _start_worker(work: Work, shared: tuple[Any, ...]) -> None:
    global _shared_in_worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the main process's to handle
    _shared_in_worker = (work, shared)
    watch_main_process()
    # What came from the main process is never garbage: looking at it would make copies of its memory. Syntax trees are so
    # many objects that looking for cycles while one is built costs a tenth of the time.
    gc.freeze()
    gc.disable()


def _run_apart() -> Any:
    work, arguments = _shared_in_worker
    return work(*arguments)


def _run_chunk(chunk: list[Job]) -> list[Any]:
    work, shared = _shared_in_worker
    done = [_guarded(work, path, data, shared) for path, data in chunk]
    gc.collect(0)
    return done


class _Pool:
    """A process pool that outlives the death of a worker: the file that killed it is named, the rest is done again."""

    def __init__(self, work: Work, shared: tuple[Any, ...], n_workers: int) -> None:
        self._setup = (work, shared)
        self._n_workers = n_workers
        self._executor = self._new_executor(n_workers)

    def results(self, chunks: Iterator[list[Job]]) -> Iterator[Any]:
        """A few chunks are under way at a time, so that memory stays bounded however large the project is."""
        under_way: deque[tuple[list[Job], Future[list[Any]]]] = deque()
        for chunk in chunks:
            under_way.append((chunk, self._submit(chunk)))
            if len(under_way) >= 3 * self._n_workers:
                yield from self._collect(*under_way.popleft())
        while under_way:
            yield from self._collect(*under_way.popleft())

    def stop(self) -> None:
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _submit(self, chunk: list[Job]) -> Future[list[Any]]:
        try:
            return self._executor.submit(_run_chunk, chunk)
        except BrokenProcessPool:
            self._executor = self._new_executor(self._n_workers)
            return self._executor.submit(_run_chunk, chunk)

    def _collect(self, chunk: list[Job], future: Future[list[Any]]) -> list[Any]:
        try:
            return future.result()
        except BrokenProcessPool:
            return [self._alone(job) for job in chunk]

    def _alone(self, job: Job) -> Any:
        """One file in a process of its own: what kills that process is this file's doing."""
        with self._new_executor(1) as executor:
            try:
                return executor.submit(_run_chunk, [job]).result()[0]
            except BrokenProcessPool:
                return Crash(job[0], "the process that worked on it died (out of memory?)", "")

    def _new_executor(self, n_workers: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(n_workers, _context(), _start_worker, self._setup)


def _context() -> multiprocessing.context.BaseContext:
    """Forked workers share what this process has imported; with threads about, forking is not safe."""
    can_fork = "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1
    return multiprocessing.get_context("fork" if can_fork else "spawn")
