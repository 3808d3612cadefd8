"""_ExperimentalConfig: the level of collection, the group of counters, and options of which a simulation has nothing.

Source of names and values: the vendor's guide, and torch_npu/profiler/experimental_config.py.
"""

from __future__ import annotations

from typing import Any

from .messages import switch, warn


class ProfilerLevel:
    """Level0: names and times of tasks. Level1: also tensors, counters and collectives. Level2: also a table of the AI CPU."""

    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"
    Level_none = "Level_none"


class AiCMetrics:
    """Groups of counters of the AI cores."""

    PipeUtilization = "ACL_AICORE_PIPE_UTILIZATION"
    ArithmeticUtilization = "ACL_AICORE_ARITHMETIC_UTILIZATION"
    Memory = "ACL_AICORE_MEMORY_BANDWIDTH"
    MemoryL0 = "ACL_AICORE_L0B_AND_WIDTH"
    MemoryUB = "ACL_AICORE_MEMORY_UB"
    ResourceConflictRatio = "ACL_AICORE_RESOURCE_CONFLICT_RATIO"
    L2Cache = "ACL_AICORE_L2_CACHE"
    MemoryAccess = "ACL_AICORE_MEMORY_ACCESS"
    AiCoreNone = "ACL_AICORE_NONE"


class ExportType:
    """Forms of the files."""

    Db = "db"
    Text = "text"


class HostSystem:
    """Measurements of the host: none is made here."""

    CPU = "cpu"
    MEM = "mem"
    DISK = "disk"
    NETWORK = "network"
    OSRT = "osrt"
    NUMA = "numa"


_GROUPS = {value: name for name, value in vars(AiCMetrics).items() if not name.startswith("_")}
"""Value -> name, which is the name of our group of counters for all but MemoryAccess and AiCoreNone."""
_LEVELS = (ProfilerLevel.Level0, ProfilerLevel.Level1, ProfilerLevel.Level2, ProfilerLevel.Level_none)
_NOT_SIMULATED = {
    "l2_cache": False, "msprof_tx": False, "mstx": False, "record_op_args": False, "op_attr": False, "gc_detect_threshold": None,
    "host_sys": None, "mstx_domain_include": None, "mstx_domain_exclude": None, "sys_io": False, "sys_interconnection": False,
}  # fmt: skip
"""Options that collect what a simulation does not have, and their defaults."""


class _ExperimentalConfig:
    """profiler_level: of ProfilerLevel.  aic_metrics: of AiCMetrics, not at level 0.  export_type: of ExportType, or a list.
    data_simplification: accepted, as nothing superfluous is written.  What cannot be done is told, and the default taken.
    """

    def __init__(
        self, profiler_level: str = ProfilerLevel.Level0, aic_metrics: str | None = None, *, data_simplification: bool = True,
        export_type: str | list[str] = ExportType.Text, **others: Any,
    ) -> None:  # fmt: skip
        self._profiler_level = _known("profiler_level", profiler_level, _LEVELS, ProfilerLevel.Level0)
        self._aic_metrics = self._metrics(aic_metrics)
        self._data_simplification = switch("data_simplification", data_simplification)
        self._export_type = _export_types(export_type)
        unknown = sorted(others.keys() - _NOT_SIMULATED.keys())
        if unknown:
            raise TypeError(f"_ExperimentalConfig() got an unexpected keyword argument {unknown[0]!r}")
        for name, default in _NOT_SIMULATED.items():
            value = others.get(name, default)
            setattr(self, f"_{name}", value)
            if value:
                warn(f"{name} is not simulated; its files are not written")

    def _metrics(self, wanted: str | None) -> str:
        """The group of counters; level 0 has none."""
        if self._profiler_level in (ProfilerLevel.Level0, ProfilerLevel.Level_none):
            if wanted not in (None, AiCMetrics.AiCoreNone):
                warn("aic_metrics needs profiler_level Level1 or Level2; no counters are written")
            return AiCMetrics.AiCoreNone
        found = _known("aic_metrics", wanted or AiCMetrics.PipeUtilization, tuple(_GROUPS), AiCMetrics.PipeUtilization)
        if found == AiCMetrics.MemoryAccess:
            warn("aic_metrics MemoryAccess is not simulated; PipeUtilization is taken")
            return AiCMetrics.PipeUtilization
        return found

    @property
    def group(self) -> str:
        """The name of the group of counters, "" for none."""
        return "" if self._aic_metrics == AiCMetrics.AiCoreNone else _GROUPS[self._aic_metrics]


def _known(name: str, value: Any, known: tuple[str, ...], default: str) -> str:
    if value in known:
        return str(value)
    warn(f"{name} must be one of {', '.join(known)}, got {value!r}; {default} is taken")
    return default


def _export_types(value: Any) -> list[str]:
    """The database is a form for MindStudio alone: the tables are written in its place."""
    wanted = [value] if isinstance(value, str) else list(value or [])
    if wanted != [ExportType.Text]:
        warn("export_type: only ExportType.Text is simulated, which is taken")
    return [ExportType.Text]


def supported_profiler_level() -> set[str]:
    """All levels."""
    return set(_LEVELS)


def supported_ai_core_metrics() -> set[str]:
    """All groups of counters but the one that is not simulated."""
    return set(_GROUPS) - {AiCMetrics.MemoryAccess}


def supported_export_type() -> set[str]:
    """The forms that are written."""
    return {ExportType.Text}
