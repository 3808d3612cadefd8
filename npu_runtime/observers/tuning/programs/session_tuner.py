"""The tuners of this process, and what they tell: result files, lines of the run log, the closing line of aoe_mode."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock

from npu_formats.device.chip import Chip
from npu_formats.files.whole_file import OWN_FILE, put_text
from npu_formats.vendor.tune_result import percent
from npu_runtime.config import RuntimeConfig
from npu_runtime.cost.choice import Choice
from npu_runtime.kernels.algorithm_choice import set_tuner
from npu_runtime.log import tell, tell_once
from npu_runtime.lowering.lower import LoweredTask
from npu_runtime.observers.base import SessionObserver
from npu_runtime.observers.ran_step import ProgramStep
from npu_runtime.observers.tuning.bank.machine_bank import MachineBank
from npu_runtime.observers.tuning.kernels.kernel_tuner import KernelTuner
from npu_runtime.observers.tuning.programs.bank_policy import BANK, DEFAULT
from npu_runtime.observers.tuning.programs.outcome import Search
from npu_runtime.observers.tuning.programs.program_tuner import ProgramTuner, TunedProgram
from npu_runtime.observers.tuning.programs.result_files import (
    aoe_result,
    aoe_result_name,
    totals,
    tune_result,
    tune_result_name,
)
from npu_runtime.observers.tuning.programs.tuning_request import TuningRequest, requested
from npu_runtime.simulation.device_compiler import Target, lower_for


class SessionTuner(SessionObserver):
    """Tunes the programs of sessions that ask for the same.  programs: what came of each, in order.

    kernels: chooses the algorithms of the simulated device's own kernels for this machine.
    """

    def __init__(self, request: TuningRequest, chip: Chip, search: Search) -> None:
        self.request, self.chip = request, chip
        self.tuner = ProgramTuner(request, chip, search, tell_once)
        self.kernels = _kernel_tuner(request)
        """Shared by all sessions of the process with the same bank: the first one's time and limits count."""
        self.programs: list[TunedProgram] = []
        self._met: set[Hashable] = set()
        self._last = datetime.min
        self._lock = Lock()

    def choice(self, task: LoweredTask, chip: Chip) -> Choice | None:
        """The choice that a task is compiled with on a chip; None for the default."""
        return self.tuner.choice(task, chip)

    def before(self, step: ProgramStep) -> None:
        """Tune a program for the shapes of its inputs, at its first run with them."""
        with self._lock:
            if step.program in self._met:
                return
            self._met.add(step.program)
            lowered = lower_for(step.graph, step.shapes, step.placement, step.config, Target(self.chip))
            made = self.tuner.tune(step.name, lowered.tasks)
            if made.outcomes:
                self.programs.append(made)
                self._write(made)

    def _write(self, made: TunedProgram) -> None:
        if len(self.programs) > MOST_RESULT_FILES:
            tell_once(f"tuning: this process has left {MOST_RESULT_FILES} result files; from now on the bank alone is written")
            return
        ended = self._last = max(made.ended, self._last + timedelta(milliseconds=1)) if self.programs[:-1] else made.ended
        made = replace(made, ended=ended)
        if self.request.results is not None:
            _put(self.request.results, tune_result_name(os.getpid(), ended), tune_result(made.outcomes))
        if self.request.aoe_results is not None:
            text = aoe_result(made.outcomes, made.name, made.seconds)
            _put(self.request.aoe_results, aoe_result_name(os.getpid(), ended), text)
            before, after = totals(made.outcomes)
            gain = percent(before, after)
            tell(f"[Aoe] tuning of {made.name} has finished after {made.seconds:.0f} s: performance improved by {gain}")

    def lines(self) -> list[str]:
        """Lines for the run log: what was tuned, gained and hit."""
        worth = [
            program
            for program in self.programs
            if program.n_late or any(one.decision.stores or one.decision.hit for one in program.outcomes)
        ]
        lines = [line for program in worth or self.programs[-1:] for line in _lines(program, self.request)]
        return lines + _kernel_lines(self.kernels, self.request)


def _lines(program: TunedProgram, request: TuningRequest) -> list[str]:
    default, after = program.us()
    digits = 1 if f"{default:.1f}" != f"{after:.1f}" else 3
    n_stored = sum(one.decision.append and one.decision.compiled_with == DEFAULT for one in program.outcomes)
    head = (
        f"tuning: {request.mode}: {program.name}: of {len(program.outcomes)} operators of the AI cores {program.n_better} "
        f"are better now, {program.count(BANK)} were in the bank, {n_stored} have the best tiling already; their time goes from "
        f"{default:.{digits}f} to {after:.{digits}f} us a step ({percent(default, after)})"
    )
    late = (
        f"tuning: {program.name}: {program.n_late} operators were not tuned within {request.seconds:g} s and keep what they had; "
        "--option tuning_seconds=N gives more time, unless a line above says that no search could be started"
    )
    return [head, late] if program.n_late else [head]


def _kernel_tuner(request: TuningRequest) -> KernelTuner:
    if request.folder not in _KERNEL_TUNERS:
        bank = MachineBank(request.folder, tell_once)
        _KERNEL_TUNERS[request.folder] = KernelTuner(
            bank, request.repeats, request.seconds, searches=request.searches, reads_bank=request.reads_bank
        )
    return _KERNEL_TUNERS[request.folder]


def _kernel_lines(tuner: KernelTuner, request: TuningRequest) -> list[str]:
    if not (tuner.n_tried or tuner.n_known or tuner.n_late):
        return []
    line = (
        f"tuning: kernels on this machine: of {tuner.n_tried} shapes that were tried {tuner.n_changed} take another algorithm, "
        f"which saves {1000 * tuner.gained:.2f} ms of a run of each; {tuner.n_known} shapes were in the bank"
    )
    late = (
        f"tuning: kernels on this machine: {tuner.n_late} shapes were not tried within {request.seconds:g} s and keep what they "
        "had; REPEAT_TUNE=true tries them again"
    )
    return [line, late] if tuner.n_late else [line]


def _put(folder: Path, name: str, text: str) -> None:
    try:
        put_text(folder, name, text, OWN_FILE)
    except OSError as error:
        tell_once(f"{folder / name}: the result of tuning cannot be written ({error.strerror or error})")


MOST_RESULT_FILES = 100
"""Result files of a session's tuner: batches of ever other shapes are programs of their own, and would fill the folder."""
_TUNERS: dict[tuple[TuningRequest, Chip], SessionTuner] = {}
"""The tuners of this process; sessions that ask for the same share one."""
_KERNEL_TUNERS: dict[Path, KernelTuner] = {}
"""The tuners of kernels of this process, by the folder of the bank."""
_TUNERS_LOCK = Lock()
"""Held by who makes a tuner: sessions may be made in several threads."""


def tuner_for(
    config: RuntimeConfig, chip: Chip, search: Search, environment: Mapping[str, str] = os.environ
) -> tuple[SessionTuner | None, tuple[str, ...]]:  # fmt: skip
    """The tuner for a session with these options, None for one that is not tuned, and lines for the run log."""
    request, notes = requested(config, chip.name, environment)
    if request is None:
        return None, notes
    with _TUNERS_LOCK:
        if (request, chip) not in _TUNERS:
            _TUNERS[request, chip] = SessionTuner(request, chip, search)
        set_tuner(_TUNERS[request, chip].kernels)
        return _TUNERS[request, chip], notes


def tuning_lines() -> list[str]:
    """The lines of all tuners of this process for the run log."""
    return [line for tuner in _TUNERS.values() for line in tuner.lines()]


def tuners() -> list[SessionTuner]:
    """All tuners of this process."""
    return list(_TUNERS.values())


def forget() -> None:
    """Forget all tuners: for a process that begins anew."""
    global _TUNERS_LOCK
    _TUNERS_LOCK = Lock()
    _TUNERS.clear()
    _KERNEL_TUNERS.clear()
    set_tuner(None)


os.register_at_fork(after_in_child=forget)
