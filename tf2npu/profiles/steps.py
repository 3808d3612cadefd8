"""The steps among the measured tasks: by the step trace, else by the tasks that come again."""

from __future__ import annotations

import bisect
import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tf2npu.profiles.csv_reader import Clock, TableRow, rows
from tf2npu.profiles.tasks import Measured, device_of
from tf2npu.profiles.tree import ProfileTree

_LEAST_US = 1e-3
"""Microseconds that two tasks share at least if they share any: files have no finer digits, and sums of them end in others."""


@dataclass(frozen=True)
class Step:
    """A step between two moments in microseconds.  number: from 1.  model: its id, "" where none is said.

    is_traced: whether the step trace has it, from the end of the step before; else it begins with its first task.  others_us:
    microseconds that other graphs took between the step before and this one, which are not part of it.
    """

    number: int
    start: float
    end: float
    model: str = ""
    is_traced: bool = False
    others_us: float = 0.0

    @property
    def us(self) -> float:
        return self.end - self.start


def traced(tree: ProfileTree, device: str, found: Sequence[Measured]) -> list[Step]:
    """The steps of a device's model whose tasks take most time, as step_trace has them; none where it is absent or empty.

    The time of its steps does not tell: that of an evaluation between two epochs counts from the evaluation before.
    """
    time = _task_time(found)
    by_model: dict[str, list[Step]] = {}
    for path in tree.files["step_trace"]:
        for row in rows(tree.read(path), path):
            step = _of_row(row, tree.clock, len(by_model.get(row.text("modelid"), ())) + 1)
            if step is not None and (row.text("deviceid") or device_of(path)) in ("", device):
                by_model.setdefault(step.model, []).append(step)
    most = max(by_model, key=lambda model: (time.get(model, 0.0), sum(step.us for step in by_model[model]), model), default=None)
    if most is None:
        return []
    ended = [step.end for model, steps in by_model.items() if model != most for step in steps]
    return _without_others(by_model[most], most, found, ended)


def _without_others(steps: Sequence[Step], model: str, found: Sequence[Measured], ended: Sequence[float]) -> list[Step]:
    """The steps of a model from where other graphs have ended, such as one that takes the batch, or that a hook runs.

    ended: moments at which the trace says that another graph has ended, which may have no task that is recorded.
    """
    own = [measured.task.start_us for measured in found if measured.model == model]
    tasks = ((measured.task.start_us, measured.task.end_us) for measured in found if measured.model != model)
    others = sorted([*tasks, *zip(ended, ended, strict=True)])
    starts = [start for start, _ in others]
    ends = list(itertools.accumulate((end for _, end in others), max))
    made = []
    for step in steps:
        first = bisect.bisect_left(own, step.start)
        before = bisect.bisect_left(starts, own[first]) if first < len(own) else 0
        last = ends[before - 1] if before else step.start
        is_between = first < len(own) and step.start < last <= own[first] and last < step.end
        made.append(replace(step, start=last, others_us=last - step.start) if is_between else step)
    return made


def _of_row(row: TableRow, clock: Clock, number: int) -> Step | None:
    end, duration = row.moment(clock, "iterationend"), row.amount("iterationtime")
    if end is None or duration is None or duration <= 0:
        return None
    start = end - duration
    return Step(number, start, end, row.text("modelid"), is_traced=True)


def _task_time(found: Sequence[Measured]) -> dict[str, float]:
    """Microseconds of all tasks of each model."""
    time: dict[str, float] = {}
    for measured in found:
        time[measured.model] = time.get(measured.model, 0.0) + measured.task.duration_us
    return time


def repeated(found: Sequence[Measured]) -> list[Step]:
    """Steps from one start of the model's first task to the next one; the whole profile where nothing comes again.

    So the last step is left out: when the next one would have begun is not known.

    The model is the one whose tasks take most time. Its first task is the first of those that come as often as most do.
    """
    time = _task_time(found)
    model = max(time, key=lambda name: (time[name], name))
    mine = [measured for measured in found if measured.model == model]
    counts = Counter(measured.key for measured in mine)
    often = Counter(counts.values()).most_common(1)[0][0]
    end = max(measured.task.end_us for measured in mine)
    if often < 2:
        return [Step(1, mine[0].task.start_us, end, model)]
    first = next(measured.key for measured in mine if counts[measured.key] == often)
    starts = [measured.task.start_us for measured in mine if measured.key == first]
    pairs = itertools.pairwise(starts)
    found_steps = [Step(n, start, stop, model) for n, (start, stop) in enumerate(pairs, 1) if stop > start]
    return found_steps or [Step(1, mine[0].task.start_us, end, model)]


def typical(steps: Sequence[Step]) -> Step:
    """The step with the median time; of two the first one. The first step is left out of three or more: it compiles."""
    later = steps[1:] if len(steps) > 2 else steps
    return sorted(later, key=lambda step: (step.us, step.number))[(len(later) - 1) // 2]


def with_tasks(steps: Sequence[Step], found: Sequence[Measured]) -> list[Step]:
    """The steps in which a task runs.  found: by start.  A search for each, not a walk: both may be long."""
    starts = [measured.task.start_us for measured in found]
    last_ends = list(itertools.accumulate((measured.task.end_us for measured in found), max))
    before = [bisect.bisect_left(starts, step.end) for step in steps]
    return [step for step, n in zip(steps, before, strict=True) if n and last_ends[n - 1] > step.start]


def within(found: Sequence[Measured], step: Step) -> list[Measured]:
    """The tasks that run in a step, of any model: others share its device.  One that ends as it begins is of the step before."""
    return [m for m in found if m.task.start_us < step.end - _LEAST_US and m.task.end_us > step.start + _LEAST_US]
