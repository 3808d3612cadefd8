"""Smoke runs: an entry script trains for some steps, in a throw-away copy of its project and on made-up data.

What a script misses is made for the next attempt: a file that it looked for, an argument that names a folder.
"""

from __future__ import annotations

import datetime
import json
import os
import shutil
import signal
import site
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from npu_formats.documents.smoke_request import SmokeRequest
from npu_formats.environment import TF2NPU_SMOKE
from npu_formats.files.bounded_read import MOST_REPORT_BYTES, MOST_SOURCE_BYTES, read_at_most
from npu_formats.files.directory import Directory
from tf2npu.launch.smoke_lessons import Form, learn
from tf2npu.launch.smoke_needs import SmokeResult, add_missing, finds_from_its_folder, may_be_elsewhere, needs_of, needs_root
from tf2npu.ranks.process import AS_COMMAND
from tf2npu.ranks.process_control import exit_code_of
from tf2npu.report.errors import NotAReport
from tf2npu.report.runs import record
from tf2npu.report.runs.record import RunRecord

SECONDS = 120
"""Default time of a script, with all attempts: some steps of a usual network take less than a minute."""
MOST_ATTEMPTS = 16
"""Attempts of a script: each adds what the one before missed."""
_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "HTTP_PROXY", "HTTPS_PROXY")
_NOWHERE = "http://127.0.0.1:9"
"""A proxy that nobody is, so that what would download ends at once and not when its patience does."""
_GRACE = 10.0
"""Seconds for which a script may go on behind its time, to leave in order."""
_FINISH = 45.0
"""Seconds that a script which has made its steps may take to end: it writes its report, and joins its threads."""
_LOOK = 1.0
"""Seconds between two looks at what a script has made."""
_LAST_BYTES = 6_000
"""Bytes of the end of a script's output that are looked at, and shown where it fails."""
_END = int(getattr(signal, "SIGRTMIN", signal.SIGTERM))
"""The signal that ends the script in order, see npu_runtime.observers.prediction.exit_script."""


class Process(Protocol):
    """The process of a script, and all that it has started."""

    def wait(self, timeout: float | None = None) -> int:
        """The exit code as subprocess has it.  Raises: subprocess.TimeoutExpired."""

    def end(self) -> None:
        """Let the script end in order."""

    def kill(self) -> None:
        """End it now, with all that it has started."""


class _Process:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.wait = process.wait

    def end(self) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(_END)

    def kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


Start = Callable[[Sequence[str], Mapping[str, str], Path, BinaryIO], Process]
"""start(command, environment, folder, log) begins a process that prints into the log."""


def start_process(command: Sequence[str], environment: Mapping[str, str], folder: Path, log: BinaryIO) -> Process:
    """A new process of Python, in a session of its own."""
    return _Process(
        subprocess.Popen(
            command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    )  # fmt: skip


@dataclass(frozen=True)
class SmokeProject:
    """pristine: a copy of the project, as it was converted.  folder: for its runs.  start: begins their processes.

    told_from: folder below the project from which records name files, "" for all of it.
    """

    pristine: Path
    folder: Path
    start: Start = start_process
    told_from: str = ""


def smoke_run(
    project: SmokeProject, script: str, words: Sequence[str], options: Sequence[str], steps: int, seconds: float, cwd: str = "."
) -> SmokeResult:  # fmt: skip
    """Run a script until it has trained for some steps, or nothing more can be made for it.

    script: path below the project.  words: its own arguments.  options: of `tf2npu run`.  seconds: for all attempts.
    cwd: folder below the project in which it is run.
    """
    begin, asked, added, result = time.monotonic(), dict[str, str](), list[str](), SmokeResult(script)
    is_installed, lessons = False, dict[str, Form]()
    for number in range(MOST_ATTEMPTS):
        attempt = _Attempt(project, project.folder / f"attempt{number}", script, cwd, is_installed)
        left = seconds - (time.monotonic() - begin)
        result = attempt.run([*words, *added], options, steps, tuple(asked.items()), lessons, left)
        result.arguments, result.source = added, _text(project.pristine / script)
        shutil.rmtree(attempt.folder, ignore_errors=True)
        if result.is_cut or (result.code == 0 and result.state.get("steps")) or left <= 0:
            break
        if result.code == 0 and not result.state.get("missing"):
            break
        if cwd == "." and result.code and finds_from_its_folder(result, project.pristine):
            cwd, asked, added = os.path.dirname(script), {}, []
            continue
        if result.code and learn(result.last_words, result.state.get("texts", ()), lessons, project.pristine):
            continue
        if not is_installed and needs_root(result, project.pristine):
            is_installed = True
        elif not add_missing(result, asked, added):
            folder = os.path.dirname(script)
            if cwd != "." or not folder or not may_be_elsewhere(result):
                break
            cwd, asked, added = folder, {}, []
    result.seconds = time.monotonic() - begin
    if is_installed:
        result.arguments = [*result.arguments, "PYTHONPATH=."]
    _complete(result, os.path.relpath(script, project.told_from or "."))
    return result


def _text(script: Path) -> str:
    try:
        return read_at_most(script, MOST_SOURCE_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


@dataclass
class _Attempt:
    project: SmokeProject
    folder: Path
    script: str
    cwd: str
    is_installed: bool

    def run(
        self, words: Sequence[str], options: Sequence[str], steps: int, asked: tuple[tuple[str, str], ...],
        lessons: Mapping[str, Form], seconds: float,
    ) -> SmokeResult:  # fmt: skip
        root, elsewhere = self.folder / "project", self.folder / "elsewhere"
        shutil.copytree(self.project.pristine, root, symlinks=True)
        for name in ("elsewhere", "home", "tmp"):
            (self.folder / name).mkdir()
        out, told_from = str(self.folder / "smoke.json"), self.project.told_from
        request = SmokeRequest(steps, out, str(root), str(elsewhere), told_from, asked, lessons)
        script = os.path.relpath(root / self.script, root / self.cwd)
        own = ["run", *options, "--report", str(self.folder / "run.json"), "--", script, *words]
        command = [sys.executable, "-c", AS_COMMAND, str(os.getpid()), *own]
        log = self.folder / "output.txt"
        with log.open("wb") as stream:
            process = self.project.start(command, self._environment(request), root / self.cwd, stream)
            code, is_cut = _wait(process, max(1.0, seconds), lambda: _has_made_all(_json(self.folder / "smoke.json")))
        state = _json(self.folder / "smoke.json")
        return SmokeResult(
            self.script, _record(self.folder / "run.json"), state, code, is_cut=is_cut, last_words=_end_of(log, self.folder)
        )

    def _environment(self, request: SmokeRequest) -> dict[str, str]:
        """The variables of the script: its home and its temporary files are in the throw-away folder, too."""
        own = {
            TF2NPU_SMOKE: request.as_json(), "HOME": str(self.folder / "home"), "TMPDIR": str(self.folder / "tmp"),
            "PYTHONUSERBASE": site.getuserbase(), "MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1", "NO_PROXY": "localhost",
            **dict.fromkeys(_PROXIES, _NOWHERE),
        }  # fmt: skip
        if self.is_installed:  # as `pip install -e` would have it
            own["PYTHONPATH"] = os.pathsep.join(filter(None, (str(self.folder / "project"), os.environ.get("PYTHONPATH"))))
        return {**os.environ, **own}


def _wait(process: Process, seconds: float, has_made_all: Callable[[], bool]) -> tuple[int, bool]:
    """The exit code, as a shell has it, and whether the time was over before all steps were made.

    A script that has made them and does not end, as it waits for a thread of its own, is told a second time.
    """
    until = time.monotonic() + seconds
    try:
        code = _exit_code(process, seconds, has_made_all)
        if code is None and has_made_all():
            until = min(until, time.monotonic() + _FINISH)
            code = _exit_code(process, until - time.monotonic(), lambda: False)
    except BaseException:
        process.kill()
        raise
    if code is not None:
        return code, False
    process.end()
    try:
        return exit_code_of(process.wait(_GRACE)), not has_made_all()
    except subprocess.TimeoutExpired:
        process.kill()
        return exit_code_of(process.wait()), True


def _exit_code(process: Process, seconds: float, is_over: Callable[[], bool]) -> int | None:
    """The exit code of a process; None where it has none in its time, or when something else says that it is over."""
    until = time.monotonic() + seconds
    while not is_over():
        left = until - time.monotonic()
        try:
            return exit_code_of(process.wait(max(0.0, min(left, _LOOK))))
        except subprocess.TimeoutExpired:
            if left <= _LOOK:
                return None
    return None


def _has_made_all(state: Mapping[str, Any]) -> bool:
    return state.get("steps", 0) >= state.get("wanted", 1)


def _json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_at_most(file, MOST_REPORT_BYTES))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _record(file: Path) -> RunRecord | None:
    try:
        return record.read(file)
    except (OSError, NotAReport):
        return None


def _end_of(log: Path, folder: Path) -> str:
    with log.open("rb") as stream:
        stream.seek(max(0, os.fstat(stream.fileno()).st_size - _LAST_BYTES))
        text = stream.read().decode("utf-8", "replace").strip()
    return text.replace(f"{folder}/project/", "").replace(f"{folder}/elsewhere", "")


def _complete(result: SmokeResult, script: str) -> None:
    """Say what the script needs, and give the record what only this process knows."""
    if not (result.state.get("steps") and result.code == 0):
        result.needs = needs_of(result)
    state = result.state
    known = {"wanted": 0, "steps": 0}
    told = {key: value for key, value in {**known, **state}.items() if key not in ("missing", "texts")}
    told["made"] = [*told.get("made", ()), *_made_arguments(result.arguments)]
    told.update(needs=result.needs, is_cut=result.is_cut, seconds=round(result.seconds), date=datetime.date.today().isoformat())
    result.state = {**told, "missing": state.get("missing", [])}
    if result.made is not None:
        result.made["run"].update(script=script, smoke=told)


def _made_arguments(added: Sequence[str]) -> list[dict[str, str]]:
    return [{"path": " ".join(added), "content": "for the script"}] if added else []


def pristine_folder(folder: Path) -> Path:
    """The place of the project's copy below a folder for smoke runs."""
    with Directory.given(folder, make=True):
        pass
    return folder / "pristine"
