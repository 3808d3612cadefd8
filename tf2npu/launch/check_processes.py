"""The processes of a check: each runs the script once, and its hooks leave what they found in the check's folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from npu_formats.environment import TF2NPU_ALL_SESSIONS, TF2NPU_CHECK, TF2NPU_OPTIONS
from npu_formats.files.bounded_read import MB, read_at_most
from npu_formats.files.directory import Directory
from tf2npu.frameworks.tensorflow1.adapter_imports import BRIDGE
from tf2npu.ranks.process import AS_COMMAND
from tf2npu.ranks.process_control import exit_code_of

RECORD, FACTS, AGAIN, MEMORY = "record.json", "original.json", "again.json", "memory.json"
"""Files that the hooks write: of the migrated script's runs, of the original's, of its second run, of too little memory."""
_MOST_BYTES = 256 * MB
"""Largest size of such a file: 100,000 nodes of ten runs are some 100 MB."""
_GRACE = 30.0
"""Seconds for which a process may go on behind the budget, to write down what it has."""
_PAUSE = 0.2
"""Seconds between two looks at what a process has written."""
_SHOWN_BYTES = 4000
"""Bytes of a script's last words that are shown when it fails."""


class Process(Protocol):
    """The interface of a process: the part of subprocess.Popen that a check needs."""

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def kill(self) -> None: ...


Start = Callable[[Sequence[str], Mapping[str, str], BinaryIO], Process]
"""start(command, environment, log) begins a process that prints into the log."""


def start_process(command: Sequence[str], environment: Mapping[str, str], log: BinaryIO) -> Process:
    """A new process of Python."""
    return subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)


@dataclass
class CheckedScript:
    """A run of a script in a process of its own.  log: what it prints.  is_late: it was ended."""

    process: Process
    log: Path

    is_late: bool = False

    def wait(self, until: float, grace: float = _GRACE, meanwhile: Callable[[], None] = lambda: None) -> int:
        """The exit code, as a shell has it; the process ends `grace` seconds after `until`, by time.monotonic, at the latest.

        meanwhile: called now and then until that.
        """
        while True:
            left = max(0.0, until + grace - time.monotonic())
            try:
                return exit_code_of(self.process.wait(min(left, _PAUSE)))
            except subprocess.TimeoutExpired:
                meanwhile()
            if left <= _PAUSE:
                self.is_late = True
                return exit_code_of(self.stop())

    def stop(self) -> int:
        """End the process now."""
        if self.process.poll() is None:
            self.process.kill()
        return self.process.wait()

    def last_words(self) -> str:
        """The end of what the script printed."""
        with self.log.open("rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _SHOWN_BYTES))
            return stream.read().decode("utf-8", "replace").strip()

    def last_line(self) -> str:
        """The last line that the script printed."""
        return self.last_words().rpartition("\n")[2]


@dataclass
class CheckProcesses:
    """folder: of the check's own.  words: the script's.  options: `--option` words of `tf2npu run` for the migrated script.
    adapter: that the migrated script imports.

    start: begins a process; another than `start_process` may have TensorFlow loaded already.
    """

    folder: Path
    words: Sequence[str]
    options: Sequence[str]
    n_steps: int
    is_free: bool
    deadline: float
    adapter: str = BRIDGE
    start: Start = start_process
    _n_started: int = field(default=0)

    def original(self, script: Path) -> CheckedScript:
        """Record the original's first steps."""
        return self._start("original", script, (), {TF2NPU_OPTIONS: "", TF2NPU_ALL_SESSIONS: ""})

    def again(self, script: Path, *, has_other_kernels: bool) -> CheckedScript:
        """Make the original's steps again, with one thread and with oneDNN's kernels where TensorFlow would take Eigen's."""
        variables = {TF2NPU_OPTIONS: "", TF2NPU_ALL_SESSIONS: "", "TF_NUM_INTRAOP_THREADS": "1"}
        return self._start("again", script, (), {**variables, **(other_kernels(os.environ) if has_other_kernels else {})})

    def migrated(self, script: Path, modes: Sequence[str], environment: Mapping[str, str], *, is_whole: bool) -> CheckedScript:
        """Make the migrated script's steps in every run; is_whole: not on TensorFlow's CPU alone."""
        with Directory.given(self.folder) as folder:
            if folder.lstat(RECORD) is not None:
                folder.remove(RECORD)
        return self._start("migrated", script, self.options, environment, modes=list(modes), is_whole=is_whole)

    def steps_of(self, role: str, script: Path, options: Sequence[str], environment: Mapping[str, str]) -> CheckedScript:
        """Let a script for PyTorch or MindSpore write its steps down as `steps_file(role)` has them, at one thread."""
        with Directory.given(self.folder) as folder:
            if folder.lstat(self.steps_file(role).name) is not None:
                folder.remove(self.steps_file(role).name)
        variables = {TF2NPU_OPTIONS: "", TF2NPU_ALL_SESSIONS: "", "OMP_NUM_THREADS": "1", **environment}
        return self._start(role, script, options, variables)

    def steps_file(self, role: str) -> Path:
        """The file into which such a script writes its steps."""
        return self.folder / f"{role}.jsonl"

    def half_time(self) -> float:
        """The end of half of the budget that is left: what the original has made by then is compared in the other half."""
        now = time.monotonic()
        return now + (self.deadline - now) / 2

    def _start(
        self, role: str, script: Path, options: Sequence[str], environment: Mapping[str, str], **request: Any
    ) -> CheckedScript:  # fmt: skip
        self._n_started += 1
        log = self.folder / f"{self._n_started}_{role}.log"
        asked = {
            "role": role, "adapter": self.adapter, "folder": str(self.folder), "steps": self.n_steps, "is_free": self.is_free,
            "seconds": max(0.0, self.deadline - time.monotonic()), **request,
        }  # fmt: skip
        ours = {"PYTHONHASHSEED": "0", "TMPDIR": str(self._temporary()), TF2NPU_CHECK: json.dumps(asked)}
        variables = {"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ, **environment, **ours}
        command = [sys.executable, "-c", AS_COMMAND, str(os.getpid()), "run", *options, "--", str(script), *self.words]
        with Directory.given(self.folder) as folder, folder.new_file(log.name) as stream:
            process = self.start(command, variables, stream)
        return CheckedScript(process, log)

    def _temporary(self) -> Path:
        """The folder for a script's temporary files: it is ended in the middle of its training, and removes none of them."""
        folder = self.folder / "temporary"
        with Directory.given(folder, make=True):
            return folder

    def put_nothing(self, name: str) -> None:
        """Leave an empty document, so that nobody waits for it."""
        with Directory.given(self.folder) as folder, folder.new_file(name) as stream:
            stream.write(b"{}")

    def document(self, name: str) -> dict[str, Any] | None:
        """The JSON object that a process's hooks wrote; None for none.  Raises: ValueError for what is no JSON object."""
        try:
            found = json.loads(read_at_most(self.folder / name, _MOST_BYTES))
        except FileNotFoundError:
            return None
        if not isinstance(found, dict):
            raise ValueError(f"{name} is no JSON object")
        return found


def other_kernels(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables with which TensorFlow takes other kernels than it would: oneDNN's for Eigen's, or the other way.

    Source: TensorFlow takes oneDNN's by itself on processors with AVX512_VNNI and later. Those for AVX2 abort the process at some
    shapes of convolutions where there is no AVX-512; those for AVX do not.
    """
    try:
        flags = set(Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split())
    except OSError:
        flags = set()
    is_on = environment.get("TF_ENABLE_ONEDNN_OPTS", "1" if "avx512_vnni" in flags else "0") == "1"
    isa = {} if "avx512bw" in flags else {"ONEDNN_MAX_CPU_ISA": "AVX"}
    return {"TF_ENABLE_ONEDNN_OPTS": "0"} if is_on else {"TF_ENABLE_ONEDNN_OPTS": "1", **isa}
