"""`tf2npu run LAUNCHER.sh`: a shell script of a host that starts its ranks itself, with the simulated device under `python3`."""

from __future__ import annotations

import os
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from npu_formats.escape import visible
from npu_formats.files.directory import Directory
from npu_formats.files.draft import replacing
from npu_formats.files.temporary import temporary_folder
from tf2npu.ranks import interpreter
from tf2npu.ranks.process_control import exit_code_of, signals_to

SUFFIX = ".sh"
"""Suffix of scripts that bash runs."""
NAMES = ("python", "python3", *(f"python3.{minor}" for minor in range(5, 13)), "python3.7.5")
"""Names of the Python interpreter in launchers. 3.7.5 is the version that CANN's documentation installs."""
LOOK_SECONDS = 0.2
"""Seconds between two looks at whether the script has ended."""
BEGIN_SECONDS = 5.0
"""Seconds in which a process that was started says that it has begun, on a machine with eight others; usually 0.1."""
KILLED = 128 + signal.SIGKILL
"""Exit code of a process that has ended without a word."""
_BLOCK_BYTES = 1 << 16


def run_launcher(script: Path, words: Sequence[str]) -> int:
    """Run the script with bash in the current folder until it and all that it has started as `python` have ended.

    Returns the script's exit code if it is not 0, else that of the first rank that has failed: launchers do not look.
    """
    with temporary_folder() as folder:
        heard, said = os.pipe()
        _write_interpreters(folder, said)
        path = os.pathsep.join([str(folder), os.environ.get("PATH", os.defpath)])
        process = subprocess.Popen(["bash", str(script), *words], env={**os.environ, "PATH": path}, pass_fds=(said,))
        os.close(said)
        started = _Started(heard)
        with signals_to(lambda _: _end(process, started)):
            started.wait_with(process)
    for number, code in started.failed.items():
        print(f"tf2npu run: {started.name(number)} has ended with exit code {code}", file=sys.stderr)
    return exit_code_of(process.returncode) or next(iter(started.failed.values()), 0)


class _Started:
    """The Python processes that a script has started, by what they say through a pipe that it hands down to them.

    heard: the pipe's other end, at whose end all that was started has ended.
    """

    def __init__(self, heard: int) -> None:
        self._heard = heard
        self._rest = b""
        self._ranks: dict[int, str] = {}
        self._codes: dict[int, int] = {}

    @property
    def running(self) -> list[int]:
        return [number for number in self._ranks if number not in self._codes]

    @property
    def failed(self) -> dict[int, int]:
        """Exit codes that are not 0, by the number of the process, in the order in which they ended."""
        return {number: code for number, code in self._codes.items() if code}

    def name(self, number: int) -> str:
        rank = self._ranks[number]
        return f"rank {visible(rank)}" if rank else f"process {number}"

    def wait_with(self, script: subprocess.Popen[bytes]) -> None:
        """Wait until the script has ended, and all that it left running.

        Other programs than Python are not waited for, but for as long as a process takes to begin.
        """
        patience = float("inf")
        while self._listen() or script.poll() is None:
            if script.poll() is None:
                continue
            self._note_the_killed()
            patience = min(patience, time.monotonic() + BEGIN_SECONDS)
            if not self.running and time.monotonic() > patience:
                break
        script.wait()
        self._note_the_killed()
        os.close(self._heard)

    def _listen(self) -> bool:
        """Hear what there is within a moment; False when all has ended that could say anything."""
        if not select.select([self._heard], [], [], LOOK_SECONDS)[0]:
            return True
        block = os.read(self._heard, _BLOCK_BYTES)
        *lines, self._rest = (self._rest + block).split(b"\n")
        for line in lines:
            number, code, rank = line.decode("utf-8", "replace").split(" ", 2)
            self._ranks[int(number)] = rank
            if code:
                self._codes[int(number)] = int(code)
        if not block:
            time.sleep(LOOK_SECONDS)
        return bool(block)

    def _note_the_killed(self) -> None:
        for number in self.running:
            try:
                os.kill(number, 0)
            except OSError:
                self._codes[number] = KILLED


def _write_interpreters(folder: Path, said: int) -> None:
    """An executable for each name by which a launcher may call Python.  said: the descriptor that these write to."""
    words = (sys.executable, "-I", interpreter.__file__, str(said))
    text = f'#!/bin/sh\nexec {" ".join(map(shlex.quote, words))} "$@"\n'
    with Directory.followed(folder) as names:
        for name in NAMES:
            with replacing(names, name, mode=0o700) as stream:
                stream.write(text.encode("utf-8", "surrogateescape"))


def _end(process: subprocess.Popen[bytes], started: _Started) -> None:
    """Ask the script and its ranks to end: bash starts these so that Ctrl-C passes them by."""
    for one in started.running:
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
