"""The parts of a measured step's time, by the rule that predicted steps are parted by too."""

from __future__ import annotations

from collections.abc import Sequence

from npu_formats.documents.prediction import Shares
from npu_formats.documents.step_shares import TimedTask, busiest_pipe, parts_of
from tf2npu.profiles.steps import Step
from tf2npu.profiles.tasks import CONTROL_FLOW, Measured


def shares_of(found: Sequence[Measured], step: Step) -> Shares:
    """Parts of the step by what runs.  found: tasks with times since the step began.

    A profile without the times of cores does not say what of a task is its launch: that part is None then.
    """
    inside = [timed for measured in found if (timed := _timed(measured, step)).start < timed.end]
    last = max((timed.end for timed in inside), default=0.0)
    begins = 0.0 if step.is_traced else min(last - step.us, 0.0)
    shares = Shares(**parts_of(inside, step.us, begins))
    if not any(measured.core_us is not None for measured in found):
        shares.launch = None
    return shares


def _timed(measured: Measured, step: Step) -> TimedTask:
    task = measured.task
    start, end = max(task.start_us, 0.0), min(task.end_us, step.us)
    is_wait = task.engine == "runtime" and not CONTROL_FLOW.match(task.op_type)
    return TimedTask(start, end, "" if is_wait else task.engine, busiest_pipe(task.cycles), measured.launch_us)
