"""The document of a step of PyTorch's operators: what npu_formats/documents/prediction.schema.json describes, as plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from npu_formats.device.chip import Chip, load_chip
from npu_formats.documents.step_shares import TimedTask, busiest_pipe, parts_of
from npu_runtime.cost.fitted import load_fitted
from npu_runtime.cost.task_cost import CUBE
from npu_runtime.importers.pytorch.operator_call import OperatorCall, tensors_in
from npu_runtime.simulation.cost_of_task import Ranks
from npu_runtime.simulation.operator_bounds import Bound, StepBounds, TaskTime, step_bounds
from npu_runtime.simulation.run_record import TensorDescription

VERSION = "1.0"
_FROM_HOST = "copy host to device"
_MOST_UNMAPPED = 5
"""Operators without a cost of their own that a note names."""


@dataclass(frozen=True)
class EagerStep:
    """calls: of one step, in order, of one device.  memory_bytes: the most that its tensors took.  n_ranks: of the job."""

    calls: Sequence[OperatorCall]
    memory_bytes: int
    n_ranks: int = 1


def document_of(step: EagerStep, socs: Sequence[str]) -> dict[str, Any]:
    """The document of a step for all chips that are asked for, the first of which ran the script."""
    chips = [_chip_document(step, load_chip(soc)) for soc in socs]
    return {"version": VERSION, "origin": "prediction", "subject": "", **chips[0], "chips": chips if len(chips) > 1 else []}


def _chip_document(step: EagerStep, chip: Chip) -> dict[str, Any]:
    bounds = step_bounds(step.calls, chip, Ranks(step.n_ranks))
    alone, fused = bounds.operators, bounds.fused
    batch, peak = batch_of(step.calls), chip.cube_fp16_tflops
    flops = sum(task.flops for task in alone.tasks)
    return {
        "soc": chip.name,
        "chip": {
            "n_cores": chip.n_cores, "peak_tflops": peak, "hbm_bytes": chip.hbm_bytes, "hbm_gb_per_s": chip.hbm_gb_per_s,
            "clock_mhz": chip.cube_mhz,
        },
        "precision": _precision(alone), "batch": batch and batch * step.n_ranks, "step_ms": None, "step_ms_range": None,
        "bounds_ms": sorted((fused.us / 1000, alone.us / 1000)), "examples_per_s": None, "shares": _shares(alone), "flops": flops,
        "tflops": None, "utilisation": None, "memory_peak_bytes": step.memory_bytes, "hbm_bytes": chip.hbm_bytes, "memory": [],
        "tasks": [_task(task, number) for number, task in enumerate(alone.tasks)], "advice": [], "alternatives": [],
        "largest_batch": None, "scaling": [], "scaling_is_projected": False, "notes": _notes(bounds),
    }  # fmt: skip


def batch_of(calls: Sequence[OperatorCall]) -> int | None:
    """The first extent that most of the tensors from the host have; None where none came in the step."""
    came = [use for call in calls if call.name == _FROM_HOST for use in tensors_in(call.results)]
    sizes = Counter(use.shape[0] for use in came if use.shape and not use.is_parameter)
    return min(sizes, key=lambda size: (-sizes[size], size)) if sizes else None


def _precision(bound: Bound) -> str | None:
    """The type in which the cube units do most of their work."""
    work: Counter[str] = Counter()
    for task in bound.tasks:
        if task.engine == CUBE and task.inputs:
            work[task.inputs[0].dtype] += int(task.flops)
    return work.most_common(1)[0][0] if work else None


def _shares(bound: Bound) -> dict[str, float]:
    """Parts of the time of all tasks, by the rule of every other step."""
    return parts_of([_timed(task) for task in bound.tasks], bound.us, 0.0)


def _timed(task: TaskTime) -> TimedTask:
    busiest = task.bound if task.bound in task.cost.cycles else busiest_pipe(task.cost.cycles)
    return TimedTask(task.start_us, task.start_us + task.us, task.engine, busiest, load_fitted().start_us)


def _task(task: TaskTime, number: int) -> dict[str, Any]:
    moved = task.cost.traffic.get("hbm")
    return {
        "name": f"{task.operators[0] if task.operators else task.device_operator}_{number}", "op_type": task.device_operator,
        "engine": task.engine, "stream": task.stream, "start_us": task.start_us, "duration_us": task.us, "bound": task.bound,
        "source": f"{task.file}:{task.line}" if task.file else "",
        "shapes": _both(task, lambda one: list(one.shape)), "formats": _both(task, lambda one: one.format),
        "dtypes": _both(task, lambda one: one.dtype), "flops": task.flops,
        "hbm_bytes": moved.read + moved.written if moved else 0.0, "n_blocks": task.cost.n_blocks,
        "cycles": dict(task.cost.cycles), "total_cycles": task.cost.total_cycles, "l2_hit_rate": task.cost.l2_hit_rate,
        "members": list(task.operators), "runs": 1,
    }  # fmt: skip


def _both(task: TaskTime, show: Any) -> dict[str, list[Any]]:
    def shown(tensors: Sequence[TensorDescription]) -> list[Any]:
        return [show(one) for one in tensors]

    return {"inputs": shown(task.inputs), "outputs": shown(task.outputs)}


def _notes(bounds: StepBounds) -> list[str]:
    """Sentences on what the bounds leave out, and what they assume."""
    notes = [
        f"The bounds are of {len(bounds.operators.tasks)} tasks, an operator each, and of {len(bounds.fused.tasks)}, fused.",
        f"The host's part of the step is {bounds.host_share}.",
    ]
    unmapped = bounds.unmapped
    if unmapped:
        names = sorted(unmapped, key=lambda name: (-unmapped[name], name))
        more = f" and {len(names) - _MOST_UNMAPPED} more" if len(names) > _MOST_UNMAPPED else ""
        said = ", ".join(names[:_MOST_UNMAPPED])
        notes.append(f"These operators count as movements of their bytes, as no cost of theirs is known: {said}{more}.")
    return notes
