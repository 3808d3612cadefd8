"""The source of a folder of torch_npu's profiler: the run of a device, and the options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from npu_runtime.observers.profiler.clocks import LEAD_NS, Clocks
from npu_runtime.observers.profiler.device_log import DeviceLog, log_device
from npu_runtime.observers.profiler.eager.host_operators import HostOperator, host_operators
from npu_runtime.observers.profiler.settings import DEFAULT_METRICS, LEVEL_0, LEVEL_1, ProfilingOptions
from npu_runtime.observers.profiler.step_points import StepPoints
from npu_runtime.simulation.eager_device import EagerRecord

LEVELS = ("Level0", "Level1", "Level2")
"""Levels of collection: names and times; also tensors, counters and collectives; also a table of the AI CPU."""
SINCE_BEGIN = Clocks(LEAD_NS)
"""Times count from the begin of the collection, in tables too: simulated times are none of day, and programs look for a kernel
of a table in the timeline by its start."""


@dataclass(frozen=True)
class EagerOptions:
    """level: one of LEVELS.  aic_metrics: a group of counters, "" for none, which LEVELS[0] has.  with_host, with_device: the
    activities.  record_shapes, with_stack: whether operators are told with their inputs, and with frames of the script.
    information: of profiler_info.json.  metadata: the user's.
    """

    level: str = LEVELS[0]
    aic_metrics: str = ""
    with_host: bool = True
    with_device: bool = True
    record_shapes: bool = False
    with_stack: bool = False
    information: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_level_0(self) -> bool:
        return self.level == LEVELS[0]

    @property
    def device_options(self) -> ProfilingOptions:
        """The same as options of a PROF_* folder."""
        return ProfilingOptions(
            task_trace=LEVEL_0 if self.is_level_0 else LEVEL_1, aicpu=self.level == LEVELS[2], hccl=not self.is_level_0,
            aic_metrics=self.aic_metrics or DEFAULT_METRICS,
        )  # fmt: skip


@dataclass(frozen=True)
class EagerProfile:
    """log: the device's tasks in ticks.  operators: of the host, in order.  step_ids: the script's number of each iteration,
    empty where it does not count.
    """

    record: EagerRecord
    options: EagerOptions
    log: DeviceLog
    operators: Sequence[HostOperator]
    step_ids: Sequence[int]

    def step_of(self, iteration: int) -> int | None:
        """The script's number of a step."""
        return self.step_ids[iteration - 1] if self.step_ids else None


def eager_profile(record: EagerRecord, options: EagerOptions, step_ids: Sequence[int] = ()) -> EagerProfile:
    """The profile of a device's run."""
    log = log_device(record.run, StepPoints())
    return EagerProfile(record, options, log, host_operators(record, log), step_ids)
