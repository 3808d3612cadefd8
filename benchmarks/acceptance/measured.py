"""Runs a command and says what it cost: seconds, processor time of it and its workers, memory of all of them together."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

_SECONDS_BETWEEN_SAMPLES = 0.25


@dataclass(frozen=True)
class Cost:
    """The cost of a command. peak_bytes: most resident memory of all its processes at one moment, shared pages counted once."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    code: int
    stdout: str
    stderr: str


def run(
    command: list[str], *, cache: Path | None = None, cwd: Path | None = None, stdin: Path | None = None, weighs: bool = True
) -> Cost:
    """Run `command` to its end. cache: folder that stands for the user's cache; stdin: file to read from.

    weighs: look at its memory; that stops its processes for a moment each time.
    """
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    if cache is not None:
        environment["XDG_CACHE_HOME"] = str(cache)
    started, before = time.monotonic(), os.times()
    with open(stdin or os.devnull, "rb") as given:
        process = subprocess.Popen(
            command, env=environment, cwd=cwd, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        sampler = _Sampler(process.pid)
        if weighs:
            sampler.start()
        stdout, stderr = process.communicate()
        if weighs:
            sampler.stop()
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Cost(time.monotonic() - started, cpu, sampler.peak, process.returncode, stdout, stderr)


class _Sampler(threading.Thread):
    """Looks at the memory of a process and its descendants again and again (Linux; elsewhere it sees nothing)."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self._root = root
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(_SECONDS_BETWEEN_SAMPLES):
            self.peak = max(self.peak, sum(_resident(pid) for pid in _family(self._root)))

    def stop(self) -> None:
        self._ended.set()
        self.join()


def _family(root: int) -> list[int]:
    found, todo = [], [root]
    while todo:
        pid = todo.pop()
        found.append(pid)
        try:
            for task in Path(f"/proc/{pid}/task").iterdir():
                todo += map(int, (task / "children").read_text().split())
        except OSError:
            continue  # ended meanwhile
    return found


def _resident(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        return 0  # ended meanwhile
    return 0
