"""Writes run options into the ``parameter_map`` of a session configuration's NpuOptimizer entry."""

from __future__ import annotations

import json
import os
from typing import Any

import tensorflow as tf
from npu_bridge._sessions import npu_entry

# NPURunConfig parameters that go under a key of their own name.
SAME_NAME = (
    "precision_mode", "enable_reduce_precision", "variable_format_optimize", "mix_compile_mode", "hcom_parallel",
    "graph_memory_max_size", "variable_memory_max_size", "stream_max_parallel_num", "is_tailing_optimization", "graph_run_mode",
    "op_debug_level", "enable_scope_fusion_passes", "enable_exception_dump", "op_select_implmode", "optypelist_for_implmode",
    "aoe_mode", "work_path", "buffer_optimize", "enable_small_channel", "fusion_switch_file", "enable_compress_weight",
    "compress_weight_conf", "op_compiler_cache_mode", "op_compiler_cache_dir", "debug_dir", "hcom_multi_mode", "dynamic_input",
    "dynamic_graph_execute_mode", "dynamic_inputs_shape_range", "local_rank_id", "local_device_list", "session_device_id",
    "distribute_config", "modify_mixlist", "op_precision_mode", "device_type", "soc_config", "hccl_timeout", "op_wait_timeout",
    "op_execute_timeout", "HCCL_algorithm", "customize_dtypes", "op_debug_config", "topo_sorting_mode", "aoe_config_file",
    "insert_op_file", "stream_sync_timeout", "event_sync_timeout", "external_weight", "frozen_variable", "deterministic",
    "variable_placement", "jit_compile", "precision_mode_v2", "ac_parallel_enable", "quant_dumpable", "input_fusion_size",
    "compile_dynamic_mode", "graph_max_parallel_model_num", "export_compile_stat", "aicore_num", "oo_constant_folding",
    "input_batch_cpy", "shape_generalization_mode", "all_tensor_not_empty", "auto_multistream_parallel_mode", "oo_level",
    "optimization_switch", "enable_data_pre_proc", "auto_tune_mode", "mstune_mode",
)  # fmt: skip
# Keys that the entry carries under another name than the attribute of its configuration object.
EXPERIMENTAL = {
    "_logical_device_cluster_deploy_mode": "experimental_logical_device_cluster_deploy_mode",
    "_logical_device_id": "experimental_logical_device_id",
    "_model_deploy_mode": "experimental_model_deploy_mode",
    "_model_deploy_devicelist": "experimental_model_deploy_devicelist",
    "_enable_graph_parallel": "enable_graph_parallel",
    "_graph_parallel_option_path": "graph_parallel_option_path",
    "_graph_compiler_cache_dir": "graph_compiler_cache_dir",
    "_resource_config_path": "resource_config_path",
    "_accelerate_train_mode": "experimental_accelerate_train_mode",
}


def set_option(entry: Any, key: str, value: bool | int | str | bytes | None) -> None:
    """Write one option; the value's type decides the field, None writes nothing."""
    if value is None:
        return
    if isinstance(value, bool):
        entry.parameter_map[key].b = value
    elif isinstance(value, int):
        entry.parameter_map[key].i = value
    else:
        entry.parameter_map[key].s = tf.compat.as_bytes(value)


def options_of(config: Any) -> dict[str, Any]:
    """Every option that an NPURunConfig carries, by key of the parameter map."""
    options = {name: getattr(config, f"_{name}") for name in SAME_NAME}
    options["iterations_per_loop"] = config.iterations_per_loop
    options["min_group_size"] = True
    for part in (config._dump_config, config._memory_config, config._dynamic_input_config):
        options.update({name[1:]: value for name, value in vars(part).items()} if part is not None else {})
    if config._profiling_config is not None:
        options["profiling_mode"] = config._profiling_config._enable_profiling
        options["profiling_options"] = config._profiling_config._profiling_options
    experimental = config._experimental_config
    if experimental is not None:
        options.update({key: getattr(experimental, name) for name, key in EXPERIMENTAL.items()})
        memory = experimental._graph_memory_optimize_config
        if memory is not None:
            options.update(recompute=memory._recompute, graph_slice=memory._graph_slice)
    return {**options, **_task()}


def _task() -> dict[str, Any]:
    task = json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {})
    return {"job": task.get("type", "localhost"), "task_index": int(task.get("index", 0))}


def write_parameter_map(config: Any, session_config: Any) -> Any:
    """Write the options of ``config`` into the NpuOptimizer entry of ``session_config``, which is given back."""
    entry = npu_entry(session_config)
    for key, value in options_of(config).items():
        set_option(entry, key, value)
    return session_config
