"""The scaling of a training step over devices: the step of each number of them, and what limits it.

Every device has as many examples as the one that was run, so the efficiency is the time of a step without the others over that
with them.  All devices are alike here, so they come to each collective at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from npu_runtime.cost.collective import RANKS_A_SERVER, CollectiveTime, collective_time
from npu_runtime.lowering.chip_graph import COLLECTIVE
from npu_runtime.observers.prediction.chip_step import ChipStep, StepCompiler
from npu_runtime.observers.prediction.data_parallel import as_data_parallel, has_collectives
from npu_runtime.observers.ran_step import RanStep
from npu_runtime.simulation.cost_of_task import Ranks
from npu_runtime.simulation.device_compiler import Target

ENOUGH = 0.95
"""The efficiency from which on the devices' own computing is said to limit them: the rest is less than the model errs by."""
COMPUTE, CALLS, HCCS, ROCE = "compute", "calls", "hccs", "roce"
"""Limits of scaling: the devices themselves, the start of each call, links within a server, links between servers."""
_WITHOUT: dict[str, Callable[[CollectiveTime], CollectiveTime]] = {
    CALLS: lambda time: replace(time, start_us=0.0),
    HCCS: lambda time: replace(time, hccs_us=0.0),
    ROCE: lambda time: replace(time, roce_us=0.0),
}


@dataclass(frozen=True)
class Scaling:
    """rows: of the document, one a number of devices.  is_projected: whether the collectives are ours and not the script's.
    notes: sentences for the reader.
    """

    rows: Sequence[dict[str, Any]] = ()
    is_projected: bool = False
    notes: Sequence[str] = ()


def scaling_of(compiler: StepCompiler, target: Target, devices: Sequence[int]) -> Scaling:
    """The step on each number of devices; none where nobody asks, or no gradient is known."""
    if not devices:
        return Scaling()
    is_projected = not has_collectives(compiler.step.graph)
    if is_projected:
        graph = as_data_parallel(compiler.step.graph)
        if graph is None:
            return Scaling(notes=["There is no scaling: the step has no collectives, and no gradient that an optimizer reads."])
        compiler = compiler.for_step(replace(compiler.step, graph=graph))
    rows = [_row(compiler, target, number) for number in devices]
    return Scaling(rows, is_projected, _notes(compiler, target, rows))


def _row(compiler: StepCompiler, target: Target, number: int) -> dict[str, Any]:
    made = _Scaled(compiler, target, number)
    batch = made.step.batch and made.step.batch * number
    return {
        "devices": number, "servers": -(-number // RANKS_A_SERVER), "step_ms": made.us / 1000, "batch": batch,
        "examples_per_s": batch / made.us * 1e6 if batch else None, "efficiency": made.efficiency,
        "communication_ms": made.communication_us / 1000, "exposed_ms": (made.us - made.alone_us) / 1000,
        "calls": len(made.times), "limit": made.limit(),
    }  # fmt: skip


class _Scaled:
    """A step on so many devices.  times: of its collectives, by `id` of the task.  us, alone_us: of the step with and without."""

    def __init__(self, compiler: StepCompiler, target: Target, number: int) -> None:
        self.compiler = compiler.for_ranks(Ranks(number, n_started=compiler.ranks.n_started or compiler.ranks.n_ranks))
        self.step = self.compiler.run(target)
        self.times = _times(self.compiler, self.step)
        self.alone_us = self._us_with(lambda time: CollectiveTime(0.0))
        self.us = max(self.alone_us, self.step.us) if number > 1 else self.alone_us
        self.efficiency = self.alone_us / self.us if self.us else 1.0

    @property
    def communication_us(self) -> float:
        """Time of all collectives, hidden or not."""
        return sum(time.us for time in self.times.values()) if self.compiler.ranks.n_ranks > 1 else 0.0

    def _us_with(self, change: Callable[[CollectiveTime], CollectiveTime]) -> float:
        return self.compiler.us_with(self.step, {task: change(time).us for task, time in self.times.items()})

    def limit(self) -> str:
        """The part that would shorten the step most, if it took no time; COMPUTE from the efficiency ENOUGH on."""
        if self.efficiency >= ENOUGH:
            return COMPUTE
        return min(_WITHOUT, key=lambda name: self._us_with(_WITHOUT[name]))


def _times(compiler: StepCompiler, step: ChipStep) -> dict[int, CollectiveTime]:
    found = {}
    for device, task in compiler.pairs(step):
        if task.head.pattern == COLLECTIVE:
            n_bytes, n_ranks = sum(tensor.n_bytes for tensor in task.read), compiler.ranks.in_call(task)
            time = collective_time(task.head.op_type, n_bytes, n_ranks, compiler.ranks.ranks_a_server, step.chip)
            found[id(device)] = time
    return found


def _notes(compiler: StepCompiler, target: Target, rows: Sequence[dict[str, Any]]) -> list[str]:
    """A note on the last row's step with hcom_parallel; none where it is on or saves nothing, or where computing is the limit."""
    most = rows[-1]
    config = compiler.step.config
    if config.is_hcom_parallel or most["limit"] == COMPUTE:
        return []
    beside = replace(config, parameters={**config.parameters, "hcom_parallel": True})
    made = _Scaled(compiler.for_step(replace(compiler.step, config=beside)), target, most["devices"])
    if made.us >= most["step_ms"] * 1000:
        return []
    return [
        f"Gradients are reduced behind the backward pass: with hcom_parallel on, which reduces them beside it, a step on "
        f"{most['devices']} devices takes {made.us / 1000:.3f} ms instead of {most['step_ms']:.3f} ms."
    ]


def step_of_ranks(step: RanStep, n_started: int, devices: Sequence[int]) -> Ranks:
    """The ranks of the step that the document is about: the first number that is asked for.

    n_started: processes of the run.  A step without collectives is that of one device, whatever number is asked for.
    """
    if devices and not has_collectives(step.graph):
        return Ranks(1)
    return Ranks(devices[0] if devices else n_started, n_started=n_started)
