"""The settings of a run.  Source of names, values and defaults: mindspore.cn, mindspore.context of r1.1."""

from __future__ import annotations

import sys
from typing import Any

from mindspore._device.settings import GRAPH_MODE, PYNATIVE_MODE, settings

__all__ = [
    "GRAPH_MODE", "PYNATIVE_MODE", "ParallelMode", "get_auto_parallel_context", "get_context", "reset_auto_parallel_context",
    "set_auto_parallel_context", "set_context",
]  # fmt: skip

_RECORDED = (
    "save_graphs", "save_graphs_path", "enable_dump", "save_dump_path", "enable_profiling", "profiling_options",
    "enable_graph_kernel", "enable_reduce_precision", "enable_auto_mixed_precision", "enable_hccl", "enable_task_sink",
    "enable_mem_reuse", "enable_ir_fusion", "enable_loop_sink", "enable_gpu_summary", "enable_dynamic_memory",
    "enable_sparse", "reserve_class_name_in_scope", "max_device_memory", "print_file_path", "variable_memory_max_size",
    "max_call_depth", "auto_tune_mode", "grad_for_scalar", "check_bprop", "graph_memory_max_size", "max_device_num",
    "env_config_path", "precompile_only",
)  # fmt: skip
"""Settings that are accepted and change nothing here."""
_TARGETS = ("Ascend", "CPU", "GPU")
_told: set[str] = set()


class ParallelMode:
    """The ways to share work between devices."""

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST = (STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL)


def set_context(**kwargs: Any) -> None:
    """Sets what a run needs.

    Raises: ValueError for a name or value that MindSpore has not, and for the target "GPU".
    """
    for name, value in kwargs.items():
        if name == "mode":
            _check_mode(value)
        elif name == "device_target":
            _check_target(value)
        elif name == "device_id":
            _check_device(value)
        elif name not in _RECORDED:
            raise ValueError(f"set_context({name}=...): r1.1 has no setting of this name")
        settings[name] = value


def _check_mode(mode: Any) -> None:
    if mode not in (GRAPH_MODE, PYNATIVE_MODE):
        raise ValueError(f"set_context(mode={mode!r}): context.GRAPH_MODE or context.PYNATIVE_MODE")


def _check_target(target: Any) -> None:
    if target not in _TARGETS:
        raise ValueError(f'set_context(device_target={target!r}): "Ascend", "CPU" or "GPU"')
    if target == "GPU":
        raise ValueError('set_context(device_target="GPU"): this machine simulates an Ascend NPU: write device_target="Ascend"')
    if target == "CPU":
        _tell('the target "CPU" is simulated by the Ascend device as well: what a CPU refuses or lacks is not shown')


def _check_device(number: Any) -> None:
    if not isinstance(number, int) or not 0 <= number < 4096:
        raise ValueError(f"set_context(device_id={number!r}): a whole number from 0 to 4095")


def _tell(line: str) -> None:
    if line not in _told:
        _told.add(line)
        print(f"mindspore: {line}", file=sys.stderr)


def get_context(attr_key: str) -> Any:
    """The value of a setting, None for one that was not set.  Raises: ValueError for an unknown name."""
    if attr_key not in settings and attr_key not in _RECORDED:
        raise ValueError(f"get_context({attr_key!r}): r1.1 has no setting of this name")
    return settings.get(attr_key)


_PARALLEL_DEFAULTS = {
    "device_num": 1, "global_rank": 0, "gradients_mean": False, "gradient_fp32_sync": True, "loss_repeated_mean": True,
    "parallel_mode": ParallelMode.STAND_ALONE, "auto_parallel_search_mode": "dynamic_programming", "parameter_broadcast": False,
    "strategy_ckpt_load_file": "", "strategy_ckpt_save_file": "", "full_batch": False, "enable_parallel_optimizer": False,
    "all_reduce_fusion_config": None, "pipeline_stages": 1,
}  # fmt: skip
_parallel: dict[str, Any] = dict(_PARALLEL_DEFAULTS)
_OLD_NAMES = {
    "mirror_mean": "gradients_mean",
    "cast_before_mirror": "gradient_fp32_sync",
    "loss_repeated_mean": "loss_repeated_mean",
}
"""Names of r1.0 and those that r1.1 gave them."""


def set_auto_parallel_context(**kwargs: Any) -> None:
    """Sets how work is shared between devices.

    Raises: ValueError for an unknown name or mode; RuntimeError for a mode that splits operators over several devices.
    """
    for name, value in kwargs.items():
        name = _OLD_NAMES.get(name, name)
        if name not in _parallel:
            raise ValueError(f"set_auto_parallel_context({name}=...): r1.1 has no setting of this name")
        if name == "parallel_mode" and value not in ParallelMode.MODE_LIST:
            raise ValueError(f"set_auto_parallel_context(parallel_mode={value!r}): one of {', '.join(ParallelMode.MODE_LIST)}")
        _parallel[name] = value
    _check_parallel()


def _check_parallel() -> None:
    from mindspore.communication._ranks import group_size

    split = (ParallelMode.AUTO_PARALLEL, ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.HYBRID_PARALLEL)
    if group_size() > 1 and (_parallel["parallel_mode"] in split or _parallel["pipeline_stages"] > 1):
        raise RuntimeError(
            f"parallel_mode={_parallel['parallel_mode']!r} with {group_size()} devices splits operators, which is not simulated: "
            "use ParallelMode.DATA_PARALLEL, or one device"
        )


def get_auto_parallel_context(attr_key: str) -> Any:
    """The value of a setting of parallel work.  Raises: ValueError for an unknown name."""
    name = _OLD_NAMES.get(attr_key, attr_key)
    if name not in _parallel:
        raise ValueError(f"get_auto_parallel_context({attr_key!r}): r1.1 has no setting of this name")
    return _parallel[name]


def reset_auto_parallel_context() -> None:
    """Gives all settings of parallel work their defaults."""
    _parallel.clear()
    _parallel.update(_PARALLEL_DEFAULTS)
