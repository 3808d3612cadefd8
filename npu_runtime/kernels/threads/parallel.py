"""One pool of worker threads for the process; numpy and BLAS release the GIL, so pieces of one kernel run side by side.

The pieces of a range depend on its length and grain only, never on the number of threads: results are the same on any
machine size as long as a body computes its own piece from its arguments.

From the import of this module on, BLAS runs on one thread in this process: its own threads and these would only get in
each other's way. A large product gets its threads from here (see `matmul`).
"""

from __future__ import annotations

import itertools
import math
import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import scipy.special  # noqa: F401  # its BLAS must be loaded when its threads are counted below
from threadpoolctl import ThreadpoolController

from npu_runtime.device import float_status
from npu_runtime.device.denormals import flush_in_this_thread
from npu_runtime.device.memory import allocate

Body = Callable[[int, int], object]
MAX_THREADS = 16
"""Worker threads of the process, at most."""


# For good: switching for each section would be a race between sessions, as BLAS keeps one number for all.
# numpy and scipy bring a BLAS each, and both are loaded by now.
ThreadpoolController().select(user_api="blas").limit(limits=1)


def blas_architecture() -> str:
    """The processors that numpy's BLAS has chosen its kernels for, as it names them; "" where it does not tell."""
    found = ThreadpoolController().select(user_api="blas").info()
    return str(found[0].get("architecture") or "") if found else ""


def processor_vendor() -> str:
    """The name of the processor's maker, "AuthenticAMD" or "GenuineIntel"; "" where Linux does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("vendor_id")), "")


class Helped(Protocol):
    """Work that a thread with nothing else to do can take part in."""

    def help(self) -> None:
        """Do what is left of it, if anything is; errors go to the one who asked."""


class Call(Protocol):
    """A call under way on a worker, whose end another thread may wait for."""

    def share(self, section: Helped | None) -> None:
        """Let that thread take part in a section that begins; None when it has ended."""


class _Job:
    """One call of `parallel_ranges`: pieces are taken by whoever is free; the caller takes part and so never starves."""

    __slots__ = ("_body", "_error", "_idle", "_is_closed", "_lock", "_n", "_n_helpers", "_n_pieces", "_status", "_ticket")

    def __init__(self, n: int, n_pieces: int, body: Body) -> None:
        self._n, self._n_pieces, self._body = n, n_pieces, body
        self._ticket = itertools.count()
        self._status = float_status.current()
        self._lock = threading.Lock()
        self._idle = threading.Lock()
        self._n_helpers = 0
        self._is_closed = False
        self._error: BaseException | None = None

    def run(self) -> None:
        """Takes pieces on the calling thread, then waits for those who still hold one."""
        try:
            self._take_pieces()
        finally:
            with self._lock:
                self._is_closed = True
                must_wait = self._n_helpers > 0
                if must_wait:
                    self._idle.acquire()
            if must_wait:
                self._idle.acquire()
            del self._body  # the queue may hold this job for a while, and a body keeps arrays alive
        if self._error is not None:
            raise self._error

    def help(self) -> None:
        """Takes pieces on a worker; does nothing when the caller has finished already."""
        with self._lock:
            if self._is_closed:
                return
            self._n_helpers += 1
        float_status.adopt(self._status)
        try:
            self._take_pieces()
        except BaseException as error:  # handed to the caller
            self._error = self._error or error
        finally:
            with self._lock:
                self._n_helpers -= 1
                if self._is_closed and self._n_helpers == 0:
                    self._idle.release()

    def _take_pieces(self) -> None:
        _thread.is_inside = True
        try:
            while (piece := next(self._ticket)) < self._n_pieces and self._error is None:
                self._body(piece * self._n // self._n_pieces, (piece + 1) * self._n // self._n_pieces)
        except BaseException as error:
            self._error = self._error or error
            raise
        finally:
            _thread.is_inside = False


class _Thread(threading.local):
    is_inside = False
    """Whether this thread runs a body now: a nested call runs inline."""
    n_sections = 0
    """Ranges shared with others."""
    call: Call | None = None
    """The call that this thread, a worker, runs as a whole."""

    def __init__(self) -> None:
        self.scratch: dict[str, np.ndarray] = {}
        self.views: dict[str, np.ndarray] = {}
        """The last view by name: tiles of one size follow each other."""


_thread = _Thread()


class _Pool:
    """n_threads counts the calling thread, so n_threads - 1 workers are started."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._jobs: queue.SimpleQueue[Helped | None] = queue.SimpleQueue()
        for index in range(n_threads - 1):
            threading.Thread(target=self._work, name=f"npu-worker-{index}", daemon=True).start()

    def run(self, job: _Job, n_pieces: int) -> None:
        """Do a job on this thread and on others that are free; of a worker's, also on the one that waits for its call."""
        call = _thread.call
        for _ in range(min(self.n_threads - (call is not None), n_pieces) - 1):
            self._jobs.put(job)
        if call is None:
            job.run()
        else:
            call.share(job)
            job.run()
            call.share(None)

    def offer(self, work: Helped) -> None:
        """Give work to the next worker that is free, if there are workers."""
        if self.n_threads > 1:
            self._jobs.put(work)

    def stop(self) -> None:
        for _ in range(self.n_threads - 1):
            self._jobs.put(None)

    def _work(self) -> None:
        flush_in_this_thread()
        np.seterr(all="ignore")  # per thread in numpy; TensorFlow's kernels do not warn either
        while (job := self._jobs.get()) is not None:
            job.help()
            del job  # the body keeps arrays alive


_pool: _Pool | None = None
_pool_lock = threading.Lock()


def _forget_pool() -> None:
    """Forget the workers in the child of a fork: threads do not survive it, and a lock may be held by one of them."""
    global _pool, _pool_lock, _thread
    _pool, _pool_lock, _thread = None, threading.Lock(), _Thread()


os.register_at_fork(after_in_child=_forget_pool)


def _current_pool() -> _Pool:
    global _pool
    with _pool_lock:
        if _pool is None:
            _pool = _Pool(min(_n_processors(), MAX_THREADS))
        return _pool


def _n_processors() -> int:
    """Number of processors that this process may use; systems without affinity count them all."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def n_threads() -> int:
    """The number of threads that work on one range, the calling one included."""
    return (_pool or _current_pool()).n_threads


def set_n_threads(count: int) -> None:
    """Use `count` threads from now on, 1: no worker; ranges under way finish on the threads they have."""
    global _pool
    if count < 1:
        raise ValueError(f"at least one thread is needed, got {count}")
    with _pool_lock:
        if _pool is not None:
            _pool.stop()
        _pool = _Pool(count)


def fair(n_pieces: int, most: int) -> int:
    """One piece more where there are several and an odd number: three take two threads as long as four.  most: pieces."""
    return min(n_pieces + n_pieces % 2, most) if n_pieces > 1 else n_pieces


def parallel_ranges(n: int, body: Body, grain: int = 1) -> None:
    """Run body(start, stop) over [0, n) in pieces of about `grain`, side by side; returns when all are done.

    A range of no more than `grain` is one call on this thread. A call from inside a body runs on its own thread.
    Pieces may run in any order and must write to separate places. The first exception is raised here, after every
    piece under way has ended; pieces not begun by then are left out.
    """
    n_pieces = fair(-(-n // max(grain, 1)), n)
    if n_pieces <= 1:
        if n > 0:
            body(0, n)
    elif _thread.is_inside:
        for piece in range(n_pieces):
            body(piece * n // n_pieces, (piece + 1) * n // n_pieces)
    else:
        _thread.n_sections += 1
        (_pool or _current_pool()).run(_Job(n, n_pieces, body), n_pieces)


def n_sections() -> int:
    """The number of ranges that this thread has shared with others so far."""
    return _thread.n_sections


def is_alone() -> bool:
    """Whether ranges of this thread run on it alone, as it is inside of another one's piece or of what `alone` gives."""
    return _thread.is_inside


def alone(function: Callable[..., None]) -> Callable[..., None]:
    """The same, all of whose ranges run on the thread that calls it."""

    def run(*arguments: Any) -> None:
        was_inside, _thread.is_inside = _thread.is_inside, True
        try:
            function(*arguments)
        finally:
            _thread.is_inside = was_inside

    return run


def offer(work: Helped) -> None:
    """Let the next worker that is free take part in some work; nobody may come."""
    (_pool or _current_pool()).offer(work)


@contextmanager
def working_for(call: Call) -> Iterator[None]:
    """Note that this thread, a worker, is at a call that another thread may be waiting for."""
    _thread.call = call
    try:
        yield
    finally:
        _thread.call = None


def scratch(name: str, shape: tuple[int, ...], dtype: np.dtype | type = np.float32) -> np.ndarray:
    """An uninitialised array that belongs to this thread and `name` until the next request for it: no page faults.

    Never to be returned from a kernel, nor shared between two uses that are alive at once under one name.
    """
    last = _thread.views.get(name)
    if last is not None and last.shape == shape and last.dtype == dtype:
        return last
    dtype = np.dtype(dtype)
    n_bytes = dtype.itemsize * math.prod(shape)
    buffer = _thread.scratch.get(name)
    if buffer is None or buffer.nbytes < n_bytes:
        buffer = _thread.scratch[name] = allocate(n_bytes)
    view = _thread.views[name] = buffer[:n_bytes].view(dtype).reshape(shape)
    return view
