"""The lines of export_stacks: frames of the script and the operator below them, with a time, as flame graphs read them.

The outermost frame is in front. Source of the form: the collapsed stacks of Brendan Gregg's FlameGraph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from npu_runtime.observers.profiler.clocks import TICK_NS
from npu_runtime.observers.profiler.eager.eager_profile import EagerProfile


def stacks(profile: EagerProfile, *, on_device: bool) -> Iterator[str]:
    """A line for each stack, in the order of its first call: whole microseconds, and none for less than one."""
    ticks: Counter[str] = Counter()
    for operator in profile.operators:
        frames = [frame for frame in operator.call.stack.split(";") if frame]
        spent = sum(task.end - task.start for task in operator.tasks) if on_device else operator.end - operator.start
        ticks[";".join([*reversed(frames), operator.call.operator.name])] += spent
    for stack, spent in ticks.items():
        us = spent * TICK_NS // 1000
        if us:
            yield f"{stack} {us}\n"
