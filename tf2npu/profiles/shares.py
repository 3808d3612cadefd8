"""Into what the time of a measured step is parted: what runs at each moment, and what the device waits for where nothing does."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

from npu_formats.documents.prediction import Shares, Task
from tf2npu.profiles.steps import Step

_MEMORY = ("mte1", "mte2", "mte3", "fixpipe")
"""Pipes that move data; a task whose busiest pipe is one of them waits for memory."""
_UNITS = ("cube", "vector")
"""Engines that are units of a core, and pipes of the same name."""


def shares_of(found: Sequence[Task], step: Step) -> Shares:
    """Parts of the step by what runs; moments at which several tasks run are parted equally among them.

    found: tasks with times since the step began.  Where nothing runs while the step trace says that the step waits for the input
    pipeline, the time is `data`, which is None for a profile that does not say.
    """
    changes = sorted(_changes(found, step))
    parts = dict.fromkeys(("cube", "vector", "memory", "ai_cpu", "data", "waiting"), 0.0)
    running: Counter[str] = Counter()
    low = 0.0
    for high, change, part in [*changes, (step.us, 0, "")]:
        _give(parts, running, high - low)
        low = high
        running[part] += change
    total = sum(parts.values()) or 1.0
    shares = Shares(**{name: amount / total for name, amount in parts.items()})
    if step.data is None:
        shares.data = None
    return shares


def _changes(found: Sequence[Task], step: Step) -> list[tuple[float, int, str]]:
    """(moment, 1 or -1, part): where a task, or the wait for data, begins and ends within the step."""
    spans = [(task.start_us, task.end_us, _part(task)) for task in found]
    if step.data is not None:
        spans.append((step.data[0] - step.start, step.data[1] - step.start, "data"))
    inside = [(max(low, 0.0), min(high, step.us), part) for low, high, part in spans]
    kept = [span for span in inside if span[0] < span[1]]
    return list(itertools.chain.from_iterable(((low, 1, part), (high, -1, part)) for low, high, part in kept))


def _give(parts: dict[str, float], running: Counter[str], us: float) -> None:
    """Add a time in which the same tasks run to their parts."""
    n_tasks = sum(n for part, n in running.items() if part not in ("data", ""))
    if us <= 0:
        return
    if not n_tasks:
        parts["data" if running["data"] else "waiting"] += us
        return
    for part, n in running.items():
        if n and part not in ("data", ""):
            parts[part] += us * n / n_tasks


def _part(task: Task) -> str:
    """The part that a running task counts as. The scalar pipe is in every core: a task that waits for it counts as its engine."""
    if task.engine == "AI CPU":
        return "ai_cpu"
    if task.engine in _UNITS:
        if task.bound in _MEMORY:
            return "memory"
        return task.bound if task.bound in _UNITS else task.engine
    return "memory" if task.engine == "copy" else "waiting"
