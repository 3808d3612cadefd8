"""Names of the adapter for TensorFlow 1: what `npu_bridge.npu_init` exports, and what the converter writes for it."""

from __future__ import annotations

# What `from npu_bridge.npu_init import *` binds; the names are the adapter's public interface.
NPU_INIT_NAMES = frozenset({
    "os",
    "tf",
    "npu_ops",
    "npu_rnn",
    "npu_scope",
    "keras_to_npu",
    "npu_strategy",
    "util",
    "npu_plugin",
    "npu_cpu_ops",
    "hccl_ops",
    "profiler",
    "scoped_graph_manager",
    "config_pb2",
    "rewriter_config_pb2",
    "session",
    "session_run_hook",
    "backend",
    "npu_unary_ops",
    "NPURunConfig",
    "ProfilingConfig",
    "MemoryConfig",
    "DumpConfig",
    "DynamicInputConfig",
    "NPUEstimator",
    "NPUEstimatorSpec",
    "NPUCheckpointSaverHook",
    "NPUOutputTensorHook",
    "NPUBroadcastGlobalVariablesHook",
    "SetIterationsVarHook",
    "TellMeStepOrLossHook",
    "NPUDistributedOptimizer",
    "KerasDistributeOptimizer",
    "NPUOptimizer",
    "NPULossScaleOptimizer",
    "FixedLossScaleManager",
    "ExponentialUpdateLossScaleManager",
    "NPUBroadcastGlobalVariablesCallback",
    "NpuEmptyHook",
    "RewriterConfig",
    "decorator_tf_session",
    "npu_distributed_optimizer_wrapper",
    "npu_allreduce",
    "create_group",
    "destroy_group",
    "get_rank_size",
    "get_local_rank_size",
    "get_rank_id",
    "get_local_rank_id",
    "get_world_rank_from_group_rank",
    "get_group_rank_from_world_rank",
    "set_split_strategy_by_idx",
    "set_split_strategy_by_size",
    "experimental_options",
    "npu_config_proto",
    "npu_graph_options",
    "npu_optimizer_options",
    "npu_run_config_init",
    "npu_hooks_append",
    "npu_callbacks_append",
    "set_keras_session_npu_config",
    "init_resource",
    "shutdown_resource",
    "close_session",
    "get_npu_rank_id",
    "get_npu_local_rank_id",
    "get_npu_rank_size",
    "get_npu_local_rank_size",
    "npu_keras_optimizer",
    "npu_tf_optimizer",
    "npu_clear_session",
})  # fmt: skip
BRIDGE, COMPAT = "npu_bridge", "npu_device.compat.v1"
"""The adapter, and the package by which the adapter for TensorFlow 2 has the same modules."""
NPU_INIT = f"{BRIDGE}.npu_init"
_NPU_INIT_TARGETS = {"tf": "tensorflow", "os": "os", "backend": "tensorflow.keras.backend", "config_pb2": "tensorflow"}


def canonical_npu(name: str) -> str:
    """The name that rules know of what `npu_bridge` exports at several places."""
    last = name.rpartition(".")[2]
    if last not in NPU_INIT_NAMES or (last in {"tf", "os"} and not name.startswith(NPU_INIT)):
        return name
    if name.startswith(NPU_INIT) and last in _NPU_INIT_TARGETS:
        return _NPU_INIT_TARGETS[last]
    head = name.rpartition(".")[0]
    inner = head.rpartition(".")[2]
    if last == "npu_unary_ops" and name == "npu_bridge.estimator.npu_unary_ops":
        return name  # the module; the handle of the same name lives in it
    return f"{NPU_INIT}.{last}" if inner not in NPU_INIT_NAMES or inner == "npu_unary_ops" else name
