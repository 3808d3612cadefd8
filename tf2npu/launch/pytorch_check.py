"""`tf2npu check` of a script for PyTorch: the original on the CPU, the migrated script there and on the device, step by step."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from npu_formats.documents.training_steps import Ending, Steps
from tf2npu.accuracy_check.training_record import AGAIN, CPU, DEVICE, asks_device, compared_run
from tf2npu.launch import pytorch
from tf2npu.launch.bisect_rules import change_of_rules
from tf2npu.launch.check_processes import CheckedScript
from tf2npu.launch.check_request import Wanted, say, search_path
from tf2npu.launch.temporary_conversion import TemporaryConversion
from tf2npu.launch.training_check import ORIGINAL, TrainingCheck
from tf2npu.refused_request import RefusedRequest


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
class PyTorchCheck(TrainingCheck):
    """A check of a script for PyTorch."""

    framework = "PyTorch"
    kernels = "PyTorch's CPU"
    others = "it again, and the migrated script on PyTorch's CPU and on the device"
    roles: ClassVar[Mapping[str, str]] = {AGAIN: "again", CPU: "migrated", DEVICE: "device"}

    def start_original(self) -> CheckedScript:
        return self.processes.steps_of(ORIGINAL, self.script, (), {})

    def start(self, name: str, converted: TemporaryConversion | None) -> CheckedScript:
        if name == AGAIN:
            return self.processes.steps_of(self.roles[name], self.script, (), {})
        script = converted.script if converted is not None else self.wanted.migrated or self.script
        path = search_path()
        environment = {"PYTHONPATH": converted.search_path(path)} if converted is not None and path else {}
        options = ("--strict", *self.processes.options) if name == DEVICE else ()
        return self.processes.steps_of(self.roles[name], script, options, environment)

    def say_what_is_left(self, original: Steps) -> None:
        if not asks_device(original.steps):
            say(f"{self.script} asks for no device, so no operator of one is checked")

    def why_untrained(self, ending: Ending) -> str:
        if ending.left_out:
            return f"made no training step: its GradScaler left out {ending.left_out}, as gradients were infinite: let it run on"
        if ending.n_backward:
            return (
                f"trains by hand: it called backward {ending.n_backward} times, and no optimizer of torch.optim made a step, "
                "which is what a check compares"
            )
        return "made no training step: it never called backward, or a checkpoint that it found is trained already"

    def find_rules(self, found: dict[str, Any], original: Steps) -> None:
        """Put into the run on the CPU the rules that make it differ, where the conversion was made here."""
        converted = self.converted
        run = next((run for run in found["runs"] if run["run"] == CPU), None)
        if converted is None or run is None or run["cause"] != "conversion" or found["randomness"]:
            return
        say("looks for the rules that make the difference")

        def tried(other: TemporaryConversion) -> dict[str, Any]:
            process = self.start(CPU, other)
            try:
                code = process.wait(self.processes.deadline)
            finally:
                process.stop()
            return compared_run(original, self.made(CPU, process, code, original))

        def has_time() -> bool:
            return time.monotonic() < self.processes.deadline

        run["least_change"] = change_of_rules(self.script, self.folder / "conversions", converted, tried, has_time)
