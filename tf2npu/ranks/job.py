"""``tf2npu run --devices N``: the same script in N processes, each a rank with a simulated device of its own."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from threading import Thread
from typing import IO, TextIO

LOOK_SECONDS = 0.05
"""Between two looks at which ranks have ended."""
GRACE_SECONDS = 10.0
"""For the other ranks to say what they have to say when one has failed, before they are stopped."""
IN_MEMORY = "/dev/shm"
"""Where Linux keeps files in memory."""
ENOUGH_BYTES = 2 << 30
PREFIX = "tf2npu-ranks-"
FRESH_SECONDS = 60.0
"""A folder that is younger may be about to be locked by who has made it."""
ALONE = (
    "the ranks called no collective operation: each has worked for itself; tf2npu convert --distributed makes them train together"
)
_PROGRAM = "import sys; sys.path[0] = sys.prefix; from tf2npu.cli import main; main()"
"""As the installed command: nothing in the current folder takes the place of a library."""


def run_ranks(words: Sequence[str], n_ranks: int, report: Path | None) -> int:
    """Run the ranks and wait for them all; the exit code of the first one that fails, else 0.

    words: what follows `tf2npu run` for each rank.  report: folder of the report that rank 0 puts the run into.
    """
    collectives = importlib.import_module("npu_runtime.collectives.coordinator")
    with _shared_folder(Path(_fast_folder() or tempfile.gettempdir())) as folder:
        coordinator = collectives.Coordinator(folder)
        shared = {collectives.ADDRESS_VARIABLE: coordinator.address, **_rank_table(folder, n_ranks)}
        ranks = [_Rank(number, n_ranks, [*_reporting(report, number), *words], shared) for number in range(n_ranks)]
        try:
            with _forwarding(ranks):
                code = _wait(ranks, coordinator.leave)
            if not code and not coordinator.was_called:
                print(f"tf2npu run: {ALONE}", file=sys.stderr)
            return code
        finally:
            for rank in ranks:
                rank.stop(signal.SIGKILL)
            coordinator.close()


def why_not() -> str | None:
    """What in the environment keeps several ranks from starting."""
    text = os.environ.get("HCCL_EXEC_TIMEOUT") or "1"
    is_number = text.isascii() and text.replace(".", "", 1).isdigit()
    return None if is_number else f"HCCL_EXEC_TIMEOUT={text}: write a number of seconds"


def _fast_folder() -> str | None:
    """Where files are memory, if there is enough; containers have 64 MB there unless told otherwise."""
    has_room = os.path.isdir(IN_MEMORY) and shutil.disk_usage(IN_MEMORY).free >= ENOUGH_BYTES
    return IN_MEMORY if has_room else None


@contextmanager
def _shared_folder(place: Path) -> Iterator[Path]:
    """A folder for this run's files, gone behind it; those of runs whose launcher was killed go now."""
    _sweep(place)
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=place) as name:
        lock = _locked(Path(name))
        try:
            yield Path(name)
        finally:
            if lock is not None:
                os.close(lock)


def _sweep(place: Path) -> None:
    for folder in place.glob(f"{PREFIX}*"):
        with suppress(OSError):  # gone meanwhile
            is_old = time.time() - folder.stat().st_mtime > FRESH_SECONDS
            if is_old and (lock := _locked(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _locked(folder: Path) -> int | None:
    """A descriptor that keeps a folder ours until it is closed or this process ends; None where it is somebody else's."""
    try:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _reporting(report: Path | None, number: int) -> list[str]:
    return ["--report", str(report)] if report is not None and number == 0 else []


def _rank_table(folder: Path, n_ranks: int) -> dict[str, str]:
    """A rank table for scripts that read one, unless the user has set theirs.

    Source: layout 1.0 of the rank table in HCCL's documentation.
    """
    if os.environ.get("RANK_TABLE_FILE"):
        return {}
    devices = [{"device_id": str(i), "device_ip": f"192.168.100.{100 + i}", "rank_id": str(i)} for i in range(n_ranks)]
    table = {
        "version": "1.0", "status": "completed", "server_count": "1",
        "server_list": [{"server_id": "127.0.0.1", "device": devices}],
    }  # fmt: skip
    path = folder / f"{n_ranks}p.json"
    path.write_text(json.dumps(table, indent=1), encoding="utf-8")
    return {"RANK_TABLE_FILE": str(path)}


class _Rank:
    """One process.  Rank 0 has the terminal; what the others print has their number in front of each line."""

    def __init__(self, number: int, n_ranks: int, words: Sequence[str], shared: Mapping[str, str]) -> None:
        self.number = number
        own = dict.fromkeys(("RANK_ID", "DEVICE_ID", "ASCEND_DEVICE_ID", "DEVICE_INDEX"), str(number))
        environment = {"JOB_ID": "1", **os.environ, **shared, **own, "RANK_SIZE": str(n_ranks)}
        environment.pop("CM_WORKER_SIZE", None)  # says the same as RANK_SIZE, and both are an error
        command = [sys.executable, "-c", _PROGRAM, "run", *words]
        if number == 0:
            self.process = subprocess.Popen(command, env=environment)
        else:
            environment["PYTHONUNBUFFERED"] = "1"  # as a terminal would show it
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe)
        self._printing = [
            Thread(target=_print_lines, args=(source, target, number), daemon=True)
            for source, target in ((self.process.stdout, sys.stdout), (self.process.stderr, sys.stderr))
            if source is not None
        ]
        for thread in self._printing:
            thread.start()
        _share_cores(self.process.pid, number, n_ranks)

    def exit_code(self) -> int | None:
        """As a shell has it, None while the process runs; then all of its output is printed."""
        code = self.process.poll()
        if code is None:
            return None
        for thread in self._printing:
            thread.join()
        return code if code >= 0 else 128 - code

    def stop(self, kind: int) -> None:
        """Send a signal, if the process is there to get it."""
        if self.process.poll() is None:
            self.process.send_signal(kind)


def _print_lines(source: IO[bytes], target: TextIO, number: int) -> None:
    for line in source:
        target.write(f"[rank {number}] {line.decode('utf-8', 'replace').rstrip()}\n")
        target.flush()


def _share_cores(process: int, number: int, n_ranks: int) -> None:
    """Give each rank its part of the cores, so that their threads do not wait for each other's."""
    if not hasattr(os, "sched_setaffinity"):
        return
    cores = sorted(os.sched_getaffinity(0))
    mine = cores[number::n_ranks] or [cores[number % len(cores)]]
    try:
        os.sched_setaffinity(process, mine)
    except OSError:  # it has ended already
        return


@contextmanager
def _forwarding(ranks: Sequence[_Rank]) -> Iterator[None]:
    """Hand on what asks this process to end.

    A terminal's interrupt reaches the ranks anyway, but not a rank that waits for another in the middle of an update:
    the second one ends them.
    """
    interrupts = count(1)

    def hand_on(number: int, _: object) -> None:
        if number == signal.SIGTERM or next(interrupts) > 1:
            for rank in ranks:
                rank.stop(signal.SIGTERM)

    before = {number: signal.signal(number, hand_on) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _wait(ranks: Sequence[_Rank], leave) -> int:
    """Until all have ended. leave(rank, why): told of each, so that nobody waits for it."""
    running, failed, deadline = list(ranks), 0, float("inf")
    while running:
        time.sleep(LOOK_SECONDS)
        for rank in list(running):
            code = rank.exit_code()
            if code is None:
                continue
            running.remove(rank)
            leave(rank.number, f"has ended with exit code {code}")
            if code and not failed:
                failed, deadline = code, time.monotonic() + GRACE_SECONDS
                print(f"tf2npu run: rank {rank.number} has ended with exit code {code}", file=sys.stderr)
        if time.monotonic() > deadline and running:
            names = ", ".join(str(rank.number) for rank in running)
            print(f"tf2npu run: stopping rank {names}", file=sys.stderr)
            deadline = time.monotonic() + GRACE_SECONDS
            for rank in running:
                rank.stop(signal.SIGTERM)
    return failed
