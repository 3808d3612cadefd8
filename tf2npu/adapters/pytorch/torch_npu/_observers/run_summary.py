"""The run log of a process that used the simulated devices, on stderr at its end, and as a document for a report."""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any

import torch

from npu_formats.documents.prediction_request import read_request
from npu_formats.environment import TF2NPU_CHECK, TF2NPU_LOG, TF2NPU_RECORD

from .._device import shapes_only
from .._device.chip import chip_of_run
from .._device.memory import POOLS
from .._device.ranks.started import has_started_others
from . import switched
from .operator_log import LimitAt, OperatorLog
from .step_count import StepCount

_MOST_LINES = 10
"""Rows of each kind that the log shows; TF2NPU_LOG=full shows all."""
_CPU = "falls_back"
_log: list[OperatorLog] = []
_steps = StepCount()


def begin() -> None:
    """Count from here on, and print the log when the process ends."""
    if not _log:
        _log.append(OperatorLog(with_places=bool(os.environ.get(TF2NPU_RECORD))))
        _log[0].begin()
        _steps.begin()
        atexit.register(_print_log)


def none_on_device() -> str:
    """A line for a process that meant to use the device and did not; "" for one that did."""
    if (_log and _log[0].operators) or has_started_others():
        return ""
    return "no operator ran on the device: no tensor of the script was moved to it"


def _print_log() -> None:
    if os.environ.get(TF2NPU_CHECK):
        return  # whoever reads what a process of a check printed looks for what the script says
    computes = _log[0].operators or not has_started_others()
    if computes and sys.stderr is not None:
        print("\n".join(f"torch_npu: {line}" for line in lines()), file=sys.stderr)


def lines() -> list[str]:
    """The log as lines."""
    log = _log[0]
    if none_on_device():
        return [none_on_device()]
    most = None if os.environ.get(TF2NPU_LOG) in ("full", "debug") else _MOST_LINES
    head = (
        f"{sum(log.operators.values())} operators of {len(log.operators)} kinds in {_counted(_steps.count, 'training step')} "
        f"on a simulated {chip_of_run().name}; {_numbers()}"
    )
    return [head, *_limit_lines(log, most), *_copy_lines(log, most), *_memory_lines(log), *_switched_line()]


def _numbers() -> str:
    """The origin of the numbers, in words."""
    if not shapes_only.IS_ON:
        return "their numbers are PyTorch's on the CPU"
    request = read_request(os.environ)
    batch = f", for a batch of {request.batch[0]}" if request is not None and request.from_batch is not None else ""
    return f"shapes alone, no numbers{batch}"


def _report() -> str:
    """The place of what the log leaves out, in words: the report, where the run is recorded for one."""
    return "the report" if os.environ.get(TF2NPU_RECORD) else "`tf2npu run --report DIR`"


def _limit_lines(log: OperatorLog, most: int | None) -> list[str]:
    certain = [(at, count) for at, count in log.limits.most_common() if at.limit.certain]
    told = [f"  {at.limit.message} ({_counted(count, 'time')}, {_short(at.place)})" for at, count in certain]
    names = {at.limit.name for at in log.limits if not at.limit.certain}
    unsure = f"  limits that are not certain, for {_counted(len(names), 'kind')} of operators: {_report()} lists them"
    return _cut(told, most, "limits") + ([unsure] if names else [])


def _copy_lines(log: OperatorLog, most: int | None) -> list[str]:
    """Copies to the host, for which a step waits."""
    waits = [(at, count) for at, count in log.copies.most_common() if at.direction != "host to device"]
    told = [f"  {at.direction} at {_short(at.place)}: {_counted(count, 'time')}, {log.copied[at]} bytes" for at, count in waits]
    return _cut(told, most, "copies")


def _memory_lines(log: OperatorLog) -> list[str]:
    return [
        f"  npu:{pool.index}: at most {_size(pool.peak)} of {(pool.total or 0) / 2**20:.0f} MiB in use"
        + (f", at {_short(log.peaks[pool.index])}" if log.peaks.get(pool.index) else "")
        for pool in POOLS
        if pool.allocations
    ]


def _switched_line() -> list[str]:
    count = len(switched.places())
    told = f"  {_counted(count, 'name')} of CUDA taken for the NPU's: {_report()} says where, and what to write"
    return [told] if count else []


def _cut(told: list[str], most: int | None, what: str) -> list[str]:
    left = 0 if most is None else len(told) - most
    return [*told[:most], f"  {left} more {what}: TF2NPU_LOG=full shows them"] if left > 0 else told


def _size(n_bytes: int) -> str:
    """A number of bytes; small scripts have tensors of less than a MiB."""
    return f"{n_bytes / 2**20:.1f} MiB" if n_bytes >= 2**20 else f"{n_bytes / 2**10:.1f} KiB"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _short(place: str) -> str:
    relative = os.path.relpath(place) if place else "an unknown line"
    return os.path.basename(place) if relative.startswith(os.pardir) else relative


def run_document() -> dict[str, Any]:
    """The report's document on this process."""
    log = _log[0] if _log else OperatorLog(with_places=False)
    total = sum(log.operators.values())
    on_host = sum(count for at, count in log.limits.items() if at.limit.kind == _CPU and at.limit.certain)
    return {
        "device": chip_of_run().name, "steps": _steps.count, "training_steps": _steps.count,
        "device_share": 1.0 - min(1.0, on_host / total) if total else 0.0, "recompilations": 0,
        "host_nodes": _host_reasons(log), "sessions": [], "options_without_effect": [], "sessions_left_open": [],
        "sessions_on_tensorflow": [], "shape_changes": [], "memory_bytes": max(pool.peak for pool in POOLS),
        "device_lines": [{"place": place, "count": count} for place, count in sorted((log.places or {}).items()) if place],
        "host_lines": _host_lines(log), "input_lines": [],
        "eager_operators": {"count": total, "kinds": len(log.operators), "release": str(torch.__version__)},
        "limit_lines": _limits(log), "copy_lines": _copies(log), "memory_peaks": _peaks(log), "switched_lines": _switched(),
    }  # fmt: skip


def _host_lines(log: OperatorLog) -> list[dict[str, Any]]:
    """Operators that the CPU computes, as nodes of a graph that the host computes are told."""
    return [
        {"place": at.place, "reason": at.limit.message, "count": count, "example": at.limit.name, "is_expected": False}
        for at, count in sorted(log.limits.items(), key=_order) if at.limit.kind == _CPU and at.limit.certain
    ]  # fmt: skip


def _host_reasons(log: OperatorLog) -> list[dict[str, Any]]:
    counts: dict[tuple[str, str], int] = {}
    for entry in _host_lines(log):
        key = (entry["reason"], entry["example"])
        counts[key] = counts.get(key, 0) + entry["count"]
    return [{"reason": reason, "count": count, "example": name} for (reason, name), count in counts.items()]


def _limits(log: OperatorLog) -> list[dict[str, Any]]:
    return [
        {
            "place": at.place, "operator": at.limit.name, "kind": at.limit.kind, "message": at.limit.message,
            "is_certain": at.limit.certain, "count": count,
        }
        for at, count in sorted(log.limits.items(), key=_order)
    ]  # fmt: skip


def _copies(log: OperatorLog) -> list[dict[str, Any]]:
    return [
        {"place": at.place, "direction": at.direction, "count": count, "bytes": log.copied[at]}
        for at, count in sorted(log.copies.items(), key=lambda item: (-item[1], item[0]))
    ]


def _peaks(log: OperatorLog) -> list[dict[str, Any]]:
    return [
        {"device": pool.index, "bytes": pool.peak, "capacity": pool.total or 0, "place": log.peaks.get(pool.index, "")}
        for pool in POOLS if pool.allocations
    ]  # fmt: skip


def _switched() -> list[dict[str, Any]]:
    return [
        {"place": f"{one.file}:{one.line}", "name": one.says, "instead": one.instead, "count": one.count}
        for one in switched.places()
    ]


def _order(item: tuple[LimitAt, int]) -> tuple:
    at, count = item
    return (not at.limit.certain, -count, at.place, at.limit.message)
