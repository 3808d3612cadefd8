"""The texts beside the raw records: what machine collected, with which settings, and when by which clock.

Source of names and values: what the vendor's public parser reads (Ascend/msprof, analysis/common_func/info_conf_reader.py).
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

from npu_formats.device.chip import Chip
from npu_runtime.observers.profiler.aic_metrics import event_numbers
from npu_runtime.observers.profiler.clocks import LEAD_NS, OPENED_RAW_NS, OPENED_TICKS, TICK_NS, Clocks, raw_ns
from npu_runtime.observers.profiler.device_log import DeviceLog
from npu_runtime.observers.profiler.settings import LEVEL_0, OFF, ProfilingOptions

HOST_ID = 64
"""The number that stands for the host where devices are numbered."""
PLATFORM = "1"
"""The training chip with one kind of core, as the parser numbers generations of chips."""
DRIVER = 467473
"""Version of the driver: from this one on the parser exports all iterations at once."""
PROCESS_ID = 1000
"""Number of the simulated process. Constant, so that two runs of a program leave the same bytes."""
PROCESS = "python"
"""Name of the process."""
_CONTROL_CPUS, _AI_CPUS = (0, 1, 2, 3), (4, 5, 6, 7)
"""Cores of the device that control it and that run AI CPU operators. Source: the default split of the training chip."""


def host_texts(log: DeviceLog, clocks: Clocks, options: ProfilingOptions) -> dict[str, str]:
    """The files beside host/data by name."""
    return {
        "info.json": _line(_information(log, HOST_ID)),
        "sample.json": _line(_settings(options, HOST_ID)),
        "start_info": _line(_start(clocks)),
        "end_info": _line(_end(log, clocks)),
        "host_start.log": _host_clock("Host"),
    }


def device_texts(log: DeviceLog, clocks: Clocks, options: ProfilingOptions) -> dict[str, str]:
    """The files beside device_N/data by name."""
    number = log.run.device_id
    return {
        f"info.json.{number}": _line(_information(log, number) | {"DeviceInfo": [_cores(log.chip, number)]}),
        "sample.json": _line(_settings(options, number)),
        f"start_info.{number}": _line(_start(clocks)),
        f"end_info.{number}": _line(_end(log, clocks)),
        "host_start.log": _host_clock("Host"),
        f"dev_start.log.{number}": f"clock_monotonic_raw: {OPENED_RAW_NS}\ncntvct: {OPENED_TICKS}\n",
    }


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value) + "\n"


def _information(log: DeviceLog, number: int) -> dict[str, Any]:
    return {
        "jobInfo": "", "version": "1.0", "drvVersion": DRIVER, "devices": str(number), "platform_version": PLATFORM,
        "pid": str(PROCESS_ID), "pid_name": PROCESS, "rank_id": log.run.rank_id, "hostname": "simulated",
        "hwtype": log.run.soc,
        "CPU": [{"Id": 0, "Name": "simulated", "Frequency": "", "Logical_CPU_Count": 1, "Type": "simulated"}],
    }  # fmt: skip


def _cores(chip: Chip, number: int) -> dict[str, Any]:
    return {
        "id": number, "env_type": 3, "ctrl_cpu_id": "ARMv8_Cortex_A55", "ctrl_cpu_core_num": len(_CONTROL_CPUS),
        "ctrl_cpu_endian_little": 1, "ts_cpu_core_num": 1, "ai_cpu_core_num": len(_AI_CPUS), "ai_core_num": chip.n_cores,
        "ai_cpu_core_id": _AI_CPUS[0], "ai_core_id": 0, "aicpu_occupy_bitmap": sum(1 << core for core in _AI_CPUS),
        "ctrl_cpu": ",".join(map(str, _CONTROL_CPUS)), "ai_cpu": ",".join(map(str, _AI_CPUS)), "aiv_num": 0,
        "hwts_frequency": str(1000 // TICK_NS), "aic_frequency": str(chip.cube_mhz), "aiv_frequency": str(chip.cube_mhz),
    }  # fmt: skip


def _settings(options: ProfilingOptions, number: int) -> dict[str, Any]:
    counted = options.task_trace not in (LEVEL_0, OFF)
    return {
        "ai_core_metrics": options.aic_metrics, "ai_core_profiling": "on" if counted else "off",
        "ai_core_profiling_mode": "task-based", "ai_core_profiling_events": event_numbers(options.aic_metrics),
        "aicpuTrace": "on" if options.aicpu else "off", "devices": str(number),
        "hwts_log": "off" if options.task_trace == OFF else "on",
        "ts_keypoint": "on" if options.training_trace else "off", "taskTime": options.task_trace,
        "profLevel": options.task_trace, "job_id": "", "app": PROCESS, "hccl": "on" if options.hccl else "off",
        "fpPoint": options.fp_point, "bpPoint": options.bp_point,
    }  # fmt: skip


def _start(clocks: Clocks) -> dict[str, str]:
    return _moment(clocks, OPENED_RAW_NS - LEAD_NS, "Begin")


def _end(log: DeviceLog, clocks: Clocks) -> dict[str, str]:
    return _moment(clocks, raw_ns(end_us(log)), "End")


def end_us(log: DeviceLog) -> float:
    """The end of a run, simulated microseconds: of the last task, step, issue of a step, or loading of a model."""
    models = log.run.models
    ends = [run.end for model in models for step in model.iterations for run in step.runs]
    steps = [time for model in models for step in model.iterations for time in (step.end, step.issued[1])]
    return max([0.0, *ends, *steps, *(model.loaded[1] for model in models)])


def _moment(clocks: Clocks, raw: int, which: str) -> dict[str, str]:
    ns = clocks.opened_ns + raw - OPENED_RAW_NS
    date = datetime.fromtimestamp(ns // 1_000_000_000, timezone.utc)
    return {
        f"collectionDate{which}": f"{date:%Y-%m-%d %H:%M:%S}.{ns % 1_000_000_000 // 1000:06d}",
        f"collectionTime{which}": str(ns // 1000),
        "clockMonotonicRaw": str(raw),
    }


def _host_clock(section: str) -> str:
    return f"[{section}]\nclock_monotonic_raw: {OPENED_RAW_NS}\ncntvct: {OPENED_RAW_NS}\ncntvct_diff: 0\n"
