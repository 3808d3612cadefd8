"""Writes the profile of a device's run: raw records, and the tables and timelines that the vendor's tools make of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from npu_runtime.observers.profiler.api_statistic import api_statistic
from npu_runtime.observers.profiler.clocks import Clocks
from npu_runtime.observers.profiler.device_log import DeviceLog, log_device, with_bounds
from npu_runtime.observers.profiler.draft_folder import DraftFolder, TooLarge
from npu_runtime.observers.profiler.host_log import HostLog, log_host
from npu_runtime.observers.profiler.model_tables import fusion_op, has_fused, static_op_mem
from npu_runtime.observers.profiler.op_summary import is_split, op_summary
from npu_runtime.observers.profiler.raw.device import core_file, step_file, task_file
from npu_runtime.observers.profiler.raw.host import host_files
from npu_runtime.observers.profiler.raw.information import device_texts, host_texts
from npu_runtime.observers.profiler.readme import README
from npu_runtime.observers.profiler.settings import LEVEL_1, OFF, ProfilingOptions
from npu_runtime.observers.profiler.step_points import choose_points
from npu_runtime.observers.profiler.step_timeline import step_trace_json
from npu_runtime.observers.profiler.step_trace import step_trace
from npu_runtime.observers.profiler.task_tables import aicpu, collectives, communication_statistic, op_statistic, task_time
from npu_runtime.observers.profiler.timeline import timeline
from npu_runtime.simulation.run_record import DeviceRun

_EXPORTED = "mindstudio_profiler_output"
"""Folder of tables and timelines."""
_N_LETTERS = 16
"""Capitals at the end of a folder's name."""
_SHARE_KEPT = 0.75
"""Share of its tasks that a profile keeps at each try to get below storage_limit: the result is at most a quarter too small."""

Part = tuple[str, bytes | str | Iterable[str]]
"""A file: its path in the folder, and its content whole or in parts."""


@dataclass(frozen=True)
class WrittenProfile:
    """folder: that was written.  warnings: a sentence each, for the run log."""

    folder: Path
    warnings: tuple[str, ...]


class ProfileNotWritten(Exception):
    """The files of a profile could not be written; the message says which folder, why, and what to do."""


def write_profile(
    run: DeviceRun, options: ProfilingOptions, output: Path, began_ns: int, *, make: bool = False
) -> WrittenProfile:
    """Write the profile of one device below `output`.

    began_ns: time of day at which the device was opened, nanoseconds since 1970; the folder's name and the points in time follow
    from it, and the same arguments give the same bytes.  make: whether a missing output is made, as for one that comes from the
    environment.  Raises: ProfileNotWritten.
    """
    points, warnings = choose_points(run, options.fp_point, options.bp_point)
    log = log_device(run, points)
    warnings += log.warnings
    if is_split(log.chip):
        warnings.append(_EXPORTED_ALONE.format(soc=run.soc))
    try:
        with DraftFolder(output, make=make):  # first: whether a draft can be made there at all
            pass
        folder = _write_within_limit(log, options, output, began_ns, warnings)
    except OSError as problem:
        raise ProfileNotWritten(_not_written(output, problem)) from None
    return WrittenProfile(folder, tuple(warnings))


_EXPORTED_ALONE = (
    "Profiling: {soc} has vector units that are cores of their own, and their raw records are not known well enough to be "
    "written; the profile has the tables and timelines alone. For msprof choose a chip such as Ascend910A."
)


def _not_written(output: Path, problem: OSError) -> str:
    if isinstance(problem, FileNotFoundError):
        hint = "make the folder first"
    elif isinstance(problem, PermissionError):
        hint = "name a folder that you may write to"
    elif isinstance(problem, NotADirectoryError):
        hint = "name a folder"
    else:
        hint = "see that the disk has room, or name another folder"
    return (
        f"Profiling: no profile is written to {output}: {problem.strerror}; {hint} in the option output. The training goes on "
        "without it."
    )


def _write_within_limit(log: DeviceLog, options: ProfilingOptions, output: Path, began_ns: int, warnings: list[str]) -> Path:
    """Like the device, which overwrites its oldest records, a profile that is too large keeps its latest tasks and steps."""
    n_kept = len(log.tasks)
    while True:
        kept = _latest(log, n_kept)
        try:
            folder = _write(kept, options, output, began_ns)
        except TooLarge:
            if n_kept == 0:
                warnings.append(_NOT_HONOURED.format(limit=options.storage_limit_mb))
                options = replace(options, storage_limit_mb=None)
            n_kept = int(n_kept * _SHARE_KEPT)
            continue
        if n_kept < len(log.tasks):
            warnings.append(_SHORTENED.format(limit=options.storage_limit_mb, n_kept=n_kept, n_all=len(log.tasks)))
        return folder


_NOT_HONOURED = (
    "Profiling: storage_limit of {limit} MB is less than a profile without tasks needs, so it is not honoured; raise it."
)
_SHORTENED = (
    "Profiling: storage_limit of {limit} MB holds the latest {n_kept} of {n_all} tasks, and the older ones are left out; raise "
    "it, or profile fewer steps."
)


def _write(log: DeviceLog, options: ProfilingOptions, output: Path, began_ns: int) -> Path:
    """All files, whole or not at all.  Raises: TooLarge; OSError."""
    host = log_host(log, with_collectives=options.with_collectives)
    with DraftFolder(output, options.storage_limit_bytes) as draft:
        for path, content in _files(log, host, options, Clocks.of_day(began_ns)):
            draft.put(path, content)
        return _publish(draft, log, output, began_ns)


def _latest(log: DeviceLog, n_tasks: int) -> DeviceLog:
    """The latest tasks, and the steps that they have whole."""
    if n_tasks == len(log.tasks):
        return log
    tasks = log.tasks[len(log.tasks) - n_tasks :]
    steps = [step for step in log.steps if tasks and step.start >= tasks[0].start]
    return replace(log, tasks=tasks, steps=tuple(with_bounds(steps)))


def _publish(draft: DraftFolder, log: DeviceLog, output: Path, began_ns: int) -> Path:
    """Another profile of the same moment has the name already: then it is the next number's."""
    number = 1
    while not draft.publish(name := _folder_name(number, began_ns, log.run)):
        number += 1
    return output / name


def _folder_name(number: int, began_ns: int, run: DeviceRun) -> str:
    moment = datetime.fromtimestamp(began_ns // 1_000_000_000, timezone.utc)
    digest = hashlib.blake2b(f"{began_ns} {run.device_id} {run.rank_id}".encode(), digest_size=_N_LETTERS).digest()
    letters = "".join(chr(ord("A") + byte % 26) for byte in digest)
    return f"PROF_{number:06d}_{moment:%Y%m%d%H%M%S}{began_ns // 1_000_000 % 1000:03d}_{letters}"


def files_of(run: DeviceRun, options: ProfilingOptions, began_ns: int) -> tuple[str, Iterator[Part]]:
    """The name of a profile's folder and its files, where it is part of another one.  Arguments: as of write_profile."""
    log = log_device(run, choose_points(run, options.fp_point, options.bp_point)[0])
    host = log_host(log, with_collectives=options.with_collectives)
    return _folder_name(1, began_ns, run), _files(log, host, options, Clocks.of_day(began_ns))


def _files(log: DeviceLog, host: HostLog, options: ProfilingOptions, clocks: Clocks) -> Iterator[Part]:
    if not is_split(log.chip):
        yield from _raw(log, host, options, clocks)
    stamp = f"{datetime.fromtimestamp(clocks.opened_ns // 1_000_000_000, timezone.utc):%Y%m%d%H%M%S}"
    for name, content in _exported(log, host, options, clocks):
        stem, _, ending = name.partition(".")
        yield f"{_EXPORTED}/{stem}_{stamp}.{ending}", content
    yield f"{_EXPORTED}/README.txt", README


def _raw(log: DeviceLog, host: HostLog, options: ProfilingOptions, clocks: Clocks) -> Iterator[Part]:
    """The raw records as the driver leaves them. Those of split cores differ, and are not known well enough to be written."""
    number = log.run.device_id
    for name, text in host_texts(log, clocks, options).items():
        yield f"host/{name}", text
    for name, data in host_files(host, log.run, with_nodes=options.task_trace == LEVEL_1).items():
        yield f"host/data/{name}", data
    device = f"device_{number}"
    for name, text in device_texts(log, clocks, options).items():
        yield f"{device}/{name}", text
    if options.task_trace != OFF:
        yield f"{device}/data/hwts.data.{number}.slice_0", task_file(log)
    if options.task_trace == LEVEL_1:
        yield f"{device}/data/aicore.data.{number}.slice_0", core_file(log, options.aic_metrics)
    if options.training_trace:
        yield f"{device}/data/ts_track.data.{number}.slice_0", step_file(log)


def _exported(log: DeviceLog, host: HostLog, options: ProfilingOptions, clocks: Clocks) -> Iterator[Part]:
    """The tables and timelines that are asked for; a table without rows is not written, as the vendor's tool has it."""
    yield "api_statistic.csv", api_statistic(host, log.run.device_id)
    yield "msprof.json", timeline(log, host, options)
    if options.training_trace and log.steps:
        yield "step_trace.csv", step_trace(log, clocks)
        yield "step_trace.json", step_trace_json(log)
    if options.task_trace == OFF:
        return
    yield "op_summary.csv", op_summary(log, clocks, options)
    yield "task_time.csv", task_time(log, clocks, options)
    if options.task_trace == LEVEL_1:
        yield from _level_1(log)
    if options.aicpu and any(task.numbered.task.task_type == "AI_CPU" for task in log.tasks):
        yield "aicpu.csv", aicpu(log, clocks)
    if options.with_collectives and collectives(log):
        yield "communication_statistic.csv", communication_statistic(log)


def _level_1(log: DeviceLog) -> Iterator[Part]:
    yield "op_statistic.csv", op_statistic(log)
    if has_fused(log):
        yield "fusion_op.csv", fusion_op(log)
    if any(model.run.memory for model in log.models):
        yield "static_op_mem.csv", static_op_mem(log)
