"""The session configuration that makes a session one of the device."""

from __future__ import annotations

from typing import Any

from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2

OPTIMIZER = "NpuOptimizer"


def npu_entry(config: Any) -> Any | None:
    """The ``NpuOptimizer`` entry of a ConfigProto, or None."""
    if config is None:
        return None
    rewrite = config.graph_options.rewrite_options
    return next((entry for entry in rewrite.custom_optimizers if entry.name == OPTIMIZER), None)


def apply_npu_settings(config: Any) -> Any:
    """Change ``config`` (made when it is no ConfigProto) so that its session runs on the device, and give it back."""
    if not isinstance(config, config_pb2.ConfigProto):
        config = config_pb2.ConfigProto()
    rewrite = config.graph_options.rewrite_options
    if npu_entry(config) is None:
        rewrite.custom_optimizers.add().name = OPTIMIZER
        rewrite.memory_optimization = rewriter_config_pb2.RewriterConfig.NO_MEM_OPT
    config.allow_soft_placement = True
    config.log_device_placement = False
    rewrite.remapping = rewriter_config_pb2.RewriterConfig.OFF
    config.graph_options.optimizer_options.global_jit_level = config_pb2.OptimizerOptions.OFF
    return config
