"""Writes the folder of torch_npu's profiler: its tables and its timeline, and the PROF_* folder of the device in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

from npu_runtime.observers.profiler.collection import Part, files_of
from npu_runtime.observers.profiler.draft_folder import DraftFolder
from npu_runtime.observers.profiler.eager.eager_profile import LEVELS, SINCE_BEGIN, EagerProfile
from npu_runtime.observers.profiler.eager.kernel_details import kernel_details
from npu_runtime.observers.profiler.eager.memory_record import memory_record
from npu_runtime.observers.profiler.eager.operator_details import operator_details
from npu_runtime.observers.profiler.eager.step_trace_time import step_trace_time
from npu_runtime.observers.profiler.eager.trace_view import trace_view
from npu_runtime.observers.profiler.task_tables import aicpu, op_statistic, task_time

OUTPUT = "ASCEND_PROFILER_OUTPUT"
"""Folder of tables and the timeline."""
_README = """\
Files of torch_npu's profiler, of a simulated Ascend device. All times are microseconds of the simulated clock, counted from
the begin of the collection: they come from a model of the device, each operator a task of its own, and not from a measurement.

How long the host takes for a call is not known. A call of an operator is drawn from the start of the first task that it launches
to the end of the last one, or to the next call: nothing waits for the host.
"""


def write_folder(profile: EagerProfile, output: Path, worker: str, began_ns: int) -> Path:
    """Write the folder below `output`, which is made.  worker: the front of its name.  began_ns: time of day at the begin of the
    collection, nanoseconds since 1970, from which its name follows.  Raises: OSError.
    """
    with DraftFolder(output, make=True) as draft:
        for path, content in _files(profile, began_ns):
            draft.put(path, content)
        while not draft.publish(name := f"{worker}_{_moment(began_ns)}_ascend_pt"):
            began_ns += 1_000_000  # the next moment that a name can tell
    return output / name


def _moment(ns: int) -> str:
    """A time of day as names have it, to the millisecond; of UTC, as the device's own folder."""
    return f"{datetime.fromtimestamp(ns // 1_000_000_000, timezone.utc):%Y%m%d%H%M%S}{ns // 1_000_000 % 1000:03d}"


def _files(profile: EagerProfile, began_ns: int) -> Iterator[Part]:
    rank = profile.log.run.rank_id
    name, of_rank = (f"profiler_info_{rank}.json", {"rank_id": rank}) if rank >= 0 else ("profiler_info.json", {})
    yield name, _json({**profile.options.information, **of_rank})
    yield "profiler_metadata.json", _json(dict(profile.options.metadata))
    yield "README.txt", _README
    for name, content in _output(profile):
        yield f"{OUTPUT}/{name}", content
    if profile.options.with_device:
        folder, files = files_of(profile.record.run, profile.options.device_options, began_ns)
        for path, content in files:
            yield f"{folder}/{path}", content


def _json(value: object) -> str:
    return json.dumps(value, indent=4, sort_keys=True) + "\n"


def _output(profile: EagerProfile) -> Iterator[Part]:
    options = profile.options
    yield "trace_view.json", trace_view(profile)
    if options.with_host:
        yield "operator_details.csv", operator_details(profile)
        if profile.record.memory:
            yield "memory_record.csv", memory_record(profile)
    if not options.with_device:
        return
    yield "kernel_details.csv", kernel_details(profile)
    yield "step_trace_time.csv", step_trace_time(profile)
    yield "task_time.csv", task_time(profile.log, SINCE_BEGIN, options.device_options)
    if not options.is_level_0:
        yield "op_statistic.csv", op_statistic(profile.log)
    if options.level == LEVELS[2]:
        yield "data_preprocess.csv", aicpu(profile.log, SINCE_BEGIN)
