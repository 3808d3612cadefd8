"""The shares of a step's time by kind: every moment counts once, for the first of the kinds below that holds."""

from __future__ import annotations

from collections.abc import Sequence

from npu_runtime.cost.fitted import load_fitted
from npu_runtime.cost.task_cost import AI_CPU, COLLECTIVE, COPY, CUBE, RUNTIME, VECTOR
from npu_runtime.simulation.intervals import Interval, union
from npu_runtime.simulation.run_record import Iteration, TaskRun

SHARES = ("cube", "vector", "memory", "ai_cpu", "launch", "host", "waiting")
_UNITS = {"cube": "cube", "vector": "vector", "scalar": "vector"}
"""Pipes that compute; every other one moves data."""


def shares_of(step: Iteration, step_us: float) -> dict[str, float]:
    """Shares of a step by kind, which sum to 1.

    step_us: microseconds from one step to the next.  A task of the AI cores first starts and then waits for its slowest pipe; an
    AI CPU task counts where no AI core works; what is left is the host's before the first task and waiting after it.
    """
    found = dict.fromkeys(SHARES, 0.0)
    core = [run for run in step.runs if run.task.cost.engine in (CUBE, VECTOR)]
    covered = union([(run.start, run.end) for run in core])
    _count_core(core, found, covered)
    others = {AI_CPU: "ai_cpu", RUNTIME: "launch", COPY: "host", COLLECTIVE: "waiting"}
    for engine, kind in others.items():
        spans = union([(run.start, run.end) for run in step.runs if run.task.cost.engine == engine])
        both = union([*covered, *spans])
        found[kind] += _length(both) - _length(covered)
        covered = both
    begins = min((start for start, _ in covered), default=step.end)
    found["host"] += max(0.0, begins - step.issued[0])
    found["waiting"] += max(0.0, step_us - sum(found.values()))
    total = sum(found.values())
    return {kind: us / total for kind, us in found.items()} if total else found


def _count_core(core: Sequence[TaskRun], found: dict[str, float], covered: Sequence[Interval[float]]) -> None:
    """Scaled so that tasks side by side on two streams count as long as they take together."""
    summed = sum(run.end - run.start for run in core)
    scale = _length(covered) / summed if summed else 0.0
    for run in core:
        us = run.end - run.start
        starting = min(us, run.count * _start_us(run))
        found["launch"] += scale * starting
        found[_UNITS.get(_longest_pipe(run), "memory")] += scale * (us - starting)


def _start_us(run: TaskRun) -> float:
    """Microseconds of one start, and of issuing it where the shapes are known only at run time."""
    return load_fitted().start_us + (load_fitted().issue_us if run.task.is_dynamic else 0.0)


def _longest_pipe(run: TaskRun) -> str:
    cost = run.task.cost
    return cost.bound if cost.bound != "start" else max(cost.cycles, key=lambda pipe: cost.cycles[pipe], default="cube")


def _length(spans: Sequence[Interval[float]]) -> float:
    return sum(end - start for start, end in spans)
