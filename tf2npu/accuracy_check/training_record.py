"""The record of a check of a script for PyTorch or MindSpore, made of the training steps that its runs have written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from npu_formats.documents.check_record import Failure, Framework
from npu_formats.documents.training_steps import Steps, TrainingStep
from npu_formats.documents.written_steps import as_json
from tf2npu.accuracy_check.step_comparison import (
    OF_CPU,
    OF_DEVICE,
    OF_HALF,
    Comparison,
    Difference,
    Tolerances,
    compared,
)

AGAIN, CPU, DEVICE = "A'", "B", "C"
"""The original again; the migrated script on the CPU; the migrated script, for MindSpore the original, on the device."""


@dataclass(frozen=True)
class MadeRun:
    """steps: what the run has written.  failure: the reason that it made fewer than the original; None where it did not."""

    name: str
    steps: Steps
    failure: Failure | None = None


def record(framework: Framework, original: Steps, runs: Sequence[MadeRun], failure: Failure | None) -> dict[str, Any]:
    """The record, without the names of scripts and chip.  failure: why the original made fewer steps than were asked for."""
    made = {run.name: _compared(original.steps, run) for run in runs}
    first = {"run": "A", "agrees": True, "loss": _losses(original.steps), "failure": _plain(failure)}
    again = made.get(AGAIN)
    return {
        "format": 1, "framework": framework, "steps": len(original.steps),
        "runs": [first, *(_run(run, made, len(original.steps[0].parameters)) for run in runs)],
        "self_distance": as_json(again.loss_error) if again is not None else None,
        "randomness": [_randomness(again.first)] if again is not None and again.first is not None else [],
        "nodes": _nodes(original.steps, made),
    }  # fmt: skip


def compared_run(original: Steps, run: MadeRun) -> dict[str, Any]:
    """The entry of a run alone."""
    return _run(run, {run.name: _compared(original.steps, run)}, 0)


def _compared(original: Sequence[TrainingStep], run: MadeRun) -> Comparison:
    found = compared(original, run.steps.steps, _tolerances(run))
    steps = run.steps.steps
    if run.name == DEVICE and steps and asks_device(original) and is_on_host(steps) and found.first is None:
        first = original[0]
        one = first.parameters[0]
        found.first = Difference("host", one.name, first.optimizer, 0, first.file, first.line, one.dtype)
    return found


def asks_device(original: Sequence[TrainingStep]) -> bool:
    """Whether the original asks for a device in one of its steps or before."""
    return any(step.asks_device for step in original)


def is_on_host(steps: Sequence[TrainingStep]) -> bool:
    """Whether no parameter of these steps is on a device."""
    return all(one.device == "cpu" for step in steps for one in step.parameters)


def _tolerances(run: MadeRun) -> Tolerances:
    if run.name != DEVICE:
        return OF_CPU
    return OF_HALF if any(step.is_half for step in run.steps.steps) else OF_DEVICE


def _run(run: MadeRun, made: Mapping[str, Comparison], n_parameters: int) -> dict[str, Any]:
    found, tolerances = made[run.name], _tolerances(run)
    return {
        "run": run.name, "loss": _losses(run.steps.steps), "agrees": found.first is None and run.failure is None,
        "tolerance": tolerances.loss, "loss_error": as_json(found.loss_error), "update_error": as_json(found.update_error),
        "update_tolerance": tolerances.update,
        "compared": len(found.updates), "agreeing": found.n_agreeing(tolerances),
        "first": found.first.document() if found.first is not None else None, "cause": _cause(run, made),
        "failure": _plain(run.failure),
    }  # fmt: skip


def _cause(run: MadeRun, made: Mapping[str, Comparison]) -> str:
    first, on_cpu = made[run.name].first, made.get(CPU)
    if first is None:
        return ""
    if run.name == AGAIN:
        return "randomness"
    if run.name == CPU or (on_cpu is not None and on_cpu.first is not None) or first.what == "host":
        return "conversion"
    return "precision" if _tolerances(run) is OF_HALF else "kernel"


def _losses(steps: Sequence[TrainingStep]) -> list[Any]:
    return [as_json(step.loss) for step in steps]


def _plain(failure: Failure | None) -> Any:
    return None if failure is None else msgspec.to_builtins(failure)


def _randomness(first: Difference) -> dict[str, Any]:
    why = "the original gave other values here in a second run with the same seeds"
    return {"why": why, "node": first.node, "op": first.op, "file": first.file, "line": first.line}


def _nodes(steps: Sequence[TrainingStep], made: Mapping[str, Comparison]) -> list[dict[str, Any]]:
    """Each parameter, in the order of the optimizers, with the errors of its update and of its gradient."""
    places = {one.name: step for step in reversed(steps) for one in reversed(step.parameters)}
    ordered = list(dict.fromkeys(one.name for step in steps for one in step.parameters))
    shown = {name: found for name, found in made.items() if name != AGAIN}
    return [
        {
            "name": name, "op": places[name].optimizer, "file": places[name].file, "line": places[name].line,
            "runs": {
                run: {"error": as_json(found.updates[name]), "own_error": as_json(found.gradients.get(name))}
                for run, found in shown.items() if name in found.updates
            },
        } for name in ordered
    ]  # fmt: skip
