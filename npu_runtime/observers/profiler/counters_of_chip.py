"""Counter columns of a chip: of the one kind of core of the training chip, or of both kinds on chips with split cores."""

from __future__ import annotations

from npu_formats.device.chip import Chip
from npu_runtime.observers.profiler.counter_columns import counter_cells, counter_columns
from npu_runtime.simulation.run_record import DeviceTask

_CUBE_ONLY = ("mac", "mte1", "fixpipe", "l1_", "l0a", "l0b", "l0c_read_bw_cube", "l0c_write_bw_cube", "cube")
"""Beginnings of columns that only a core with a cube unit has. Source: the vendor's parser, ai_core_op_report.py."""
_VECTOR_ONLY = ("vec", "mte3", "ub_", "l0c_read_bw(", "l0c_write_bw(")
"""Beginnings of columns that only a core with a vector unit has."""
_TIMES = {"aicore_time(us)": ("aicore_time(us)", "aiv_time(us)"), "total_cycles": ("aic_total_cycles", "aiv_total_cycles")}
"""The columns in front, under the names for either kind of core."""


class ChipCounters:
    """columns: names of all counter columns.  has_utilization: whether the last of them is cube_utilization(%)."""

    def __init__(self, chip: Chip, group: str, split: bool) -> None:
        self._chip, self._group, self._split = chip, group, split
        self._plain = _with_fixpipe(counter_columns(group)) if split else counter_columns(group)
        self.has_utilization = group == "PipeUtilization"
        named = [name for side in self._sides() for name in side] if split else list(self._plain)
        self.columns = [*named, *(["cube_utilization(%)"] if self.has_utilization else [])]

    def cells(self, task: DeviceTask) -> tuple[list[float], float]:
        """The cells of a task without cube_utilization, and its mac_ratio.

        On split chips the side that does not run the task has 0 in all its cells.
        """
        plain = dict(zip(counter_columns(self._group), counter_cells(self._group, task, self._chip), strict=True))
        mac_ratio = plain.get("mac_ratio", 0.0)
        if not self._split:
            return list(plain.values()), mac_ratio
        plain |= _fixpipe_cells(task, plain)
        on_vector = task.task_type == "AI_VECTOR_CORE"
        sides = zip((not on_vector, on_vector), (_CUBE_ONLY, _VECTOR_ONLY), (_VECTOR_ONLY, _CUBE_ONLY), strict=True)
        return [plain[name] if runs else 0 for runs, _, absent in sides for name in self._of_side(absent)], mac_ratio

    def _sides(self) -> tuple[list[str], list[str]]:
        cube = [_TIMES[name][0] if name in _TIMES else f"aic_{name}" for name in self._of_side(_VECTOR_ONLY)]
        vector = [_TIMES[name][1] if name in _TIMES else f"aiv_{name}" for name in self._of_side(_CUBE_ONLY)]
        return cube, vector

    def _of_side(self, absent: tuple[str, ...]) -> list[str]:
        return [name for name in self._plain if not name.startswith(absent) and name != "memory_bound"]


def _with_fixpipe(columns: list[str]) -> list[str]:
    """Cube cores of split chips have a unit more, which takes results out."""
    if "icache_miss_rate" not in columns:
        return columns
    at = columns.index("icache_miss_rate")
    return [*columns[:at], "fixpipe_time(us)", "fixpipe_ratio", *columns[at:]]


def _fixpipe_cells(task: DeviceTask, plain: dict[str, float]) -> dict[str, float]:
    cycles = task.cost.total_cycles
    ratio = task.cost.cycles.get("fixpipe", 0.0) / cycles if cycles else 0.0
    return {"fixpipe_time(us)": round(plain["aicore_time(us)"] * ratio, 3), "fixpipe_ratio": round(ratio, 3)}
