"""Session options as scripts write them: which exist, their types, and those that ask for what is not simulated yet."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from npu_bridge._log import once

# By field of the parameter map: b for bool, i for int, s for text.
FIELDS = {
    "b": """
        all_tensor_not_empty compile_dynamic_mode dynamic_input enable_compress_weight enable_data_pre_proc enable_dump
        enable_dump_debug enable_graph_parallel enable_reduce_precision external_weight frozen_variable hcom_multi_mode
        hcom_parallel in_out_pair_flag input_batch_cpy is_tailing_optimization lower_functional_ops min_group_size
        mix_compile_mode oo_constant_folding profiling_mode use_off_line variable_format_optimize""",
    "i": """
        atomic_clean_policy compile_hybrid_mode deterministic dynamic_node_type enable_exception_dump enable_small_channel
        event_sync_timeout export_compile_stat graph_exec_timeout graph_max_parallel_model_num graph_run_mode hccl_timeout
        input_fusion_size iterations_per_loop local_rank_id op_debug_level op_execute_timeout op_wait_timeout
        session_device_id static_memory_policy stream_sync_timeout task_index topo_sorting_mode
        variable_use_1g_huge_page""",
    "s": """
        HCCL_algorithm ac_parallel_enable aicore_num aoe_config_file aoe_mode auto_multistream_parallel_mode auto_tune_mode
        buffer_optimize compress_weight_conf const_input customize_dtypes debug_dir device_type distribute_config dump_data
        dump_debug_mode dump_layer dump_mode dump_path dump_step dynamic_dims dynamic_graph_execute_mode
        dynamic_inputs_shape_range enable_scope_fusion_passes experimental_accelerate_train_mode
        experimental_logical_device_cluster_deploy_mode experimental_logical_device_id
        experimental_model_deploy_devicelist experimental_model_deploy_mode fusion_switch_file graph_compiler_cache_dir
        graph_memory_max_size graph_parallel_option_path graph_slice in_out_pair input_shape insert_op_file jit_compile job
        local_device_list memory_optimization_policy modify_mixlist mstune_mode oo_level op_compiler_cache_dir
        op_compiler_cache_mode op_debug_config op_precision_mode op_select_implmode optimization_switch
        optypelist_for_implmode precision_mode precision_mode_v2 profiling_options quant_dumpable recompute
        resource_config_path shape_generalization_mode soc_config stream_max_parallel_num variable_memory_max_size
        variable_placement work_path""",
}
FIELD_OF = {name: field for field, names in FIELDS.items() for name in names.split()}
_FIELD_NAMES = {"b": "bool", "i": "int", "s": "text, through tf.compat.as_bytes"}
# Options whose effect a user would look for, with what happens instead.
WITHOUT_EFFECT = {
    "enable_dump": "no dump files are written yet",
    "enable_dump_debug": "overflow is not looked for yet",
    "profiling_mode": "no profile files are written yet",
    "precision_mode": "numbers keep the types that the graph gives them",
    "precision_mode_v2": "numbers keep the types that the graph gives them",
    "aoe_mode": "nothing is tuned",
    "auto_tune_mode": "nothing is tuned",
    "mstune_mode": "nothing is tuned",
}


def check(entry: Any) -> None:
    """Say once what is wrong with the options of a NpuOptimizer entry, or has no effect here; it never stops."""
    for key in sorted(entry.parameter_map):
        value = entry.parameter_map[key]
        field = value.WhichOneof("value")
        wanted = FIELD_OF.get(key)
        if wanted is None:
            similar = get_close_matches(key, FIELD_OF, 1)
            once(f"there is no session option {key!r}" + (f"; did you mean {similar[0]!r}?" if similar else ""))
        elif field != wanted:
            once(f"session option {key!r} is written into .{field}; it belongs into .{wanted} ({_FIELD_NAMES[wanted]})")
        elif key in WITHOUT_EFFECT and getattr(value, field):
            once(f"session option {key!r} is accepted and recorded: {WITHOUT_EFFECT[key]}")
