"""`tf2npu run LAUNCHER.sh`: a shell script of a host that starts its ranks itself, with the simulated device under `python3`."""

from __future__ import annotations

import os
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tf2npu.files.temporary import temporary_folder
from tf2npu.ranks import interpreter
from tf2npu.report.visible import visible

SUFFIX = ".sh"
"""How the name of a script ends that bash runs."""
NAMES = ("python", "python3", *(f"python3.{minor}" for minor in range(5, 13)), "python3.7.5")
"""What launchers call Python; 3.7.5 is the version that CANN's documentation installed."""
LOOK_SECONDS = 0.1
"""Seconds between two looks at which processes have ended."""
BEGIN_SECONDS = 5.0
"""Seconds in which a process that was started has noted that it has begun, on a machine with eight others; usually 0.1."""
_MOST_BYTES = 4096
"""Of a note: it has two short lines."""


@dataclass(frozen=True)
class _Noted:
    """A process that the launcher has started.  rank: its RANK_ID.  code: None while it runs."""

    number: int
    rank: str
    code: int | None

    @property
    def name(self) -> str:
        return f"rank {visible(self.rank)}" if self.rank else f"process {self.number}"


def run_launcher(script: Path, words: Sequence[str]) -> int:
    """Run the script with bash in the current folder until it and all that it has started as `python` have ended.

    Returns the script's exit code if it is not 0, else that of the first rank that has failed: launchers do not look.
    """
    with temporary_folder() as folder:
        names, notes = folder / "bin", folder / "notes"
        for place in (names, notes):
            place.mkdir()
        _write_interpreters(names, notes)
        path = os.pathsep.join([str(names), os.environ.get("PATH", os.defpath)])
        held, holds = os.pipe()
        environment = {**os.environ, "PATH": path}
        process = subprocess.Popen(["bash", str(script), *words], env=environment, pass_fds=(holds,))
        os.close(holds)
        with _handing_on(process, notes), os.fdopen(held, "rb"):
            code = process.wait()
            _wait_for_all(notes, held)
        failed = [one for one in _noted(notes) if one.code]
        for one in failed:
            print(f"tf2npu run: {one.name} has ended with exit code {one.code}", file=sys.stderr)
        return (code if code >= 0 else 128 - code) or (failed[0].code or 0 if failed else 0)


def _wait_for_all(notes: Path, held: int) -> None:
    """For what a script without a `wait` has left running.

    held: the end of a pipe whose other end the script has given to all it has started, so that it is readable when these have
    ended.  Other programs than Python are not waited for, but for as long as a process takes to begin.
    """
    begun = time.monotonic()
    while not select.select([held], [], [], LOOK_SECONDS)[0]:
        if time.monotonic() - begun > BEGIN_SECONDS and all(one.code is not None for one in _noted(notes)):
            return


def _write_interpreters(names: Path, notes: Path) -> None:
    words = (sys.executable, "-I", interpreter.__file__, str(notes))
    text = f'#!/bin/sh\nexec {" ".join(map(shlex.quote, words))} "$@"\n'
    for name in NAMES:
        (names / name).write_text(text, "utf-8")
        (names / name).chmod(0o700)


def _noted(notes: Path) -> list[_Noted]:
    """Every process that has begun, by its number; one that was killed before it could note its end has 137."""
    found = []
    for path in sorted((path for path in notes.iterdir() if path.name.isdecimal()), key=lambda path: int(path.name)):
        with path.open(encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read(_MOST_BYTES).splitlines()
        code = int(lines[1]) if len(lines) > 1 else None
        found.append(
            _Noted(int(path.name), lines[0], code if code is not None or _is_there(int(path.name)) else 128 + signal.SIGKILL)
        )
    return found


def _is_there(number: int) -> bool:
    try:
        os.kill(number, 0)
    except OSError:
        return False
    return True


@contextmanager
def _handing_on(process: subprocess.Popen[bytes], notes: Path) -> Iterator[None]:
    """What asks this process to end asks the script and its ranks too: bash starts these so that Ctrl-C passes them by."""

    def hand_on(number: int, _: object) -> None:
        for one in _noted(notes):
            if one.code is None:
                os.kill(one.number, signal.SIGTERM)
        process.send_signal(signal.SIGTERM)

    wanted = [number for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, hand_on) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
