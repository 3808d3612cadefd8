"""The device outside a session."""

from __future__ import annotations

import os
from typing import Any

from npu_bridge import _options
from npu_bridge._log import recorded
from npu_bridge.estimator.npu import util
from npu_bridge.estimator.npu._shared_memory import (
    get_rdma_cache,
    get_var_addr_and_size,
    init_rdma_pool,
    malloc_shared_memory,
    rdma_remote_init,
    rdma_remote_register,
)

from npu_runtime.device import float_status

__all__ = [
    "check_graph_run_mode",
    "get_rdma_cache",
    "get_var_addr_and_size",
    "init_debug_dir",
    "init_op_compiler_cache_dir",
    "init_op_compiler_cache_mode",
    "init_rdma_pool",
    "is_inf_nan_enabled",
    "malloc_shared_memory",
    "npu_close",
    "npu_resource_init",
    "npu_resource_shutdown",
    "rdma_remote_init",
    "rdma_remote_register",
    "set_device_sat_mode",
]

_started: dict[str, Any] | None = None


def check_graph_run_mode(graph_run_mode: int) -> None:
    """Raises: ValueError for a mode above 1."""
    if graph_run_mode > 1:
        raise ValueError(f"graph_run_mode must be 0 (inference) or 1 (training), got {graph_run_mode}")


def init_op_compiler_cache_mode(init: dict[str, str], op_compiler_cache_mode: str | None) -> None:
    """Put the mode of the compiler's cache into ``init``."""
    if op_compiler_cache_mode is not None:
        init["ge.op_compiler_cache_mode"] = str(op_compiler_cache_mode)


def init_op_compiler_cache_dir(init: dict[str, str], op_compiler_cache_dir: str | None) -> None:
    """Put the folder of the compiler's cache into ``init``."""
    if op_compiler_cache_dir is not None:
        init["ge.op_compiler_cache_dir"] = str(op_compiler_cache_dir)


def init_debug_dir(init: dict[str, str], debug_dir: str | None) -> None:
    """Put the folder for compiler debug files into ``init``."""
    if debug_dir is not None:
        init["ge.debugDir"] = str(debug_dir)


_HONOURED = (
    "graph_run_mode", "precision_mode", "precision_mode_v2", "auto_tune_mode", "aoe_mode", "work_path", "aoe_config_file",
    "op_debug_level",
)  # fmt: skip
"""Options of npu_resource_init that count for all sessions of the process."""


# fmt: off
def npu_resource_init(
    graph_run_mode: int = 1, op_debug_level: int = 0, enable_profiling: bool = False, profiling_options: str | None = None,
    precision_mode: str | None = None, enable_scope_fusion_passes: str | None = None, enable_exception_dump: int = 2,
    aoe_mode: str | None = None, work_path: str | None = None, op_compiler_cache_mode: str | None = None,
    op_compiler_cache_dir: str | None = None, debug_dir: str | None = None, hcom_multi_mode: bool = False,
    distribute_config: str | None = None, aoe_config_file: str | None = None, precision_mode_v2: str | None = None,
    export_compile_stat: int = 1, aicore_num: str | None = None, oo_constant_folding: bool = True, input_batch_cpy: bool = False,
    oo_level: str = "O3", optimization_switch: str | None = None, auto_tune_mode: str | None = None,
    mstune_mode: str | None = None,
) -> None:
    """Start the device with options for the whole process: precision modes and tuning count for sessions, others are recorded.

    Raises: ValueError for a graph_run_mode above 1, profiling without options, an unknown aoe_mode or a bad path; TypeError
    for a flag that is no bool.
    """
    # fmt: on
    global _started
    options = dict(locals())
    check_graph_run_mode(graph_run_mode)
    for name in ("enable_profiling", "hcom_multi_mode", "oo_constant_folding", "input_batch_cpy"):
        util.check_bool_type(options[name], name)
    util.check_nonnegative_integer(op_debug_level, "op_debug_level")
    if enable_profiling:
        util.check_profiling_options(profiling_options)
    if aoe_mode is not None:
        util.check_aoe_mode(aoe_mode)
        util.check_path(work_path or os.getcwd())
    _started = options
    _options.of_process.update({name: options[name] for name in _HONOURED if options[name] is not None})
    recorded(
        "npu_plugin.npu_resource_init",
        "only its precision modes and its options of tuning count; put other options into the session's parameter_map",
    )


def npu_resource_shutdown() -> None:
    """Stop the device."""
    global _started
    _started = None
    _options.of_process.clear()


def npu_close() -> None:
    """Stop the device at the end of the process."""
    npu_resource_shutdown()


def set_device_sat_mode(mode: int) -> None:
    """Sets how overflow of fp16 shows: 0 saturates, 1 gives infinities and NaN.  ValueError for another mode.

    When nobody asks, sessions that let nodes run in fp16 do as the chip, and all others give infinities.
    """
    if mode not in (0, 1):
        raise ValueError(f"mode must be 0 (saturation) or 1 (infinities and NaN), got {mode!r}")
    float_status.ask(mode == 0)


def is_inf_nan_enabled() -> bool:
    """Whether ``set_device_sat_mode(1)`` was called."""
    return float_status.asked is False
