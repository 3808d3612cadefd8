"""Searches side by side, each process with one at a time.

The processes are new ones and not forks, since a fork of a process with TensorFlow's threads may hang; and they are started
with a program of their own, since `multiprocessing` would run the user's script again in them.  Threads would not do: most of a
search is Python.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType

import msgspec

from npu_formats.device.chip import Chip
from npu_runtime.cost.core_task import CoreWork
from npu_runtime.cost.tiling import Tiling
from npu_runtime.cost.vector_schedule import VectorSchedule
from npu_runtime.errors import Internal, InvalidArgument, ResourceExhausted
from npu_runtime.observers.tuning.search.found import Found

GA, RL = "GA", "RL"
MODES = {"GA": (GA,), "RL": (RL,), "RL,GA": (RL, GA), "GA,RL": (RL, GA)}
"""Kinds of searches by the mode that a user gives: GA for products, RL for vector tasks."""
_BOOT = f"import sys; sys.path[:] = sys.argv[1:]; from {__name__} import answer_searches; answer_searches()"
"""The program of a process. It looks for modules where its parent does, and not in the folder that it happens to be in."""
_PATIENCE_SECONDS = 30.0
"""Time past the limit after which a process is ended: starting one takes half a second on a busy machine."""


class Job(msgspec.Struct, frozen=True):
    """One search.  seconds: how long it may take, none for no limit.  effort: as `tune_all` takes it."""

    work: CoreWork
    chip: Chip
    seconds: float | None
    effort: int


class Answer(msgspec.Struct, frozen=True):
    """The result of a search: a tiling or a schedule.  is_cut: whether time ran out before it had ended."""

    tiling: Tiling | None
    schedule: VectorSchedule | None
    us: float
    default_us: float
    rounds: tuple[float, ...]
    evaluations: int
    is_cut: bool


def tune_all(
    works: Sequence[CoreWork], chip: Chip, mode: str, workers: int, seconds: float | None = None, effort: int = 1
) -> list[Found | None]:  # fmt: skip
    """The results of the searches of works, in the order of the works, whatever the number of workers.

    None for work whose kind is not in the mode, and for work whose search had not ended after so many seconds. Equal works are
    searched once.  effort: so many times the usual number of evaluations.  Raises: InvalidArgument for an unknown mode or no
    worker; Internal when a process ends by itself; ResourceExhausted when the system starts no process or thread.
    """
    if mode not in MODES:
        raise InvalidArgument(f"no mode of tuning is called {mode!r}: give one of {', '.join(MODES)}")
    if workers < 1:
        raise InvalidArgument(f"tuning needs one worker at least, not {workers}")
    kinds = MODES[mode]
    wanted = list(dict.fromkeys(work for work in works if (RL if work.product is None else GA) in kinds))
    found = _search(wanted, chip, workers, None if seconds is None else time.monotonic() + seconds, effort)
    return [found.get(work) for work in works]


def _search(works: Sequence[CoreWork], chip: Chip, workers: int, end: float | None, effort: int) -> dict[CoreWork, Found]:
    """The results of different works by work."""
    waiting: queue.SimpleQueue[CoreWork] = queue.SimpleQueue()
    for work in works:
        waiting.put(work)
    found: dict[CoreWork, Found] = {}
    failed: list[BaseException] = []

    def serve() -> None:
        try:
            _serve(waiting, chip, end, effort, found)
        except BaseException as error:  # told by the thread that waits
            failed.append(error)

    threads = [threading.Thread(target=serve, daemon=True) for _ in range(min(workers, len(works)))]
    try:
        for thread in threads:
            _start(thread)
        for thread in threads:
            thread.join()
    finally:  # after an interrupt no thread begins another search
        while not waiting.empty():
            waiting.get()
    if failed:
        raise failed[0]
    return found


def _start(thread: threading.Thread) -> None:
    """Raises: ResourceExhausted."""
    try:
        thread.start()
    except RuntimeError as error:
        raise ResourceExhausted(
            f"no thread can be started ({error}): end other programs, or raise the limit of processes"
        ) from None


def _serve(
    waiting: queue.SimpleQueue[CoreWork], chip: Chip, end: float | None, effort: int, found: dict[CoreWork, Found]
) -> None:  # fmt: skip
    """Gives the waiting searches to one process, until none is left or time is up."""
    with _Process() as process:
        while True:
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0.0:
                return
            try:
                work = waiting.get_nowait()
            except queue.Empty:
                return
            answer = process.search(Job(work, chip, left, effort))
            if answer is not None and not answer.is_cut:
                found[work] = _found(answer)


class _Process:
    """A process that searches.  Raises: ResourceExhausted where the system starts none."""

    def __init__(self) -> None:
        try:
            command = [sys.executable or "", "-c", _BOOT, *(entry or os.getcwd() for entry in sys.path)]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise ResourceExhausted(
                f"no process can be started ({error.strerror or error}): see that memory and the limit of processes suffice, and "
                "that the interpreter and the current folder are still there"
            ) from None

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.communicate()

    def search(self, job: Job) -> Answer | None:
        """The answer to a job, None when it does not come in time.

        Raises: Internal when the process has ended; ResourceExhausted when no clock can be started for it.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        alarm = threading.Timer(0.0 if job.seconds is None else job.seconds + _PATIENCE_SECONDS, self._process.kill)
        alarm.daemon = True
        if job.seconds is not None:
            _start(alarm)
        try:
            self._process.stdin.write(msgspec.json.encode(job) + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = b""
        finally:
            is_late = job.seconds is not None and not alarm.is_alive()
            alarm.cancel()
        if not line and not is_late:
            raise Internal(f"a process that tunes has ended with {self._process.wait()}: look above for why, and run again")
        return msgspec.json.decode(line, type=Answer) if line else None


def _found(answer: Answer) -> Found:
    """An answer without what only its sender needs."""
    choice = answer.tiling or answer.schedule
    assert choice is not None
    return Found(choice, answer.us, answer.default_us, answer.rounds, answer.evaluations)


def answer_searches() -> None:
    """Reads jobs from standard input, a line each, and writes an answer for each: the program of a process.

    An interrupt from the keyboard is its parent's affair, which ends it.  It ends by itself when its parent is gone.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin.buffer:
        answer = msgspec.json.encode(_answer(msgspec.json.decode(line, type=Job)))
        try:
            sys.stdout.buffer.write(answer + b"\n")
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            os._exit(1)  # without the flush at exit, which would complain of the same pipe


def _answer(job: Job) -> Answer:
    """Searches one work."""
    end = None if job.seconds is None else time.monotonic() + job.seconds
    is_cut = False

    def is_out_of_time() -> bool:
        nonlocal is_cut
        is_cut = is_cut or (end is not None and time.monotonic() >= end)
        return is_cut

    found = _tune(job, is_out_of_time)
    choice = found.choice
    tiling, schedule = (choice, None) if isinstance(choice, Tiling) else (None, choice)
    return Answer(tiling, schedule, found.us, found.default_us, found.rounds, found.evaluations, is_cut)


def _tune(job: Job, is_out_of_time: Callable[[], bool]) -> Found:
    """The search for the work's kind."""
    if job.work.product is None:
        from npu_runtime.observers.tuning.search import vector_search

        most = vector_search.MOST_EVALUATIONS * job.effort
        return vector_search.tune_vector(job.work, job.chip, evaluations=most, is_out_of_time=is_out_of_time)
    from npu_runtime.observers.tuning.search import genetic

    most = genetic.MOST_EVALUATIONS * job.effort
    return genetic.tune_product(job.work, job.chip, evaluations=most, is_out_of_time=is_out_of_time)
