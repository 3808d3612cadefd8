"""`tf2npu check` of a script for PyTorch: the original on the CPU, the migrated script there and on the device, step by step."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from npu_formats.documents.check_record import Failure, Record, read_record
from npu_formats.documents.training_steps import Steps, steps_in
from npu_formats.escape import visible
from tf2npu.accuracy_check.training_record import AGAIN, CPU, DEVICE, MadeRun, asks_device, compared_run, record
from tf2npu.launch import pytorch
from tf2npu.launch.bisect_rules import change_of_rules
from tf2npu.launch.check_places import localize, users_place
from tf2npu.launch.check_processes import CheckedScript, CheckProcesses
from tf2npu.launch.check_request import Wanted, say, search_path
from tf2npu.launch.temporary_conversion import TemporaryConversion
from tf2npu.refused_request import RefusedRequest

ORIGINAL = "original"
_ROLES = {AGAIN: "again", CPU: "migrated", DEVICE: "device"}
"""The role of a run's process, which is the name of its file, too."""


def refuse_options(wanted: Wanted) -> None:
    """Raises: RefusedRequest for an option that means nothing for PyTorch, or where a real NPU would run the script."""
    if wanted.modes:
        raise RefusedRequest("--mode: a script for PyTorch asks for its precision itself, by torch.autocast: leave it out")
    if wanted.pairs:
        raise RefusedRequest("--option: a script for PyTorch has no session, whose options these are: leave it out")
    if wanted.is_free:
        raise RefusedRequest("--free: the steps of a script for PyTorch always go on from their own parameters: leave it out")
    real = pytorch.real_adapter()
    if real is not None:
        raise RefusedRequest(
            f"a script for PyTorch is checked on the simulated device, and here is the torch_npu of {real.parent}"
        )


@dataclass
class PyTorchCheck:
    """script: the original.  folder: of the check's own.  converted: None where the user has converted the script."""

    script: Path
    wanted: Wanted
    folder: Path
    processes: CheckProcesses
    converted: TemporaryConversion | None

    def record(self) -> Record | None:
        """The record of the check; None, after a message with the reason, where there is nothing to compare."""
        say(f"runs {self.script} on PyTorch's CPU")
        process = self.processes.steps_of(ORIGINAL, self.script, (), {})
        try:
            code = process.wait(self.processes.half_time(), grace=0.0)
        finally:
            process.stop()
        original = self._steps(ORIGINAL)
        if not original.steps:
            click.echo(visible(f"tf2npu check: {self.script} {self._why_no_step(process, code, original)}"), err=True)
            return None
        is_whole = len(original.steps) >= self.wanted.steps or not (code or process.is_late)
        if not asks_device(original.steps):
            say(f"{self.script} asks for no device, so no operator of one is checked")
        failure = None if is_whole else _failure(process, code, original, self.wanted.steps)
        runs, is_interrupted = self._runs(original)
        found = record(original, runs, failure)
        if not is_interrupted:
            self._find_rules(found, original)
        late = is_interrupted or any(run.failure is not None and run.failure.type == _LATE for run in runs)
        found["is_complete"], found["stopped"] = not late, "interrupted" if is_interrupted else "budget" if late else ""
        found["script"], found["soc"] = str(self.script), self.wanted.soc
        found["migrated"] = str(self.wanted.migrated or "")
        localize(found, self.converted)
        return read_record(found)

    def _steps(self, role: str) -> Steps:
        return steps_in(self.processes.steps_file(role))

    def _why_no_step(self, process: CheckedScript, code: int, steps: Steps) -> str:
        """The reason that there is no step, in a line that follows the script's name."""
        if process.is_late:
            return f"made no training step in half of the budget: give more time than --budget {self.wanted.budget}"
        ending = steps.ending
        if ending is not None and ending.failure is not None:
            failed = ending.failure
            file, line = users_place(failed.file, failed.line, None)
            return f"failed before its first training step: {failed.type}: {failed.text}{f' ({file}:{line})' if file else ''}"
        if code:
            return f"ended with exit code {code} before its first training step: {process.last_line()}"
        if ending is not None and ending.left_out:
            return f"made no training step: its GradScaler left out {ending.left_out}, as gradients were infinite: let it run on"
        if ending is not None and ending.n_backward:
            return (
                f"trains by hand: it called backward {ending.n_backward} times, and no optimizer of torch.optim made a step, "
                "which is what a check compares"
            )
        return "made no training step: it never called backward, or a checkpoint that it found is trained already"

    def _runs(self, original: Steps) -> tuple[list[MadeRun], bool]:
        """The other runs, side by side, and whether the user stopped them."""
        say("runs it again, and the migrated script on PyTorch's CPU and on the device")
        started = [(name, self._start(name, self.converted)) for name in _ROLES]
        is_interrupted = False
        codes: dict[str, int] = {}
        try:
            for name, process in started:
                codes[name] = process.wait(self.processes.deadline)
        except KeyboardInterrupt:
            is_interrupted = True
        finally:
            for _, process in started:
                process.stop()
        made = [self._made(name, process, codes[name], original) for name, process in started if name in codes]
        return made, is_interrupted

    def _start(self, name: str, converted: TemporaryConversion | None) -> CheckedScript:
        """The process of a run."""
        if name == AGAIN:
            return self.processes.steps_of(_ROLES[name], self.script, (), {})
        script = converted.script if converted is not None else self.wanted.migrated or self.script
        path = search_path()
        environment = {"PYTHONPATH": converted.search_path(path)} if converted is not None and path else {}
        options = ("--strict", *self.processes.options) if name == DEVICE else ()
        return self.processes.steps_of(_ROLES[name], script, options, environment)

    def _made(self, name: str, process: CheckedScript, code: int, original: Steps) -> MadeRun:
        found, n_wanted = self._steps(_ROLES[name]), len(original.steps)
        short = len(found.steps) < n_wanted
        return MadeRun(name, found, _failure(process, code, found, n_wanted) if short else None)

    def _find_rules(self, found: dict[str, Any], original: Steps) -> None:
        """Put into the run on the CPU the rules that make it differ, where the conversion was made here."""
        converted = self.converted
        run = next((run for run in found["runs"] if run["run"] == CPU), None)
        if converted is None or run is None or run["cause"] != "conversion" or found["randomness"]:
            return
        say("looks for the rules that make the difference")

        def tried(other: TemporaryConversion) -> dict[str, Any]:
            process = self._start(CPU, other)
            try:
                code = process.wait(self.processes.deadline)
            finally:
                process.stop()
            return compared_run(original, self._made(CPU, process, code, original))

        def has_time() -> bool:
            return time.monotonic() < self.processes.deadline

        run["least_change"] = change_of_rules(self.script, self.folder / "conversions", converted, tried, has_time)


_LATE = "out of time"


def _failure(process: CheckedScript, code: int, steps: Steps, n_wanted: int) -> Failure:
    """The reason that a run made fewer steps than wanted."""
    made = f"made {len(steps.steps)} of {n_wanted} training steps"
    if process.is_late:
        return Failure(_LATE, made)
    if steps.ending is not None and steps.ending.failure is not None:
        return steps.ending.failure
    return Failure(f"exit code {code}", process.last_line() if code else made)
