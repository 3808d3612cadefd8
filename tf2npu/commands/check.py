"""The `check` command: the original and the migrated script step by step, and the reasons that their losses differ."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from npu_formats.documents.check_record import Record
from npu_formats.escape import visible
from npu_formats.files.directory import Directory
from npu_formats.files.temporary import temporary_folder
from npu_formats.session_options import table
from tf2npu.accuracy_check import as_text, document, output
from tf2npu.accuracy_check.texts import texts
from tf2npu.accuracy_check.verdicts import EXIT_FAILED, exit_code
from tf2npu.comparison.texts import Texts
from tf2npu.launch import mindspore, mindspore_check, pytorch_check
from tf2npu.launch.bisect_rules import change_of_rules
from tf2npu.launch.check_processes import AGAIN, FACTS, RECORD, CheckedScript, CheckProcesses, Start, start_process
from tf2npu.launch.check_request import Wanted, say, search_path
from tf2npu.launch.mindspore_check import MindSporeCheck
from tf2npu.launch.program_check import ProgramCheck
from tf2npu.launch.pytorch_check import PyTorchCheck
from tf2npu.launch.subprocess import (
    about_steps,
    adapter_for,
    adapter_import,
    chips,
    converted_for,
    is_for_pytorch,
    orderly_end,
)
from tf2npu.launch.temporary_conversion import TemporaryConversion
from tf2npu.prediction.output import ForeignPage
from tf2npu.refused_request import RefusedRequest
from tf2npu.report.formats.as_text import show
from tf2npu.runs import merge, merge_check

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
_MOST_SECONDS = 7 * 24 * 3600
"""A week: longer numbers are slips of the keyboard, and the system's clocks take no number beyond some centuries."""
_INTERRUPTED = 130
"""Exit code that a shell reports for a process that SIGINT ended."""


def check(words: Sequence[str], wanted: Wanted, start: Start = start_process) -> int:
    """`tf2npu check`; returns the exit code.  words: the script and its arguments.  start: begins the processes."""
    deadline = time.monotonic() + _seconds(wanted.budget)
    script, options = _requested(words, wanted)
    with orderly_end(), temporary_folder() as folder:
        with Directory.given(folder / "steps", make=True):
            pass
        is_mindspore = wanted.frontend == mindspore.FRONTEND
        converted = None if wanted.migrated or is_mindspore else converted_for("check", script, folder)
        run = converted.script if converted else wanted.migrated or script
        adapter = mindspore.FRONTEND if is_mindspore else adapter_for(run)
        steps = folder / "steps"
        processes = CheckProcesses(steps, words[1:], options, wanted.steps, wanted.is_free, deadline, adapter, start)
        kind = MindSporeCheck if is_mindspore else PyTorchCheck if is_for_pytorch(script) else _SessionsCheck
        checked = kind(script, wanted, folder, processes, converted)
        try:
            found = checked.record()
        except KeyboardInterrupt:
            click.echo("tf2npu check: interrupted before the original's steps were recorded", err=True)
            return _INTERRUPTED
    return EXIT_FAILED if found is None else _tell(found, wanted)


def _requested(words: Sequence[str], wanted: Wanted) -> tuple[Path, list[str]]:
    """The script, and the words of `tf2npu run` for the device.  Raises: RefusedRequest."""
    if not words:
        raise RefusedRequest("name a SCRIPT")
    script = Path(words[0])
    for path in filter(None, (script, wanted.migrated)):
        if not path.is_file():
            raise RefusedRequest(f"{path}: no such file")
    is_mindspore = wanted.frontend == mindspore.FRONTEND
    if is_mindspore:
        mindspore_check.refuse_options(wanted)
    else:
        _require_scripts(script, wanted)
    problem = merge.why_not(wanted.report) if wanted.report is not None else ""
    if problem:
        raise RefusedRequest(problem)
    try:
        output.check_folder(wanted.out)
    except (ForeignPage, OSError) as error:
        raise RefusedRequest(str(error)) from None
    named = chips(wanted.soc, None if is_mindspore else script)
    if len(named) > 1:
        raise RefusedRequest(f"--soc {wanted.soc}: name one chip")
    _require_modes(wanted.modes)
    pairs = [word for pair in wanted.pairs for word in ("--option", pair)]
    return script, ["--soc", named[0], *pairs]


def _require_scripts(script: Path, wanted: Wanted) -> None:
    """Raises: RefusedRequest for scripts and options that do not go together."""
    if mindspore.is_program(script):
        raise RefusedRequest(f"{script} is a program for MindSpore: check it with --frontend mindspore")
    if imported := adapter_import(script):
        raise RefusedRequest(f"{script} imports {imported}: name the original, and the migrated script with --migrated {script}")
    is_pytorch = is_for_pytorch(script)
    if wanted.migrated is not None and is_for_pytorch(wanted.migrated) != is_pytorch:
        raise RefusedRequest(f"{script} and {wanted.migrated} are scripts for different frameworks")
    if wanted.migrated is not None and not is_pytorch and not adapter_import(wanted.migrated):
        raise RefusedRequest(
            f"--migrated {wanted.migrated}: it imports neither npu_bridge nor npu_device; without it {script} is converted"
        )
    if is_pytorch:
        pytorch_check.refuse_options(wanted)


def _require_modes(modes: Sequence[str]) -> None:
    known = table()["precision_mode"].allowed.removeprefix("words ").split("|")
    for mode in modes:
        if mode not in known:
            raise RefusedRequest(f"--mode {mode}: use one of {', '.join(known)}")


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d{1,7}(?:\.\d+)?)([smh]?)", text.strip())
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if not 0 < seconds <= _MOST_SECONDS:
        raise RefusedRequest(f"--budget {text}: write a time such as 90s, 10m or 1h, up to a week")
    return seconds


class _SessionsCheck(ProgramCheck):
    """A check of a script for TensorFlow, whose sessions and functions are looked at."""

    def record(self) -> Record | None:
        """The record of the check; None, after a message with the reason, where there is nothing to compare."""
        say(f"runs {self.script} on TensorFlow's CPU")
        original, converted = self.processes.original(self.script), self.converted
        code = self.ended(original)
        facts = self.processes.document(FACTS)
        if not facts or not facts["steps"]:
            return self._without_steps(original, code)
        if facts["left_out"]:
            say(f"the {facts['left_out']} largest tensors of a step are not compared: with them it would be more than 4 GB")
        failure = None if code == 0 else {"type": f"exit code {code}", "text": original.last_line()}
        if original.is_late:
            failure = {"type": "out of time", "text": f"made {facts['steps']} training steps in half of the budget"}
        found = self._migrated(converted, is_whole=True)
        if found["runs"]:
            if failure is not None and facts["steps"] < self.wanted.steps:
                found["runs"][0].update(failure=failure)
            self._conversion(found, converted)
        return self.whole(found)

    def _without_steps(self, original: CheckedScript, code: int) -> Record | None:
        click.echo(original.last_words(), err=True)
        why = (
            f"made no training step in half of the budget: give more time than --budget {self.wanted.budget}"
            if original.is_late else
            f"ended with exit code {code} before its first training step" if code else
            "made no training step: it trains nothing, or it found a checkpoint that is trained already; "
            f"give it an empty folder for its model{about_steps(self.converted.script if self.converted else self.script)}"
        )  # fmt: skip
        self.refuse(why)
        return None

    def _migrated(self, converted: TemporaryConversion | None, *, is_whole: bool) -> dict[str, Any]:
        """The record of the migrated script's runs, beside which the original runs again."""
        script = converted.script if converted is not None else self.wanted.migrated
        if script is None:  # `check` has refused a migrated script: this one was migrated while it ran
            raise RefusedRequest(f"{self.script} imports {self.processes.adapter} since the check began: run it again")
        environment = {}
        if converted is not None and (path := search_path()):
            environment["PYTHONPATH"] = converted.search_path(path)
        again = self.processes.again(self.script, has_other_kernels=True) if is_whole else None
        if is_whole:
            say("runs the migrated script on TensorFlow's CPU and on the device")
        migrated = self.processes.migrated(script, self.wanted.modes, environment, is_whole=is_whole)
        try:
            if again is not None:
                self._wait_for_again(again)
            code = migrated.wait(self.processes.deadline)
        except KeyboardInterrupt:  # the process was interrupted, too, and still writes down what it has
            code = migrated.wait(time.monotonic())
            return self.processes.document(RECORD) or self._interrupted()
        finally:
            for process in filter(None, (again, migrated)):
                process.stop()
        found = self.processes.document(RECORD)
        if found is None:
            return self._failed(migrated, code)
        self._note_early_end(found, migrated, code)
        return found

    def _note_early_end(self, found: dict[str, Any], migrated: CheckedScript, code: int) -> None:
        """Say why the migrated script made fewer steps than the original, where it failed."""
        n_wanted = (self.processes.document(FACTS) or {}).get("steps", 0)
        if found["steps"] >= n_wanted or found["stopped"] in ("budget", "interrupted") or not code:
            return
        for run in found["runs"]:
            if run["run"] == "B" and not run["failure"]:
                run.update(failure={"type": f"exit code {code}", "text": migrated.last_line()}, agrees=False)

    def _wait_for_again(self, again: CheckedScript) -> None:
        """Wait for the second run of the original. Without it nobody knows how far TensorFlow is from itself; where other kernels
        abort, it has the same ones."""
        again.wait(self.processes.deadline)
        if self.processes.document(AGAIN) is None:
            self.processes.again(self.script, has_other_kernels=False).wait(self.processes.deadline)
        if self.processes.document(AGAIN) is None:
            self.processes.put_nothing(AGAIN)
            say("the original could not be run a second time, so how far TensorFlow is from itself is not known")

    def _interrupted(self) -> dict[str, Any]:
        losses = (self.processes.document(FACTS) or {}).get("losses", [])
        return {
            "format": 1, "runs": [{"run": "A", "agrees": True, "loss": losses}], "is_complete": False, "stopped": "interrupted",
        }  # fmt: skip

    def _failed(self, migrated: CheckedScript, code: int) -> dict[str, Any]:
        """The record of a migrated script that ended before its hooks could write one."""
        click.echo(migrated.last_words(), err=True)
        losses = (self.processes.document(FACTS) or {}).get("losses", [])
        failure = {"type": f"exit code {code}", "text": migrated.last_line()}
        runs = [{"run": "A", "agrees": True, "loss": losses}, {"run": "B", "failure": failure}]
        stopped = "the migrated script ended before it was compared"
        return {"format": 1, "runs": runs, "is_complete": False, "stopped": stopped}

    def _conversion(self, found: dict[str, Any], converted: TemporaryConversion | None) -> None:
        """The rules without which the converted script does not differ, where the conversion makes it do so."""
        run = next((run for run in found["runs"] if run["run"] == "B"), None)
        if converted is None or run is None or run.get("cause") != "conversion":
            return
        say("looks for the rules that make the difference")

        def tried(other: TemporaryConversion) -> dict[str, Any]:
            return next(run for run in self._migrated(other, is_whole=False)["runs"] if run["run"] == "B")

        folder = self.folder / "conversions"
        change = change_of_rules(self.script, folder, converted, tried, lambda: time.monotonic() < self.processes.deadline)
        if change is not None:
            run["least_change"] = change


def _put_beside(record: Record, report: Path, t: Texts) -> None:
    """Put the page and its files beside the report too, so that both lead to each other wherever the folder goes."""
    try:
        output.put(record, report, t)
    except (ForeignPage, OSError) as error:
        click.echo(visible(f"tf2npu check: the page cannot be put beside the report: {error}"), err=True)


def _tell(record: Record, wanted: Wanted) -> int:
    t = texts(wanted.language)
    try:
        paths = output.put(record, wanted.out, t)
    except (ForeignPage, OSError) as error:
        click.echo(visible(f"tf2npu check: {error}"), err=True)
        paths = []
    show(as_text.lines(record, t, folder=str(wanted.out), page=str(paths[0]) if paths else ""), sys.stdout)
    if wanted.report is not None:
        if wanted.report.absolute() != wanted.out.absolute():
            _put_beside(record, wanted.report, t)
        merge_check.merge(wanted.report, document.document(record))
    return exit_code(record) if paths else EXIT_FAILED
