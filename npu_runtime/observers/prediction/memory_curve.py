"""Device memory over a step: how many bytes are in use from which moment on."""

from __future__ import annotations

from npu_runtime.observers.ran_step import RanStep
from npu_runtime.simulation.run_record import Iteration

MOST_POINTS = 500
"""Points of a curve: more than a page is pixels wide would not be seen."""


def memory_curve(step: RanStep, iteration: Iteration) -> list[tuple[float, float]]:
    """(microseconds since the step began, bytes) by time, variables included.

    A node of the plan is placed at the end of the task that does it; nodes without a task take the moment of the one before.
    """
    ends = {member: run.end - iteration.issued[0] for run in iteration.runs for member in run.task.members}
    made = [(0.0, float(step.variable_bytes))]
    now = 0.0
    for position, live in step.memory.live_by_position:
        now = max(now, ends.get(step.order[position], now) if position < len(step.order) else now)
        made.append((now, float(step.variable_bytes + live)))
    return _thinned(made)


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The highest point of each of equal parts, so that the peak stays."""
    if len(points) <= MOST_POINTS:
        return points
    size = -(-len(points) // MOST_POINTS)
    parts = [points[i : i + size] for i in range(0, len(points), size)]
    return [max(part, key=lambda point: point[1]) for part in parts]
