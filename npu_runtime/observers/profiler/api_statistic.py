"""api_statistic: what the calls of the host took, by level and name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from npu_runtime.observers.profiler.csv_files import table
from npu_runtime.observers.profiler.host_log import COMMUNICATION, LEVEL_NAMES, HostCall, HostLog


def api_statistic(host: HostLog, device: int) -> Iterator[str]:
    """A row for each name, in the order of names. Averages and squares are rounded as the vendor's parser rounds them."""
    durations: dict[tuple[str, str], list[float]] = defaultdict(list)
    for call in host.calls():
        durations[_name(call), LEVEL_NAMES[call.level]].append((call.end - call.begin) / 1000)
    columns = ["Device_id", "Level", "API Name", "Time(us)", "Count", "Avg(us)", "Min(us)", "Max(us)", "Variance"]
    return table(columns, (_row(device, level, name, times) for (name, level), times in sorted(durations.items())))


def _name(call: HostCall) -> str:
    """Calls of HCCL go by their operator."""
    return str(call.item) if call.level == COMMUNICATION else call.name


def _row(device: int, level: str, name: str, times: Sequence[float]) -> Sequence[Any]:
    total = round(sum(times), 3)
    average = round(total / len(times), 3)
    variance = round(sum(round((time - average) ** 2, 3) for time in times) / len(times), 3)
    return device, level, name, total, len(times), average, round(min(times), 3), round(max(times), 3), variance
