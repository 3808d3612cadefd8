"""The document of a prediction: what npu_formats/documents/prediction.schema.json describes, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from npu_formats.device.chip import Chip, chip_names, load_chip
from npu_formats.documents.prediction_request import PredictionRequest
from npu_runtime.lowering.lower import untuned
from npu_runtime.observers.prediction.advice import MIXED, Adviser
from npu_runtime.observers.prediction.batches import OtherBatches
from npu_runtime.observers.prediction.chip_step import ChipStep, StepCompiler
from npu_runtime.observers.prediction.memory_curve import memory_curve
from npu_runtime.observers.prediction.scaling import scaling_of, step_of_ranks
from npu_runtime.observers.prediction.shares import shares_of
from npu_runtime.observers.prediction.training_steps import Shapes
from npu_runtime.observers.ran_step import RanStep
from npu_runtime.simulation.cost_of_task import Ranks
from npu_runtime.simulation.device_compiler import Target
from npu_runtime.simulation.run_record import TaskRun, TensorDescription
from npu_runtime.trace.shapes import SHOWN_SHAPES

VERSION = "1.0"
MODEL_ERROR = 0.16
"""Share of a step's time by which the model may err.  Source: the largest error of a published step when the model is fitted
to all others, 15.2 %, rounded up to the next whole per cent (`python -m benchmarks.fit_device_model`, docs/device_model.md)."""
SUNK_ITERATIONS = 100
"""Steps of a loop on the device, for the comparison with one issue a step."""


def document_of(
    step: RanStep, request: PredictionRequest, ranks: Ranks, n_steps: Mapping[Shapes, int] = MappingProxyType({})
) -> dict[str, Any]:  # fmt: skip
    """The document of a training step for all chips that are asked for.  n_steps: that ran, by the shapes of what was fed."""
    ranks = step_of_ranks(step, ranks.n_ranks, request.devices)
    compiler = StepCompiler(step, ranks, request.iterations_per_loop or 0, request.precision or "")
    others = OtherBatches(compiler, compiler.lowered(Target(load_chip(request.socs[0]), compiler.precision)).batch)
    chips = [_chip_document(step, others, load_chip(soc), request) for soc in request.socs]
    for chip in chips:
        chip["notes"] += _changing_shapes(step, n_steps)
    return {"version": VERSION, "origin": "prediction", "subject": "", **chips[0], "chips": chips if len(chips) > 1 else []}


def _chip_document(step: RanStep, others: OtherBatches, chip: Chip, request: PredictionRequest) -> dict[str, Any]:
    compiler = others.compiler
    made = compiler.run(Target(chip, compiler.precision))
    peak = chip.cube_fp16_tflops
    flops = sum(run.count * run.task.cost.flops for run in made.iteration.runs)
    tflops = flops / made.us / 1e6 if made.us else 0.0
    n_ranks, adviser = compiler.ranks.n_ranks, Adviser(made, compiler, _doubled(others, made, request))
    batch, largest = made.batch and made.batch * n_ranks, others.largest(chip)
    scaling = scaling_of(compiler, Target(chip, compiler.precision), request.devices)
    return {
        "soc": chip.name,
        "chip": {
            "n_cores": chip.n_cores, "peak_tflops": peak, "hbm_bytes": chip.hbm_bytes, "hbm_gb_per_s": chip.hbm_gb_per_s,
            "clock_mhz": chip.cube_mhz,
        },
        "precision": made.mode, "batch": batch, "step_ms": made.us / 1000,
        "step_ms_range": [made.us / 1000 * (1 - MODEL_ERROR), made.us / 1000 * (1 + MODEL_ERROR)], "bounds_ms": None,
        "examples_per_s": batch / made.us * 1e6 if batch else None,
        "shares": shares_of(made.iteration, made.us), "flops": flops, "tflops": tflops, "utilisation": tflops / peak,
        "memory_peak_bytes": step.variable_bytes + step.memory.arena_bytes, "hbm_bytes": chip.hbm_bytes,
        "memory": memory_curve(step, made.iteration), "tasks": _tasks(made), "advice": adviser.all(),
        "alternatives": [*_alternatives(compiler, chip), *_batches(others, chip, request)],
        "largest_batch": largest and largest * n_ranks, "scaling": list(scaling.rows),
        "scaling_is_projected": scaling.is_projected,
        "notes": [*_notes(step, made, others, request), *scaling.notes],
    }  # fmt: skip


def _doubled(others: OtherBatches, made: ChipStep, request: PredictionRequest) -> ChipStep | None:
    """The step of twice as many examples, where the graph takes them."""
    compiler = others.compiler_for(2 * others.batch, made.chip) if others.batch else None
    return compiler.run(Target(made.chip, compiler.precision)) if compiler else None


def _tasks(made: ChipStep) -> list[dict[str, Any]]:
    return [_task(run, made.iteration.issued[0]) for run in made.iteration.runs]


def _task(run: TaskRun, began: float) -> dict[str, Any]:
    """The row of a run; of one that stands for several the amounts are those of all."""
    task, cost, n = run.task, run.task.cost, run.count
    moved = cost.traffic.get("hbm")
    return {
        "name": task.name, "op_type": task.op_type, "engine": cost.engine, "stream": task.stream, "start_us": run.start - began,
        "duration_us": run.end - run.start, "bound": cost.bound, "source": task.source,
        "shapes": _both(task.inputs, task.outputs, lambda t: list(t.shape)),
        "formats": _both(task.inputs, task.outputs, lambda t: t.format),
        "dtypes": _both(task.inputs, task.outputs, lambda t: t.dtype),
        "flops": n * cost.flops, "hbm_bytes": n * (moved.read + moved.written) if moved else 0.0, "n_blocks": cost.n_blocks,
        "cycles": {pipe: n * cycles for pipe, cycles in cost.cycles.items()}, "total_cycles": n * cost.total_cycles,
        "l2_hit_rate": cost.l2_hit_rate,
        "members": list(task.members), "runs": n,
    }  # fmt: skip


def _both(inputs: Sequence[TensorDescription], outputs: Sequence[TensorDescription], show: Any) -> dict[str, list[Any]]:
    return {"inputs": [show(t) for t in inputs], "outputs": [show(t) for t in outputs]}


def _alternatives(compiler: StepCompiler, own: Chip) -> list[dict[str, Any]]:
    """The step on its own chip sunk, in mixed precision and both; then on every other chip, as it was asked for."""
    asked, sunk = compiler.precision, compiler.iterations_per_loop
    here = [(own.name, asked, SUNK_ITERATIONS), (own.name, MIXED, 1), (own.name, MIXED, SUNK_ITERATIONS)]
    cases = [*here, *((name, asked, sunk) for name in chip_names() if name != own.name)]
    n_ranks = compiler.ranks.n_ranks
    return [_alternative(compiler.run(Target(load_chip(name), mode), loop), n_ranks) for name, mode, loop in cases]


def _batches(others: OtherBatches, chip: Chip, request: PredictionRequest) -> Iterator[dict[str, Any]]:
    """The step on its own chip with each further batch that the graph takes."""
    for batch in request.batch:
        compiler = others.compiler_for(batch, chip)
        if compiler is not None:
            yield _alternative(compiler.run(Target(chip, compiler.precision)), compiler.ranks.n_ranks)


def _alternative(made: ChipStep, n_ranks: int) -> dict[str, Any]:
    batch = made.batch and made.batch * n_ranks
    return {
        "soc": made.chip.name, "precision": made.mode, "is_sunk": made.sunk > 1, "batch": batch, "step_ms": made.us / 1000,
        "examples_per_s": batch / made.us * 1e6 if batch else None,
    }  # fmt: skip


def _changing_shapes(step: RanStep, n_steps: Mapping[Shapes, int]) -> list[str]:
    """Notes that batches change size, and which one this is: the times of the others differ."""
    own = tuple(step.shapes)
    others = [_shown(shapes) for shapes in n_steps if shapes != own]
    if not others:
        return []
    said = ", ".join(others[:SHOWN_SHAPES]) + (f" and {len(others) - SHOWN_SHAPES} more" if len(others) > SHOWN_SHAPES else "")
    return [
        f"The shapes of what is fed change: this is a step of {_shown(own)}, which {n_steps[own]} of {sum(n_steps.values())} "
        f"steps had; others had {said}."
    ]


def _shown(shapes: Shapes) -> str:
    return " ".join(f"[{','.join(map(str, shape))}]" for shape in shapes)


def _notes(step: RanStep, made: ChipStep, others: OtherBatches, request: PredictionRequest) -> list[str]:
    """Sentences on what the prediction leaves out, what it assumes, and the batches that have none."""
    notes = ["The time of the script between two steps, and of its input pipeline, is not part of the prediction."]
    launches = made.model.launches
    if any(launch.body for launch in launches) and not step.turns:
        notes.append("A loop of the graph counts as one turn: how often it turns is known only when it runs.")
    if n_dynamic := sum(launch.task.is_dynamic for launch in launches):
        notes.append(
            f"{n_dynamic} tasks have sizes that only a run tells: each counts as 1, so they take longer than is said here."
        )
    if step.choose is not untuned:
        notes.append("Operators are tuned for this chip and precision; other chips, precisions and batches have untuned ones.")
    for batch in request.batch:
        if others.compiler_for(batch, made.chip) is None:
            notes.append(f"There is no prediction for a batch of {batch}: the graph has a fixed batch, or takes no such one.")
    return notes
