"""The document of a prediction: what tf2npu/prediction/prediction.schema.json describes, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from npu_runtime.device.chip import Chip, chip_names, load_chip
from npu_runtime.prediction.advice import MIXED, Adviser
from npu_runtime.prediction.chip_step import ChipStep, StepCompiler
from npu_runtime.prediction.largest_batch import largest_batch
from npu_runtime.prediction.memory_curve import memory_curve
from npu_runtime.prediction.request import PredictionRequest
from npu_runtime.prediction.shares import shares_of
from npu_runtime.simulation.compiled_model import Ranks
from npu_runtime.simulation.device_compiler import Target
from npu_runtime.simulation.ran_step import RanStep
from npu_runtime.simulation.run_record import TaskRun, TensorDescription

VERSION = "1.0"
MODEL_ERROR = 0.16
"""The largest error of a published step that the model was not fitted to, each left out in turn: docs/device_model.md."""
SUNK_ITERATIONS = 100
"""Steps of a loop on the device, for the comparison with one issue a step."""


def document_of(step: RanStep, request: PredictionRequest, ranks: Ranks) -> dict[str, Any]:
    """The document of a training step for all chips that are asked for."""
    compiler = StepCompiler(step, ranks, request.iterations_per_loop, request.precision)
    chips = [_chip_document(step, compiler, load_chip(soc), request) for soc in request.socs]
    return {"version": VERSION, "origin": "prediction", "subject": "", **chips[0], "chips": chips if len(chips) > 1 else []}


def _chip_document(step: RanStep, compiler: StepCompiler, chip: Chip, request: PredictionRequest) -> dict[str, Any]:
    made = compiler.run(Target(chip, request.precision))
    peak = chip.cube_fp16_tflops
    flops = sum(run.task.cost.flops for run in made.iteration.runs)
    tflops = flops / made.us / 1e6 if made.us else 0.0
    batch = made.batch and made.batch * compiler.ranks.n_ranks
    return {
        "soc": chip.name,
        "chip": {
            "n_cores": chip.n_cores, "peak_tflops": peak, "hbm_bytes": chip.hbm_bytes, "hbm_gb_per_s": chip.hbm_gb_per_s,
            "clock_mhz": chip.cube_mhz,
        },
        "precision": made.mode, "batch": batch, "step_ms": made.us / 1000,
        "step_ms_range": [made.us / 1000 * (1 - MODEL_ERROR), made.us / 1000 * (1 + MODEL_ERROR)],
        "examples_per_s": batch / made.us * 1e6 if batch else None,
        "shares": shares_of(made.iteration, made.us), "flops": flops, "tflops": tflops, "utilisation": tflops / peak,
        "memory_peak_bytes": step.variable_bytes + step.memory.arena_bytes, "hbm_bytes": chip.hbm_bytes,
        "memory": memory_curve(step, made.iteration), "tasks": _tasks(made), "advice": Adviser(made, compiler).all(),
        "alternatives": _alternatives(compiler, chip), "largest_batch": largest_batch(step, chip, made.batch),
        "notes": _notes(step, made),
    }  # fmt: skip


def _tasks(made: ChipStep) -> list[dict[str, Any]]:
    return [_task(run, made.iteration.issued[0]) for run in made.iteration.runs]


def _task(run: TaskRun, began: float) -> dict[str, Any]:
    task, cost = run.task, run.task.cost
    moved = cost.traffic.get("hbm")
    return {
        "name": task.name, "op_type": task.op_type, "engine": cost.engine, "stream": task.stream, "start_us": run.start - began,
        "duration_us": run.end - run.start, "bound": cost.bound, "source": task.source,
        "shapes": _both(task.inputs, task.outputs, lambda t: list(t.shape)),
        "formats": _both(task.inputs, task.outputs, lambda t: t.format),
        "dtypes": _both(task.inputs, task.outputs, lambda t: t.dtype),
        "flops": cost.flops, "hbm_bytes": moved.read + moved.written if moved else 0.0, "n_blocks": cost.n_blocks,
        "cycles": dict(cost.cycles), "total_cycles": cost.total_cycles, "l2_hit_rate": cost.l2_hit_rate,
        "members": list(task.members),
    }  # fmt: skip


def _both(inputs: Sequence[TensorDescription], outputs: Sequence[TensorDescription], show: Any) -> dict[str, list[Any]]:
    return {"inputs": [show(t) for t in inputs], "outputs": [show(t) for t in outputs]}


def _alternatives(compiler: StepCompiler, own: Chip) -> list[dict[str, Any]]:
    """The step on its own chip sunk, in mixed precision and both; then on every other chip, in its own precision."""
    asked = compiler.precision
    here = [(own.name, asked, SUNK_ITERATIONS), (own.name, MIXED, 1), (own.name, MIXED, SUNK_ITERATIONS)]
    cases = [*here, *((name, asked, 1) for name in chip_names() if name != own.name)]
    return [_alternative(compiler.run(Target(load_chip(name), mode), sunk), sunk > 1) for name, mode, sunk in cases]


def _alternative(made: ChipStep, is_sunk: bool) -> dict[str, Any]:
    rate = made.batch / made.us * 1e6 if made.batch else None
    return {
        "soc": made.chip.name, "precision": made.mode, "is_sunk": is_sunk, "batch": made.batch, "step_ms": made.us / 1000,
        "examples_per_s": rate,
    }  # fmt: skip


def _notes(step: RanStep, made: ChipStep) -> list[str]:
    """What the prediction leaves out."""
    notes = ["The time of the script between two steps, and of its input pipeline, is not part of the prediction."]
    if any(launch.body for launch in made.model.launches) and not step.turns:
        notes.append("A loop of the graph counts as one turn: how often it turns is known only when it runs.")
    return notes
