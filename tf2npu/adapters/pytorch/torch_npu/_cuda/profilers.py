"""torch.profiler as a script sees it: the profiler of the NPU, which takes CUDA's activity for the NPU's.

Source of what is switched: the vendor's transfer_to_npu, `_patch_profiler`, and its wrapper that takes experimental_config out.
"""

from __future__ import annotations

from typing import Any

import torch

from .. import profiler
from .._observers import switched
from .modules import switch_module

_OWN = frozenset((
    "activities", "schedule", "on_trace_ready", "record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules",
    "experimental_config", "execution_trace_observer", "use_cuda", "custom_trace_id_callback",
))  # fmt: skip
"""Keywords of the NPU's profiler; PyTorch's has more, which it is not given."""


class _Activities:
    """ProfilerActivity with CUDA's member, which is the NPU's."""

    CPU = profiler.ProfilerActivity.CPU
    NPU = profiler.ProfilerActivity.NPU

    @property
    def CUDA(self) -> profiler.ProfilerActivity:
        switched.note("torch.profiler.ProfilerActivity.CUDA", "torch_npu.profiler.ProfilerActivity.NPU")
        return profiler.ProfilerActivity.NPU


class _Profile(profiler.profile):
    """The NPU's profile with the keywords of PyTorch's."""

    def __init__(self, **options: Any) -> None:
        config = options.get("experimental_config")
        if config is not None and not isinstance(config, profiler._ExperimentalConfig):
            switched.note("experimental_config of torch.profiler", "torch_npu.profiler._ExperimentalConfig(...)")
            del options["experimental_config"]
        super().__init__(**{name: value for name, value in options.items() if name in _OWN})


def install() -> None:
    """Switch torch.profiler."""
    own = {
        "profile": _Profile, "ProfilerActivity": _Activities(), "schedule": profiler.schedule,
        "ProfilerAction": profiler.ProfilerAction, "tensorboard_trace_handler": profiler.tensorboard_trace_handler,
        "supported_activities": profiler.supported_activities,
    }  # fmt: skip
    switch_module(torch.profiler, {name: (value, f"torch_npu.profiler.{name}") for name, value in own.items()})
