"""torch_npu.profiler: what a script does on the device, in the folder that MindStudio and msprof-analyze read.

Source of names, defaults and files: the vendor's guide to the Ascend PyTorch Profiler (Ascend/pytorch, docs, CC BY 4.0).
"""

from __future__ import annotations

from .experimental_config import (
    AiCMetrics,
    ExportType,
    HostSystem,
    ProfilerLevel,
    _ExperimentalConfig,
    supported_ai_core_metrics,
    supported_export_type,
    supported_profiler_level,
)
from .profiler import ProfilerActivity, _KinetoProfile, profile, supported_activities, tensorboard_trace_handler
from .scheduler import ProfilerAction
from .scheduler import Schedule as schedule

__all__ = [
    "AiCMetrics", "ExportType", "HostSystem", "ProfilerAction", "ProfilerActivity", "ProfilerLevel", "_ExperimentalConfig",
    "_KinetoProfile", "profile", "schedule", "supported_activities", "supported_ai_core_metrics", "supported_export_type",
    "supported_profiler_level", "tensorboard_trace_handler",
]  # fmt: skip
