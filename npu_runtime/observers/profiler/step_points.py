"""The tasks that begin the forward pass and end the backward pass: named by the user, or found by the simulation."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from npu_runtime.simulation.run_record import DeviceRun, DeviceTask, Iteration, ModelRun

N_NEAR_MISSES = 3
"""Names that a warning offers; more do not fit on a line, as names of a graph are long."""


@dataclass(frozen=True)
class StepPoints:
    """fp, bp: names of a task or of a node in it, "" for the point that the simulation found."""

    fp: str = ""
    bp: str = ""

    def of(self, model: ModelRun, iteration: Iteration) -> tuple[float | None, float | None]:
        """Start of the forward and end of the backward pass in microseconds.

        A model that does not have a named task keeps the found point. Of a task that runs several times in a step the first
        run begins, and the last run ends. A backward pass that would end before the forward pass begins is none.
        """
        starts = [run.start for run in iteration.runs if self.fp and _is_named(run.task, self.fp)]
        ends = [run.end for run in iteration.runs if self.bp and _is_named(run.task, self.bp)]
        first, last = min(starts, default=iteration.fp_start), max(ends, default=iteration.bp_end)
        return first, None if first is not None and last is not None and last < first else last


def choose_points(run: DeviceRun, fp: str, bp: str) -> tuple[StepPoints, list[str]]:
    """The points that a user asked for, and a warning for each name that no graph has, or for points in the wrong order."""
    tasks = [task for model in run.models for task in model.tasks]
    chosen, warnings = {}, []
    for option, name, meaning in (("fp_point", fp, "forward"), ("bp_point", bp, "backward")):
        known = not name or any(_is_named(task, name) for task in tasks)
        chosen[option] = name if known else ""
        if not known:
            warnings.append(_unknown(option, name, meaning, tasks))
    points = StepPoints(chosen["fp_point"], chosen["bp_point"])
    if (points.fp or points.bp) and _is_reversed(run, points):
        warnings.append(
            f"Profiling: the task of bp_point {bp!r} ends before that of fp_point {fp!r} begins. The points that the tool finds "
            "are used instead; name the first task of the forward and the last of the backward pass."
        )
        points = StepPoints()
    return points, warnings


def _is_reversed(run: DeviceRun, points: StepPoints) -> bool:
    """Whether some step would lose its backward pass by the chosen points."""
    steps = ((model, step) for model in run.models for step in model.iterations[:1] if step.bp_end is not None)
    return any(points.of(model, step)[1] is None for model, step in steps)


def _is_named(task: DeviceTask, name: str) -> bool:
    return name == task.name or name in task.members


def _unknown(option: str, name: str, meaning: str, tasks: Iterable[DeviceTask]) -> str:
    names = sorted({known for task in tasks for known in (task.name, *task.members)})
    near = difflib.get_close_matches(name, names, N_NEAR_MISSES, cutoff=0.4)
    offered = f" Near it are: {', '.join(near)}." if near else ""
    return (
        f"Profiling: {option} names {name!r}, which no graph on the device has.{offered} The {meaning} point that the tool "
        f"finds is used instead; name a task of op_summary, or leave {option} empty."
    )
