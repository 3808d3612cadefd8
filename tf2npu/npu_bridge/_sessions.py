"""Sessions: the configuration that makes one of the device, and what those have in common whose steps are looked at."""

from __future__ import annotations

from collections.abc import Callable
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


def without_optimizers(config: Any) -> config_pb2.ConfigProto:
    """The config with every node of the graph left as the script made it: merged and folded ones would have no tensors."""
    plain = config_pb2.ConfigProto()
    if config is not None:
        plain.CopyFrom(config)
    plain.graph_options.rewrite_options.disable_meta_optimizer = True
    plain.graph_options.optimizer_options.opt_level = config_pb2.OptimizerOptions.L0
    return plain


def callable_of_runs(session: Any, fetches: Any, feed_list: Any) -> Callable[..., Any]:
    """The callable of make_callable, made of Session.run, where hooks stand."""
    feeds = list(feed_list or ())

    def run(*values: Any, options: Any = None, run_metadata: Any = None) -> Any:
        return session.run(fetches, dict(zip(feeds, values, strict=False)), options, run_metadata)

    return run
