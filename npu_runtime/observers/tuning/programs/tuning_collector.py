"""The request of `tf2npu tune`: wait until a script's training programs are tuned, write the results, and stop the script."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from npu_formats.environment import TF2NPU_TUNE
from npu_runtime.errors import InvalidArgument
from npu_runtime.observers.base import SessionObserver
from npu_runtime.observers.prediction.stop import listen
from npu_runtime.observers.prediction.training_steps import TrainingSteps, put_document
from npu_runtime.observers.ran_step import RanStep
from npu_runtime.observers.tuning.programs.outcome import Outcome
from npu_runtime.observers.tuning.programs.program_tuner import TunedProgram
from npu_runtime.observers.tuning.programs.session_tuner import SessionTuner, tuners


@dataclass(frozen=True)
class TuneCommand:
    """out: file for the document.  steps: of a training program before the script is stopped: others may be trained by turns."""

    out: str
    steps: int


def read_command(environment: Mapping[str, str]) -> TuneCommand | None:
    """The request in the environment, None for none.  Raises: InvalidArgument for a text that is no such request."""
    text = environment.get(TF2NPU_TUNE)
    if not text:
        return None
    try:
        found = json.loads(text)
        return TuneCommand(str(found["out"]), int(found["steps"]))
    except (ValueError, TypeError, LookupError, RecursionError):
        raise InvalidArgument(f"{TF2NPU_TUNE} is no request of tf2npu tune: unset it") from None


class TuningCollector(SessionObserver):
    """Counts the steps of training programs, and ends the script behind the last."""

    def __init__(self, command: TuneCommand) -> None:
        self.command = command
        self._steps = TrainingSteps(command.steps)

    def after(self, step: RanStep) -> None:
        """Count a step.  Raises: SystemExit behind the last one, in every thread that runs another."""
        self._steps.count(step, lambda *_: put_document(self.command.out, document_of(tuners())))


def document_of(found: list[SessionTuner]) -> dict[str, Any]:
    """The results of tuners as plain values: one object a program."""
    return {"programs": [_program(tuner, program) for tuner in found for program in tuner.programs]}


def _program(tuner: SessionTuner, program: TunedProgram) -> dict[str, Any]:
    default, after = program.us()
    return {
        "soc": tuner.chip.name, "mode": tuner.request.mode, "bank": str(tuner.tuner.bank.custom.path), "name": program.name,
        "default_us": default, "us": after, "late": program.n_late, "operators": [_operator(one) for one in program.outcomes],
    }  # fmt: skip


def _operator(one: Outcome) -> dict[str, Any]:
    return {
        "name": one.name, "op_type": one.op_type, "count": len(one.operators), "compiled_with": one.decision.compiled_with,
        "default_us": one.default_us, "us": one.after_us,
    }  # fmt: skip


_COLLECTORS: dict[str, TuningCollector] = {}
"""The collector of this process, by the text of the request."""


def tuning_collector(environment: Mapping[str, str] = os.environ) -> TuningCollector | None:
    """The one collector of this process, None where nobody asks.  Raises: InvalidArgument for a request that is none."""
    command = read_command(environment)
    if command is None:
        return None
    listen()
    return _COLLECTORS.setdefault(repr(command), TuningCollector(command))
