"""One run on several devices: its ranks, and the coordinator that their collective operations go through."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path

from npu_formats.environment import TF2NPU_FRONTEND
from npu_formats.ranks.coordinator_request import LaunchedCoordinator
from npu_formats.ranks.shared_folder import shared_folder
from tf2npu.ranks.process import Process, Rank
from tf2npu.ranks.process_control import signals_to
from tf2npu.ranks.rank_output import Output
from tf2npu.ranks.rank_table import rank_table

LOOK_SECONDS = 0.05
"""Seconds between two looks at which ranks have ended."""
GRACE_SECONDS = 10.0
"""Seconds for ranks to say and save what they have to, before they are told to end, and again before they are killed."""
CANNOT_START = 2
"""Exit code where no rank has begun: that of a wrong command."""
TOGETHER = {
    "": "tf2npu convert --distributed makes them train together",
    "mindspore": "init() and set_auto_parallel_context(parallel_mode=ParallelMode.DATA_PARALLEL) make them train together",
}
"""The change by which ranks train together, by the front end of the program; "" for all that name none."""


def run_ranks(words: Sequence[str], n_ranks: int, report: Path | None) -> int:
    """Run the ranks of this machine and wait for them all; the exit code of the first one that fails, else 0.

    words: what follows `tf2npu run` for each rank.  report: folder of the report that rank 0 puts the run into.
    """
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(shared_folder())
            coordinator = LaunchedCoordinator(folder)
            stack.callback(coordinator.close)
            shared = {**coordinator.environment, **rank_table(folder, n_ranks)}
            job = _Job("rank", coordinator.leave)
            ranks = (Rank(i, n_ranks, [*_reporting(report, i), *words], shared, job.output) for i in range(n_ranks))
            job.start(ranks, stack)
        except OSError as error:
            print(f"tf2npu run: the ranks cannot be started: {error}", file=sys.stderr)
            return CANNOT_START
        code = job.wait()
        if not code and not coordinator.was_called():
            together = TOGETHER.get(os.environ.get(TF2NPU_FRONTEND, ""), TOGETHER[""])
            job.output.say(f"tf2npu run: the ranks called no collective operation: each has worked for itself; {together}")
    job.output.finish()
    return code


def run_ranks_of_server(
    words: Sequence[str], numbers: Sequence[int], n_ranks: int, shared: Mapping[str, str], report: Path | None
) -> int:
    """Run those of a job of several machines that are on this one; they meet the others by themselves.

    numbers: of these ranks.  n_ranks: of the job.  shared: variables of all of them.
    """

    def ranks(output: Output) -> Iterator[Rank]:
        for place, number in enumerate(numbers):
            yield Rank(number, n_ranks, [*_reporting(report, number), *words], shared, output, place)

    return run_processes("rank", ranks)


def run_processes(kind: str, started: Callable[[Output], Iterable[Process]]) -> int:
    """Run processes whose ranks have a coordinator elsewhere; the exit code of the first one that fails, else 0.

    kind: what messages call one of them.  started: starts them one by one.
    """
    with ExitStack() as stack:
        job = _Job(kind, lambda rank, why: None)  # the coordinator sees who hangs up
        try:
            job.start(started(job.output), stack)
        except OSError as error:
            print(f"tf2npu run: the ranks cannot be started: {error}", file=sys.stderr)
            return CANNOT_START
        code = job.wait()
    job.output.finish()
    return code


def why_not() -> str | None:
    """The reason that several ranks cannot start: no fork in the system, or HCCL_EXEC_TIMEOUT is no number; else None."""
    if not hasattr(os, "fork"):
        return "several devices need a Unix system"
    text = os.environ.get("HCCL_EXEC_TIMEOUT") or "1"
    is_number = text.isascii() and text.replace(".", "", 1).isdigit()
    return None if is_number else f"HCCL_EXEC_TIMEOUT={text}: write a number of seconds"


def _reporting(report: Path | None, number: int) -> list[str]:
    return ["--report", str(report)] if report is not None and number == 0 else []


class _Job:
    """The processes of a run until they have ended.

    kind: "rank" or "host".  leave(rank, why): told of each that has ended, so that nobody waits for it.
    """

    def __init__(self, kind: str, leave: Callable[[int, str], None]) -> None:
        self._kind, self._leave = kind, leave
        self._processes: list[Process] = []
        self._running: list[Process] = []
        self._deadline = float("inf")
        self._are_told = False
        self._interrupts = count(1)
        self.output = Output()

    def start(self, started: Iterable[Process], stack: ExitStack) -> None:
        """started: makes them.  stack: ends what is left of them.  Raises: OSError where a process cannot be made."""
        stack.enter_context(signals_to(self.hand_on))
        stack.callback(self.kill)
        for process in started:
            self._processes.append(process)
        self._running = list(self._processes)
        self.output.start()

    def wait(self) -> int:
        """Wait until all have ended.  Returns: the exit code of the first one that fails, else 0."""
        failed = 0
        while self._running:
            time.sleep(LOOK_SECONDS)
            for process in list(self._running):
                code = process.exit_code()
                if code is not None:
                    self._note_end(process, code)
                if code and not failed:
                    failed = code
                    self._stop_within_grace()
                    self.output.say(f"tf2npu run: {self._kind} {process.label} has ended with exit code {code}")
            if self._running and time.monotonic() > self._deadline:
                self._stop_the_late()
        return failed

    def _note_end(self, process: Process, code: int) -> None:
        """Nobody waits for what its children still hold open."""
        self._running.remove(process)
        self._leave(process.number, f"has ended with exit code {code}")
        self.output.over(process.process)

    def _stop_within_grace(self) -> None:
        self._deadline = min(self._deadline, time.monotonic() + GRACE_SECONDS)

    def _stop_the_late(self) -> None:
        names = ", ".join(process.label for process in self._running)
        if not self._are_told:
            self.output.say(f"tf2npu run: stopping {self._kind} {names}")
            self._tell_to_end()
            return
        self.output.say(f"tf2npu run: killing {self._kind} {names}")
        self._deadline = float("inf")
        for process in self._running:
            process.stop(signal.SIGKILL)

    def _tell_to_end(self) -> None:
        """Tell the processes to end. Those that are there after another while are killed, however often they are told."""
        for process in self._processes:
            process.stop(signal.SIGTERM)
        if not self._are_told:
            self._are_told = True
            self._deadline = time.monotonic() + GRACE_SECONDS

    def hand_on(self, number: int) -> None:
        """A signal that asks the launcher to end.

        A terminal's interrupt reaches the ranks anyway, but not a rank that waits for another in the middle of an update:
        the second one ends them.
        """
        if number != signal.SIGINT or next(self._interrupts) > 1:
            self._tell_to_end()

    def kill(self) -> None:
        """Whatever is left when this process goes on or fails."""
        for process in self._processes:
            process.kill()


__all__ = ["run_processes", "run_ranks", "run_ranks_of_server", "why_not"]
