"""The columns of op_summary that come of the counters of a task, as the vendor's parser computes them from the raw record.

The order of multiplications and the rounding are the parser's, so that its own export of the raw part has the same cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal

from npu_formats.device.chip import Chip
from npu_runtime.observers.profiler.aic_metrics import CUBE_FLOPS, GIGABYTE_BITS, GROUPS, INT8_CUBE_OPS, counts
from npu_runtime.simulation.run_record import DeviceTask

NOT_AVAILABLE = "N/A"
"""A cell without a value."""
_THREE = Decimal("0.001")
"""Decimals of a ratio, a time and a bandwidth."""
_RAISED = Decimal("3e-16")
"""Share of a number by which it is raised before it is rounded, so that a half that binary numbers just miss counts as one.
Source: SQLite's printf.c up to 3.42, by which the vendor's parser rounds."""
_VECTOR_LANES = {"vec_fp16_ratio": 128, "vec_fp32_ratio": 64, "vec_int32_ratio": 64, "vec_misc_ratio": 32}
"""Operations of one cycle of the vector unit by element type, of which vector_fops is the sum. Source: the vendor's parser."""


def counter_columns(group: str) -> list[str]:
    """The names of the columns of a group, without those that depend on how long the task took."""
    named = [event.column for event in GROUPS[group] if event.column]
    if group == "PipeUtilization":
        timed = [name for ratio in named if ratio != "icache_miss_rate" for name in (f"{ratio[:-6]}_time(us)", ratio)]
        return ["aicore_time(us)", "total_cycles", *timed, "icache_miss_rate", "memory_bound"]
    if group == "ArithmeticUtilization":
        named += ["cube_fops", "vector_fops"]
    return ["aicore_time(us)", "total_cycles", *named]


def counter_cells(group: str, task: DeviceTask, chip: Chip) -> list[float]:
    """The cells of a task under those columns."""
    cycles = round(task.cost.total_cycles)
    time = _core_time(cycles, task, chip)
    ratios = _by_column(group, task, cycles, chip)
    cells: list[float] = [_rounded(time), cycles]
    for column in counter_columns(group)[2:]:
        if column.endswith("_time(us)"):
            cells.append(_rounded(time * ratios[column.replace("_time(us)", "_ratio")]))
        elif column == "memory_bound":
            cells.append(_memory_bound(ratios))
        else:
            cells.append(_rounded(ratios[column]))
    return cells


def cube_utilization(task: DeviceTask, duration_ns: int, mac_ratio: float, chip: Chip) -> float:
    """Percent of the cycles of all cores, while the task ran, in which its blocks were on a core; 0 for a task without a cube."""
    cycles = round(task.cost.total_cycles)
    if not (mac_ratio and cycles and duration_ns):
        return 0
    return round(cycles / (float(chip.cube_mhz) * chip.n_cores * duration_ns) * 1000 * 100, 3)


def _core_time(cycles: int, task: DeviceTask, chip: Chip) -> float:
    """Microseconds that the blocks of a task take on the cores, one after another where there are more blocks than cores."""
    n_blocks = task.cost.n_blocks
    rounds = -(-n_blocks // (chip.n_vector_cores if task.task_type == "AI_VECTOR_CORE" else chip.n_cores))
    return round(cycles * 1_000_000 / (chip.cube_mhz * 1_000_000) / n_blocks * rounds, 2)


def _by_column(group: str, task: DeviceTask, cycles: int, chip: Chip) -> dict[str, float]:
    """Ratios, bandwidths and counts by column, before they are rounded."""
    found: dict[str, float] = {}
    slots = counts(group, task)
    for event, count in zip(GROUPS[group], slots, strict=False):
        if event.bits:
            seconds = cycles / (chip.cube_mhz * 1e6)
            found[event.column] = float(count) * event.bits / seconds / GIGABYTE_BITS if cycles else 0.0
        elif group == "L2Cache":
            found[event.column] = float(count)
        else:
            found[event.column] = count / cycles if cycles else 0.0
    if group == "PipeUtilization" and slots[6]:
        found["icache_miss_rate"] = slots[7] / slots[6]
    if group == "ArithmeticUtilization":
        found["cube_fops"] = found["mac_fp16_ratio"] * cycles * CUBE_FLOPS + found["mac_int8_ratio"] * cycles * INT8_CUBE_OPS
        found["vector_fops"] = sum(found[column] * cycles * lanes for column, lanes in _VECTOR_LANES.items())
    return found


def _memory_bound(ratios: Mapping[str, float]) -> float:
    mac, vec = _rounded(ratios["mac_ratio"]), _rounded(ratios["vec_ratio"])
    return round(_rounded(ratios["mte2_ratio"]) / max(mac, vec), 3) if max(mac, vec) else 0


def _rounded(value: float) -> float:
    """Three decimals, halves away from zero, as in the parser's database; counts stay whole."""
    exact = Decimal(value)
    return value if isinstance(value, int) else float((exact + exact * _RAISED).quantize(_THREE, ROUND_HALF_UP))
