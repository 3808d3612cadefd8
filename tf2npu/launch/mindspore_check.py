"""`tf2npu check` of a program for MindSpore: the same program on TensorFlow's CPU and on the device, step by step.

Nothing of it is converted. MindSpore r1.x has no CPU for most of what these programs do, so the numbers that the device's are
compared with are those of TensorFlow's own kernels, on the same graphs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from npu_formats.documents.training_steps import Ending
from npu_formats.ranks.rank_environment import rank_environment
from tf2npu.accuracy_check.training_record import AGAIN, DEVICE
from tf2npu.launch import mindspore
from tf2npu.launch.check_processes import CheckedScript
from tf2npu.launch.check_request import Wanted
from tf2npu.launch.temporary_conversion import TemporaryConversion
from tf2npu.launch.training_check import ORIGINAL, TrainingCheck
from tf2npu.refused_request import RefusedRequest

_OPTIONS = ("--frontend", mindspore.FRONTEND)


def refuse_options(wanted: Wanted) -> None:
    """Raises: RefusedRequest for an option that means nothing for MindSpore, or for several ranks."""
    if wanted.migrated is not None:
        raise RefusedRequest("--migrated: nothing of a program for MindSpore is converted: leave it out")
    if wanted.modes:
        raise RefusedRequest("--mode: a program for MindSpore asks for its precision itself, by amp_level: leave it out")
    if wanted.is_free:
        raise RefusedRequest("--free: the steps of a program for MindSpore always go on from their own parameters: leave it out")
    try:
        ranks = rank_environment(os.environ)
    except ValueError as error:
        raise RefusedRequest(str(error)) from None
    if ranks is not None:
        raise RefusedRequest(f"RANK_SIZE is {ranks.size}: a program for MindSpore is checked with one rank: unset it")


@dataclass
class MindSporeCheck(TrainingCheck):
    """A check of a program for MindSpore."""

    framework = "MindSpore"
    kernels = "TensorFlow's CPU"
    others = "it again, and on the device; nothing of it is converted"
    roles: ClassVar[Mapping[str, str]] = {AGAIN: "again", DEVICE: "device"}

    def start_original(self) -> CheckedScript:
        return self.processes.steps_of(ORIGINAL, self.script, _OPTIONS, {})

    def start(self, name: str, converted: TemporaryConversion | None) -> CheckedScript:
        options = (*_OPTIONS, *self.processes.options) if name == DEVICE else _OPTIONS
        return self.processes.steps_of(self.roles[name], self.script, options, {})

    def why_untrained(self, ending: Ending) -> str:
        if ending.left_out:
            return f"made no training step: its loss scale left out {ending.left_out}, as gradients overflowed: let it run on"
        if ending.n_backward:
            return (
                f"trains by hand: it computed gradients {ending.n_backward} times, and no optimizer of mindspore.nn was called, "
                "which is what a check compares"
            )
        return "made no training step: it computed no gradient, or a checkpoint that it found is trained already"
