"""One training step on one chip: compiled for it, and run on its clock."""

from __future__ import annotations

from dataclasses import dataclass

from npu_runtime.cost.fitted import load_fitted
from npu_runtime.device.chip import Chip
from npu_runtime.simulation.compiled_model import CompiledModel, Ranks, compile_model
from npu_runtime.simulation.device import Issue, SimulatedDevice
from npu_runtime.simulation.device_compiler import Lowered, Target, lower_for
from npu_runtime.simulation.ran_step import RanStep
from npu_runtime.simulation.run_record import Iteration

_STEPS = 2
"""Steps that are run on the clock: the time of a step is from the end of the first to the end of the second."""


@dataclass(frozen=True)
class ChipStep:
    """us: microseconds from one step to the next.  mode: precision.  batch: examples of a step, None if unknown."""

    chip: Chip
    mode: str
    batch: int | None
    model: CompiledModel
    iteration: Iteration
    us: float


class StepCompiler:
    """Compiles one step for several targets; chips of a family share what is lowered."""

    def __init__(self, step: RanStep, ranks: Ranks, iterations_per_loop: int, precision: str) -> None:
        self.step, self.ranks, self.iterations_per_loop, self.precision = step, ranks, iterations_per_loop, precision
        self._lowered: dict[tuple[bool, bool, str], Lowered] = {}

    def lowered(self, target: Target) -> Lowered:
        """The tasks on a target."""
        key = target.chip.is_split, target.chip.has_bfloat16, target.mode
        if key not in self._lowered:
            step = self.step
            self._lowered[key] = lower_for(step.graph, step.shapes, step.placement, step.config, target)
        return self._lowered[key]

    def run(self, target: Target, iterations_per_loop: int | None = None) -> ChipStep:
        """A step of many: of a sunk loop each has its part of the one issue."""
        lowered = self.lowered(target)
        model = compile_model(self.step.name, lowered.tasks, target.chip, self.ranks, self.step.source_of, lowered.input_bytes)
        sunk = self.iterations_per_loop if iterations_per_loop is None else iterations_per_loop
        issue = Issue(is_issued=True, copies_inputs=sunk <= 1 and not _takes_from_queue(self.step))
        device = SimulatedDevice(target.chip)
        loaded = device.load(model)
        made = [device.step(loaded, model, issue, self.step.turns) for _ in range(_STEPS)][-1]
        us = made.end - made.start - load_fitted().issue_us * (1.0 - 1.0 / max(1, sunk))
        return ChipStep(target.chip, lowered.mode, lowered.batch, model, made, us)


def _takes_from_queue(step: RanStep) -> bool:
    """Whether the input pipeline fills a queue of the device beside the steps."""
    return bool(step.config.parameters.get("enable_data_pre_proc"))
