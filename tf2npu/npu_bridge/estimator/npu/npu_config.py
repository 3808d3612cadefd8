"""Run configurations of the device and the patch that makes every session one of it."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable
from enum import Enum
from functools import wraps
from typing import Any

import tensorflow as tf
from npu_bridge import _options
from npu_bridge._host_differences import accept
from npu_bridge._sessions import apply_npu_settings, npu_entry
from npu_bridge.estimator.npu import util
from npu_bridge.estimator.npu._parameter_map import write_parameter_map
from tensorflow.python.client.session import BaseSession


class NpuExecutePlacement(Enum):
    """The place of an operation or a variable."""

    ALL = "all"
    CUBE = "cube"
    VECTOR = "vector"
    TAISHAN = "taishan"
    DVPP = "dvpp"
    HOST = "host"


class ProfilingConfig:
    """Whether to profile, and the options as JSON text."""

    def __init__(self, enable_profiling: bool = False, profiling_options: str | None = None) -> None:
        self._enable_profiling = enable_profiling
        self._profiling_options = profiling_options


class MemoryConfig:
    """Policies of the device for cleaning and planning memory."""

    def __init__(
        self,
        atomic_clean_policy: int = 0,
        static_memory_policy: int = 0,
        memory_optimization_policy: str | None = None,
        variable_use_1g_huge_page: int = 0,
    ) -> None:
        self._atomic_clean_policy = atomic_clean_policy
        self._static_memory_policy = static_memory_policy
        self._memory_optimization_policy = memory_optimization_policy
        self._variable_use_1g_huge_page = variable_use_1g_huge_page


class DumpConfig:
    """Options of the dump of tensors that the device computes."""

    def __init__(
        self,
        enable_dump: bool = False,
        dump_path: str | None = None,
        dump_step: str | None = None,
        dump_mode: str = "output",
        enable_dump_debug: bool = False,
        dump_debug_mode: str = "all",
        dump_data: str = "tensor",
        dump_layer: str | None = None,
    ) -> None:
        self._enable_dump = enable_dump
        self._dump_path = dump_path
        self._dump_step = dump_step
        self._dump_mode = dump_mode
        self._enable_dump_debug = enable_dump_debug
        self._dump_debug_mode = dump_debug_mode
        self._dump_data = dump_data
        self._dump_layer = dump_layer


class GraphMemoryOptimizeConfig:
    """Recomputation and slicing of graphs, each None, 'auto' or 'manual'."""

    def __init__(self, recompute: str | None = None, graph_slice: str | None = None) -> None:
        for name, value in (("recompute", recompute), ("graph_slice", graph_slice)):
            if value not in (None, "auto", "manual"):
                raise ValueError(f"{name} must be 'auto' or 'manual', got {value!r}")
        self._recompute, self._graph_slice = recompute, graph_slice


class ExperimentalConfig:
    """Deployment of one graph over several devices."""

    def __init__(
        self,
        logical_device_cluster_deploy_mode: str = "LB",
        logical_device_id: str | None = None,
        model_deploy_mode: str | None = None,
        model_deploy_devicelist: str | None = None,
        graph_memory_optimize_config: GraphMemoryOptimizeConfig | None = None,
        enable_graph_parallel: bool | None = None,
        graph_parallel_option_path: str | None = None,
        graph_compiler_cache_dir: str | None = None,
        resource_config_path: str | None = None,
        accelerate_train_mode: str | None = None,
    ) -> None:
        _check_type(graph_memory_optimize_config, GraphMemoryOptimizeConfig, "graph_memory_optimize_config")
        self._logical_device_cluster_deploy_mode = logical_device_cluster_deploy_mode
        self._logical_device_id = logical_device_id
        self._model_deploy_mode = model_deploy_mode
        self._model_deploy_devicelist = model_deploy_devicelist
        self._graph_memory_optimize_config = graph_memory_optimize_config
        self._enable_graph_parallel = enable_graph_parallel
        self._graph_parallel_option_path = graph_parallel_option_path
        self._graph_compiler_cache_dir = graph_compiler_cache_dir
        self._resource_config_path = resource_config_path
        self._accelerate_train_mode = accelerate_train_mode


class DynamicInputConfig:
    """The shapes that a graph with changing input shapes may see."""

    def __init__(self, input_shape: str, dynamic_dims: str, dynamic_node_type: int, compile_hybrid_mode: int) -> None:
        self._input_shape = input_shape
        self._dynamic_dims = dynamic_dims
        self._dynamic_node_type = dynamic_node_type
        self._compile_hybrid_mode = compile_hybrid_mode


def _check_type(value: object, kind: type, name: str) -> None:
    if value is not None and not isinstance(value, kind):
        raise ValueError(f"{name} must be a {kind.__name__}, got {value!r} of type {type(value).__name__}")


class NPURunConfig(tf.estimator.RunConfig):
    """RunConfig with the options of the device; it takes the parameters of the current and of the older release.

    save_summary_steps 0 writes no summaries; checkpoints are written every 100 steps when neither steps nor seconds say
    otherwise. Raises: TypeError and ValueError for values that the device refuses.
    """

    # fmt: off
    def __init__(
        self, iterations_per_loop: int = 1, profiling_config: ProfilingConfig | None = None,
        model_dir: str | None = None, tf_random_seed: int | None = None, save_summary_steps: int = 0,
        save_checkpoints_steps: int | None = None, save_checkpoints_secs: int | None = None,
        session_config: Any = None, keep_checkpoint_max: int = 5, keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int = 100, distribute: Any = None, enable_data_pre_proc: bool = True,
        precision_mode: str | None = None, enable_reduce_precision: bool = False,
        variable_format_optimize: bool | None = None, mix_compile_mode: bool = False, hcom_parallel: bool = True,
        graph_memory_max_size: str | None = None, variable_memory_max_size: str | None = None,
        dump_config: DumpConfig | None = None, stream_max_parallel_num: str | None = None,
        is_tailing_optimization: bool = False, horovod_mode: bool = False, graph_run_mode: int = 1,
        op_debug_level: int | None = None, enable_scope_fusion_passes: str | None = None,
        enable_exception_dump: int = 2, op_select_implmode: str | None = None,
        optypelist_for_implmode: str | None = None, dynamic_input_config: DynamicInputConfig | None = None,
        aoe_mode: str | None = None, work_path: str | None = None, buffer_optimize: str = "l2_optimize",
        enable_small_channel: int = 0, fusion_switch_file: str | None = None, enable_compress_weight: bool = False,
        compress_weight_conf: str | None = None, op_compiler_cache_mode: str | None = None,
        op_compiler_cache_dir: str | None = None, debug_dir: str | None = None, hcom_multi_mode: bool = False,
        dynamic_input: bool | None = None, dynamic_graph_execute_mode: str = "dynamic_execute",
        dynamic_inputs_shape_range: str | None = None, train_distribute: Any = None, eval_distribute: Any = None,
        local_rank_id: int | None = None, local_device_list: str | None = None, session_device_id: int | None = None,
        distribute_config: str | None = None, modify_mixlist: str | None = None, op_precision_mode: str | None = None,
        device_type: str = "default_device_type", soc_config: str | None = None, hccl_timeout: int | None = None,
        op_wait_timeout: int | None = None, op_execute_timeout: int | None = None, HCCL_algorithm: str | None = None,
        customize_dtypes: str | None = None, op_debug_config: str | None = None,
        memory_config: MemoryConfig | None = None, experimental_config: ExperimentalConfig | None = None,
        topo_sorting_mode: int | None = None, aoe_config_file: str | None = None, insert_op_file: str | None = None,
        stream_sync_timeout: int = -1, event_sync_timeout: int = -1, external_weight: bool = False,
        frozen_variable: bool = False, deterministic: int = 0, variable_placement: str = "Device",
        jit_compile: str = "auto", precision_mode_v2: str | None = None, ac_parallel_enable: str | None = None,
        quant_dumpable: str | None = None, input_fusion_size: int = 131072, compile_dynamic_mode: bool | None = None,
        graph_max_parallel_model_num: int = 1, export_compile_stat: int = 1, aicore_num: str | None = None,
        oo_constant_folding: bool = True, input_batch_cpy: bool = False, shape_generalization_mode: str = "STRICT",
        all_tensor_not_empty: bool = False, auto_multistream_parallel_mode: str | None = None, oo_level: str = "O3",
        optimization_switch: str | None = None, auto_tune_mode: str | None = None, mstune_mode: str | None = None,
    ) -> None:
        # fmt: on
        options = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        for name in ("auto_tune_mode", "mstune_mode"):
            if options[name] is not None:
                accept(name)
        _check_options(options)
        _check_cluster(distribute, mix_compile_mode)
        if save_checkpoints_steps is None and save_checkpoints_secs is None:
            save_checkpoints_steps = options["save_checkpoints_steps"] = 100
        self.iterations_per_loop = iterations_per_loop
        for name, value in options.items():
            if name not in _RUN_CONFIG_OPTIONS:
                setattr(self, f"_{name}", value)
        super().__init__(
            train_distribute=train_distribute if distribute is None else distribute,
            **{name: options[name] for name in _RUN_CONFIG_OPTIONS if name != "train_distribute"},
        )


_RUN_CONFIG_OPTIONS = (
    "model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs", "session_config",
    "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps", "train_distribute", "eval_distribute",
)  # fmt: skip
_ALLOWED: dict[str, tuple[Any, ...]] = {
    "dynamic_graph_execute_mode": ("dynamic_execute", "lazy_recompile"),
    "buffer_optimize": ("l2_optimize", "off_optimize"),
    "variable_placement": ("Device", "Host"),
}


def _check_options(options: dict[str, Any]) -> None:
    util.check_positive_integer(options["iterations_per_loop"], "iterations_per_loop")
    util.check_bool_type(options["mix_compile_mode"], "mix_compile_mode")
    if options["mix_compile_mode"] and options["iterations_per_loop"] > 1:
        raise ValueError("mix_compile_mode=True needs iterations_per_loop=1")
    if not isinstance(options["horovod_mode"], bool):
        raise ValueError(f"horovod_mode must be a bool, got {options['horovod_mode']!r}")
    if options["graph_run_mode"] > 1:
        raise ValueError(f"graph_run_mode must be 0 (inference) or 1 (training), got {options['graph_run_mode']}")
    if not isinstance(options["jit_compile"], str):
        raise TypeError(f"jit_compile must be 'true', 'false' or 'auto', got {options['jit_compile']!r}")
    for name, kind in (
        ("dump_config", DumpConfig),
        ("dynamic_input_config", DynamicInputConfig),
        ("experimental_config", ExperimentalConfig),
    ):
        _check_type(options[name], kind, name)
    for name, allowed in _ALLOWED.items():
        if options[name] not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {options[name]!r}")
    if options["enable_compress_weight"] and options["compress_weight_conf"] is not None:
        raise ValueError("enable_compress_weight and compress_weight_conf exclude each other")


def _check_cluster(distribute: Any, mix_compile_mode: bool) -> None:
    has_cluster = "cluster" in json.loads(os.environ.get("TF_CONFIG") or "{}")
    if has_cluster != (distribute is not None):
        raise ValueError("distribute and a cluster in TF_CONFIG must be given together")
    if has_cluster and not mix_compile_mode:
        raise ValueError("a cluster in TF_CONFIG needs mix_compile_mode=True")


def add_npu_options(config: NPURunConfig, session_config: Any = None) -> Any:
    """The session configuration of ``config`` with every option of the device in its NpuOptimizer entry."""
    return write_parameter_map(config, apply_npu_settings(session_config))


def set_npu_default_config(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a session's ``__init__`` with a ``config`` whose session runs on the device."""
    position = list(inspect.signature(func).parameters).index("config")
    values = list(args)
    if len(values) > position:
        if values[position] is None:
            accept("config_none")
        values[position] = _checked(values[position])
    else:
        kwargs = {**kwargs, "config": _checked(kwargs.get("config"))}
    return tuple(values), kwargs


def _checked(config: Any) -> Any:
    config = apply_npu_settings(config)
    _options.check(npu_entry(config))
    return config


def decorator_tf_session(func: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the ``__init__`` of a session class so that its sessions run on the device."""

    @wraps(func)
    def init(*args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], BaseSession):
            args[0]._session = None  # its __del__ asks, also when strict mode refuses to make it
        args, kwargs = set_npu_default_config(func, args, kwargs)
        return func(*args, **kwargs)

    return init
