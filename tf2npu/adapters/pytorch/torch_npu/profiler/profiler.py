"""torch_npu.profiler.profile: collects the operators of some steps of a script, and writes what they take on the device."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from .experimental_config import ProfilerLevel, _ExperimentalConfig
from .messages import switch, warn
from .scheduler import ProfilerAction, always

if TYPE_CHECKING:
    from .window import Window

ON_HOST, ON_DEVICE = "self_cpu_time_total", "self_npu_time_total"
"""The metrics of export_stacks: time of the host, and of the device."""
_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
_MOST_CHARACTERS = 4096
"""Length of a key or value of the metadata. Source: torch_npu/profiler/profiler.py."""


class ProfilerActivity(Enum):
    """The side that is told: that of the script's operators, or that of the device's tasks."""

    CPU = 0
    NPU = 1


def supported_activities() -> set[ProfilerActivity]:
    """Both sides."""
    return set(ProfilerActivity)


class _KinetoProfile:
    """Collects from `start` to `stop`.  activities: both unless given.  record_shapes: operators with extents and types of their
    inputs.  with_stack, with_modules: with frames of the script.  with_flops: accepted, the device's files have none.
    """

    def __init__(
        self, *, activities: Iterable[ProfilerActivity] | None = None, record_shapes: bool = False, profile_memory: bool = False,
        with_stack: bool = False, with_flops: bool = False, with_modules: bool = False,
        experimental_config: _ExperimentalConfig | None = None, custom_trace_id_callback: Callable[[], str] | None = None,
    ) -> None:  # fmt: skip
        self.activities = _activities(activities)
        self.metadata: dict[str, Any] = {}
        self._switches = {
            "record_shapes": switch("record_shapes", record_shapes), "profile_memory": switch("profile_memory", profile_memory),
            "with_stack": switch("with_stack", with_stack), "with_flops": switch("with_flops", with_flops),
            "with_modules": switch("with_modules", with_modules),
        }  # fmt: skip
        self._config = _config(experimental_config)
        self._trace_id = custom_trace_id_callback
        self._window: Window | None = None
        self._is_collecting = False
        self._counts_steps = False

    def start(self) -> None:
        """Begin to collect."""
        self._begin(0)

    def stop(self) -> None:
        """End it."""
        self._end()

    def _begin(self, step: int) -> None:
        from .window import Window  # the runtime, which a script without a profile does not wait for

        with_memory = self._switches["profile_memory"]
        self._window = Window(self._options(), counts_steps=self._counts_steps, with_memory=with_memory)
        self._window.begin(step)
        self._is_collecting = True

    def _end(self) -> None:
        if self._window is not None and self._is_collecting:
            self._window.end()
            self._is_collecting = False

    def _options(self) -> dict[str, Any]:
        """The request, as the fields of EagerOptions."""
        level = self._config._profiler_level
        return {
            "level": ProfilerLevel.Level0 if level == ProfilerLevel.Level_none else level, "aic_metrics": self._config.group,
            "with_host": ProfilerActivity.CPU in self.activities, "with_device": ProfilerActivity.NPU in self.activities,
            "record_shapes": self._switches["record_shapes"],
            "with_stack": self._switches["with_stack"] or self._switches["with_modules"], "information": self._information(),
        }  # fmt: skip

    def _information(self) -> dict[str, Any]:
        """The content of profiler_info.json. Source of keys: torch_npu/profiler/profiler_interface.py."""
        schedule = getattr(self, "schedule", None)
        common = {
            "activities": sorted(map(str, self.activities)), "schedule": getattr(schedule, "__dict__", None), **self._switches
        }  # fmt: skip
        return {
            "config": {"common_config": common, "experimental_config": dict(vars(self._config))},
            "torch_npu_version": f"{torch.__version__.partition('+')[0]}+tf2npu", "cann_version": "simulated",
        }  # fmt: skip

    def export_chrome_trace(self, output_path: str) -> None:
        """The timeline in a file, once the collection has ended."""
        window = self._ended("export_chrome_trace")
        if window is not None:
            window.write_trace(output_path)

    def export_stacks(self, output_path: str, metric: str = ON_HOST) -> None:
        """Frames of the script with their time in a file that flame graphs read.  metric: self_cpu_time_total or
        self_npu_time_total.
        """
        if not (self._switches["with_stack"] or self._switches["with_modules"]):
            warn("export_stacks needs with_stack=True; nothing is written")
            return
        if metric not in (ON_HOST, ON_DEVICE):
            warn(f"metric must be {ON_HOST} or {ON_DEVICE}, got {metric!r}; {ON_HOST} is taken")
            metric = ON_HOST
        window = self._ended("export_stacks")
        if window is not None:
            window.write_stacks(output_path, on_device=metric == ON_DEVICE)

    def export_memory_timeline(self, output_path: str, device: str | None = None) -> None:
        """Not simulated, which is told."""
        warn("export_memory_timeline is not simulated, so nothing is written; torch.npu.max_memory_allocated() has the peak")

    def _ended(self, what: str) -> Window | None:
        if self._window is None or self._is_collecting:
            warn(f"{what} needs a collection that has ended: call it behind stop(), or behind the with block; nothing is written")
            return None
        return self._window

    def add_metadata(self, key: str, value: str) -> None:
        """A text for profiler_metadata.json."""
        if not all(isinstance(text, str) and len(text) <= _MOST_CHARACTERS for text in (key, value)):
            warn(f"metadata must be texts of at most {_MOST_CHARACTERS} characters; this one is passed over")
            return
        self.metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """A text of JSON for the same."""
        try:
            self.add_metadata(key, value)
            self.metadata[key] = json.loads(value)
        except (TypeError, ValueError):
            self.metadata.pop(key, None)
            warn("the value of add_metadata_json must be a text of JSON; it is passed over")

    def _all_metadata(self) -> dict[str, Any]:
        return self.metadata | ({"trace_id": str(self._trace_id())} if self._trace_id else {})

    def __getattr__(self, name: str) -> NoReturn:
        if name in ("key_averages", "events", "total_average"):
            raise AttributeError(
                f"torch_npu's profiler has no {name}, unlike torch.profiler's: write its tables by "
                "on_trace_ready=torch_npu.profiler.tensorboard_trace_handler(FOLDER), and read operator_details.csv"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class profile(_KinetoProfile):
    """The same over steps that `step` ends.  schedule: step -> ProfilerAction.  on_trace_ready: called with this object when a
    cycle of the schedule, or the collection, has ended.  use_cuda: told to be without effect.
    """

    def __init__(
        self, *, schedule: Callable[[int], ProfilerAction] | None = None, on_trace_ready: Callable[..., Any] | None = None,
        execution_trace_observer: Any = None, use_cuda: bool | None = None, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(**options)
        if use_cuda is not None:
            warn("use_cuda has no effect on an NPU")
        if execution_trace_observer is not None:
            warn("execution_trace_observer is not simulated; it is not called")
        self.schedule = _callable("schedule", schedule) or always
        self._counts_steps = self.schedule is not always
        self.on_trace_ready = _callable("on_trace_ready", on_trace_ready)
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.stopped = True

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin with the schedule."""
        self.stopped = False
        self._go_to(self.current_action)

    def stop(self) -> None:
        """End it, and tell on_trace_ready of what was collected."""
        if self.stopped:
            return
        self.stopped = True
        if self.current_action is ProfilerAction.WARMUP:
            warn("the profile ends in its warm-up, so nothing is written: let the script run more steps, or warm up fewer")
        if self._is_collecting:
            self._finish()

    def step(self) -> None:
        """End a step of the script."""
        if self.stopped:
            warn("step() has no effect on a profile that is stopped")
            return
        before, self.step_num = self.current_action, self.step_num + 1
        self.current_action = self.schedule(self.step_num)
        ends = before is ProfilerAction.RECORD_AND_SAVE
        if self._is_collecting and (ends or self.current_action not in _RECORDING):
            self._finish(is_ready=ends)
        elif self._is_collecting and self._window is not None and self._counts_steps:
            self._window.next_step(self.step_num)
        self._go_to(self.current_action)

    def _go_to(self, action: ProfilerAction) -> None:
        if action in _RECORDING and not self._is_collecting:
            self._begin(self.step_num)

    def _finish(self, *, is_ready: bool = True) -> None:
        self._end()
        if not is_ready:
            warn("the schedule leaves its recording without RECORD_AND_SAVE, so nothing is written")
        elif self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def write_folders(self, folder: str | None, worker: str | None) -> None:
        """Write the folders of what was collected last."""
        if self._window is not None:
            self._window.write_folders(folder, worker, self._all_metadata())

    @classmethod
    def enable_profiler_in_child_thread(cls, **options: Any) -> None:
        """Nothing is to be enabled: operators of all threads are collected."""

    @classmethod
    def disable_profiler_in_child_thread(cls) -> None:
        """The other end of the same."""


def tensorboard_trace_handler(
    dir_name: str | None = None, worker_name: str | None = None, analyse_flag: bool = True, async_mode: bool = False
) -> Callable[[profile], None]:
    """The function that writes the folders of a profile below dir_name, for on_trace_ready.

    worker_name: front of the folder's name, that of the machine unless given.  analyse_flag, async_mode: accepted: the tables are
    written at once.
    """

    def write(prof: profile) -> None:
        prof.write_folders(dir_name, worker_name)

    return write


def analyse(profiler_path: str, max_process_number: int = 0, export_type: Any = None) -> None:
    """Nothing is left to do: the tables are in the folder when it is written."""


def _activities(wanted: Iterable[ProfilerActivity] | None) -> set[ProfilerActivity]:
    chosen = set(wanted or ())
    if chosen <= supported_activities():
        return chosen or supported_activities()
    warn("activities must be of torch_npu.profiler.ProfilerActivity; CPU and NPU are taken")
    return supported_activities()


def _config(wanted: Any) -> _ExperimentalConfig:
    if wanted is not None and not isinstance(wanted, _ExperimentalConfig):
        warn("experimental_config must be a torch_npu.profiler._ExperimentalConfig; its defaults are taken")
    return wanted if isinstance(wanted, _ExperimentalConfig) else _ExperimentalConfig()


def _callable(name: str, value: Any) -> Any:
    if value is None or callable(value):
        return value
    warn(f"{name} must be a function, got {value!r}; it is passed over")
    return None
