"""kernel_details.csv: the rows of op_summary under torch_npu's names for its columns, with the step of the script in front."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from npu_runtime.observers.profiler.csv_files import row
from npu_runtime.observers.profiler.eager.eager_profile import SINCE_BEGIN, EagerProfile
from npu_runtime.observers.profiler.op_summary import in_summary, op_summary

_NAMES = {
    "Op Name": "Name", "OP Type": "Type", "Task Type": "Accelerator Core", "Task Start Time(us)": "Start Time(us)",
    "Task Duration(us)": "Duration(us)", "Task Wait Time(us)": "Wait Time(us)",
}  # fmt: skip
"""Column of op_summary -> its name here."""
_LEVEL_0 = (
    "Device_id", "Op Name", "OP Type", "Task Type", "Task Start Time(us)", "Task Duration(us)", "Task Wait Time(us)", "Block Num",
    "Input Shapes", "Input Data Types", "Input Formats", "Output Shapes", "Output Data Types", "Output Formats",
)  # fmt: skip
"""The columns at level 0. Source: torch_npu, analysis/prof_common_func/_csv_headers.py."""


def kernel_details(profile: EagerProfile) -> Iterator[str]:
    """The table line by line, by start."""
    options = profile.options.device_options
    rows = csv.reader(op_summary(profile.log, SINCE_BEGIN, options))
    head = next(rows)
    kept = [at for at, name in enumerate(head) if not profile.options.is_level_0 or name in _LEVEL_0]
    front = ["Step Id"] if profile.step_ids else []
    yield row([*front, *(_NAMES.get(head[at], head[at]) for at in kept)])
    tasks = (task for task in profile.log.tasks if in_summary(task.numbered, options))
    for cells, task in zip(rows, tasks, strict=True):
        step = [profile.step_of(task.iteration)] if profile.step_ids else []
        yield row([*step, *(cells[at] for at in kept)])
