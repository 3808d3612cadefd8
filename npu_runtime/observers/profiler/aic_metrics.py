"""Groups of counters of an AI core: what each group counts, and the columns that come of the counts.

Event numbers, counts in units of a port's width and the formulas are those of the vendor's public parser (Ascend/msprof,
`analysis/msconfig/ai_core_config.py` and `analysis/common_func/constant.py`), by which a raw file and a column agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from npu_runtime.cost.task_cost import TaskCost, Traffic
from npu_runtime.simulation.run_record import DeviceTask

N_SLOTS = 8
"""Counters that an AI core has at a time. Source: the raw record of a task."""
GIGABYTE_BITS = 8_589_934_592.0
"""Bits of 2**30 bytes, by which the parser makes GB/s of bits a second."""
CUBE_FLOPS = 16 * 16 * 16 * 2
"""Floating-point operations of one cycle of the cube with fp16: a multiplication and an addition for each of 16x16x16."""
INT8_CUBE_OPS = 16 * 16 * 32 * 2
"""The same with int8, of which the cube takes twice as many along the inner size."""
L2_LINE_BYTES = 128
"""Bytes of a line of the second-level cache, in which its hits are counted. Source: the parser's unit of main memory traffic of
split chips."""


@dataclass(frozen=True)
class Event:
    """A counter.  number: of the event, as in sample.json.  column: ratio or bandwidth that it becomes.  bits: of one count of
    a port, 0 for cycles.  count: of a task, summed over blocks.
    """

    number: int
    column: str
    count: Callable[[DeviceTask], float]
    bits: int = 0


def _cycles(pipe: str) -> Callable[[DeviceTask], float]:
    return lambda task: task.cost.cycles.get(pipe, 0.0)


def _cube_cycles(*types: str) -> Callable[[DeviceTask], float]:
    return lambda task: task.cost.cycles.get("cube", 0.0) if (_type_of(task) in ("int8", "uint8")) == ("int8" in types) else 0.0


def _vector_cycles(*types: str) -> Callable[[DeviceTask], float]:
    return lambda task: task.cost.cycles.get("vector", 0.0) if _type_of(task) in types else 0.0


def _misc_cycles(task: DeviceTask) -> float:
    return 0.0 if _type_of(task) in ("float32", "float16", "int32") else task.cost.cycles.get("vector", 0.0)


def _bytes(level: str, direction: str, unit_bits: int) -> Callable[[DeviceTask], float]:
    return lambda task: getattr(task.cost.traffic.get(level, Traffic()), direction) * 8 / unit_bits


def _hits(direction: str) -> Callable[[DeviceTask], float]:
    return lambda task: _lines(task.cost, direction) * task.cost.l2_hit_rate


def _misses(direction: str) -> Callable[[DeviceTask], float]:
    return lambda task: _lines(task.cost, direction) * (1.0 - task.cost.l2_hit_rate)


def _lines(cost: TaskCost, direction: str) -> float:
    return getattr(cost.traffic.get("l2", Traffic()), direction) / L2_LINE_BYTES


def _not_modelled(task: DeviceTask) -> float:
    """The simulated core has no such unit: its count is 0."""
    return 0.0


def _type_of(task: DeviceTask) -> str:
    """The element type that a task computes with: of its first input, else of its first output."""
    tensors = task.inputs or task.outputs
    return tensors[0].dtype if tensors else "float32"


def _port(number: int, column: str, level: str, direction: str, bits: int) -> Event:
    return Event(number, f"{column}(GB/s)", _bytes(level, direction, bits), bits)


GROUPS: Mapping[str, tuple[Event, ...]] = {
    "PipeUtilization": (
        Event(0x8, "vec_ratio", _cycles("vector")),
        Event(0xA, "mac_ratio", _cycles("cube")),
        Event(0x9, "scalar_ratio", _cycles("scalar")),
        Event(0xB, "mte1_ratio", _cycles("mte1")),
        Event(0xC, "mte2_ratio", _cycles("mte2")),
        Event(0xD, "mte3_ratio", _cycles("mte3")),
        Event(0x54, "", _not_modelled),
        Event(0x55, "icache_miss_rate", _not_modelled),
    ),
    "ArithmeticUtilization": (
        Event(0x49, "mac_fp16_ratio", _cube_cycles("float16")),
        Event(0x4A, "mac_int8_ratio", _cube_cycles("int8")),
        Event(0x4B, "vec_fp32_ratio", _vector_cycles("float32")),
        Event(0x4C, "vec_fp16_ratio", _vector_cycles("float16")),
        Event(0x4D, "", _not_modelled),
        Event(0x4E, "vec_int32_ratio", _vector_cycles("int32")),
        Event(0x4F, "vec_misc_ratio", _misc_cycles),
    ),
    "Memory": (
        _port(0x15, "ub_read_bw", "ub", "read", 256 * 4),
        _port(0x16, "ub_write_bw", "ub", "written", 256 * 4),
        _port(0x31, "l1_read_bw", "l1", "read", 256 * 16),
        _port(0x32, "l1_write_bw", "l1", "written", 256 * 8),
        _port(0xF, "l2_read_bw", "l2", "read", 256 * 8),
        _port(0x10, "l2_write_bw", "l2", "written", 256 * 8),
        _port(0x12, "main_mem_read_bw", "hbm", "read", 8 * 8),
        _port(0x13, "main_mem_write_bw", "hbm", "written", 8 * 8),
    ),
    "MemoryL0": (
        _port(0x1B, "l0a_read_bw", "l0a", "read", 256 * 16),
        _port(0x1C, "l0a_write_bw", "l0a", "written", 256 * 16),
        _port(0x21, "l0b_read_bw", "l0b", "read", 256 * 8),
        _port(0x22, "l0b_write_bw", "l0b", "written", 256 * 8),
        _port(0x27, "l0c_read_bw", "l0c", "read", 256 * 8),
        Event(0x29, "l0c_write_bw(GB/s)", _not_modelled, 256 * 8),
        Event(0x28, "l0c_read_bw_cube(GB/s)", _not_modelled, 256 * 8),
        _port(0x2A, "l0c_write_bw_cube", "l0c", "written", 256 * 8),
    ),
    "MemoryUB": (
        _port(0x43, "ub_read_bw_vector", "ub", "read", 128 * 2),
        _port(0x44, "ub_write_bw_vector", "ub", "written", 128 * 2),
        Event(0x37, "ub_read_bw_scalar(GB/s)", _not_modelled, 128),
        Event(0x38, "ub_write_bw_scalar(GB/s)", _not_modelled, 128),
    ),
    "ResourceConflictRatio": (
        Event(0x64, "vec_bankgroup_cflt_ratio", _not_modelled),
        Event(0x65, "vec_bank_cflt_ratio", _not_modelled),
        Event(0x66, "vec_resc_cflt_ratio", _not_modelled),
    ),
    "L2Cache": (
        Event(0x500, "write_cache_hit", _hits("written")),
        Event(0x502, "write_cache_miss_allocate", _misses("written")),
        Event(0x504, "r0_read_cache_hit", _hits("read")),
        Event(0x506, "r0_read_cache_miss_allocate", _misses("read")),
        Event(0x508, "r1_read_cache_hit", _not_modelled),
        Event(0x50A, "r1_read_cache_miss_allocate", _not_modelled),
    ),
}
"""Counters by the name of their group, in the order of a record's slots. All vector instructions with fp16 take 128 lanes; what
reads through the second port of the cache is counted at the first."""


def event_numbers(group: str) -> str:
    """The events of a group as sample.json lists them."""
    return ",".join(f"0x{event.number:x}" for event in GROUPS[group])


def counts(group: str, task: DeviceTask) -> tuple[int, ...]:
    """The eight slots of a task's raw record: whole counts, 0 where the group has fewer."""
    made = [round(event.count(task)) for event in GROUPS[group]]
    return (*made, *[0] * (N_SLOTS - len(made)))
