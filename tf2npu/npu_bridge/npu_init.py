"""The names that migrated scripts star-import; importing the module makes every later session one of the device."""

from __future__ import annotations

import os
from typing import Any

import tensorflow as tf
from hccl.manage.api import (
    create_group,
    destroy_group,
    get_group_rank_from_world_rank,
    get_local_rank_id,
    get_local_rank_size,
    get_rank_id,
    get_rank_size,
    get_world_rank_from_group_rank,
)
from hccl.split.api import set_split_strategy_by_idx, set_split_strategy_by_size
from npu_bridge._host_differences import accept
from npu_bridge._process import patch_sessions
from npu_bridge._sessions import apply_npu_settings
from npu_bridge.estimator import npu_ops
from npu_bridge.estimator.npu import keras_to_npu, npu_plugin, npu_rnn, npu_scope, npu_strategy, util
from npu_bridge.estimator.npu.npu_callbacks import NPUBroadcastGlobalVariablesCallback
from npu_bridge.estimator.npu.npu_config import (
    DumpConfig,
    DynamicInputConfig,
    MemoryConfig,
    NPURunConfig,
    ProfilingConfig,
    decorator_tf_session,
)
from npu_bridge.estimator.npu.npu_estimator import NPUEstimator, NPUEstimatorSpec
from npu_bridge.estimator.npu.npu_hook import (
    NPUBroadcastGlobalVariablesHook,
    NPUCheckpointSaverHook,
    NPUOutputTensorHook,
    SetIterationsVarHook,
    TellMeStepOrLossHook,
)
from npu_bridge.estimator.npu.npu_loss_scale_manager import ExponentialUpdateLossScaleManager, FixedLossScaleManager
from npu_bridge.estimator.npu.npu_loss_scale_optimizer import NPULossScaleOptimizer
from npu_bridge.estimator.npu.npu_optimizer import (
    KerasDistributeOptimizer,
    NPUDistributedOptimizer,
    NPUOptimizer,
    npu_allreduce,
    npu_distributed_optimizer_wrapper,
)
from npu_bridge.estimator.npu_unary_ops import npu_unary_ops
from npu_bridge.hccl import hccl_ops
from npu_bridge.npu_cpu import npu_cpu_ops
from npu_bridge.profiler import profiler
from npu_bridge.scoped_graph_manager import scoped_graph_manager
from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig
from tensorflow.python.client import session
from tensorflow.python.keras import backend
from tensorflow.python.training import session_run_hook

# What `from npu_bridge.npu_init import *` binds; scripts use os and tf through it too.
__all__ = [
    "DumpConfig", "DynamicInputConfig", "ExponentialUpdateLossScaleManager", "FixedLossScaleManager",
    "KerasDistributeOptimizer", "MemoryConfig", "NPUBroadcastGlobalVariablesCallback",
    "NPUBroadcastGlobalVariablesHook", "NPUCheckpointSaverHook", "NPUDistributedOptimizer", "NPUEstimator",
    "NPUEstimatorSpec", "NPULossScaleOptimizer", "NPUOptimizer", "NPUOutputTensorHook", "NPURunConfig",
    "NpuEmptyHook", "ProfilingConfig", "RewriterConfig", "SetIterationsVarHook", "TellMeStepOrLossHook",
    "backend", "close_session", "config_pb2", "create_group", "decorator_tf_session", "destroy_group",
    "experimental_options", "get_group_rank_from_world_rank", "get_local_rank_id", "get_local_rank_size",
    "get_npu_local_rank_id", "get_npu_local_rank_size", "get_npu_rank_id", "get_npu_rank_size", "get_rank_id",
    "get_rank_size", "get_world_rank_from_group_rank", "hccl_ops", "init_resource", "keras_to_npu",
    "npu_allreduce", "npu_callbacks_append", "npu_clear_session", "npu_config_proto", "npu_cpu_ops",
    "npu_distributed_optimizer_wrapper", "npu_graph_options", "npu_hooks_append", "npu_keras_optimizer",
    "npu_ops", "npu_optimizer_options", "npu_plugin", "npu_rnn", "npu_run_config_init", "npu_scope",
    "npu_strategy", "npu_tf_optimizer", "npu_unary_ops", "os", "profiler", "rewriter_config_pb2",
    "scoped_graph_manager", "session", "session_run_hook", "set_keras_session_npu_config",
    "set_split_strategy_by_idx", "set_split_strategy_by_size", "shutdown_resource", "tf", "util",
]  # fmt: skip

experimental_options = {
    "disable_model_pruning": False,
    "function_optimization": RewriterConfig.ON,
    "constant_folding": RewriterConfig.ON,
    "shape_optimization": RewriterConfig.ON,
    "arithmetic_optimization": RewriterConfig.ON,
    "loop_optimization": RewriterConfig.ON,
    "dependency_optimization": RewriterConfig.ON,
    "layout_optimizer": RewriterConfig.ON,
}


class NpuEmptyHook(session_run_hook.SessionRunHook):
    """Does nothing; it stands where a hook for another kind of device was."""


def npu_config_proto(config_proto: Any = None) -> config_pb2.ConfigProto:
    """The ConfigProto (a new one for anything else) with the NpuOptimizer entry, changed in place."""
    return apply_npu_settings(config_proto)


def npu_graph_options(graph_options: Any = None) -> config_pb2.GraphOptions:
    """The GraphOptions (a new one for anything else) with the just-in-time compiler off."""
    if not isinstance(graph_options, config_pb2.GraphOptions):
        graph_options = config_pb2.GraphOptions()
    graph_options.optimizer_options.global_jit_level = config_pb2.OptimizerOptions.OFF
    return graph_options


def npu_optimizer_options(optimizer_options: Any = None) -> config_pb2.OptimizerOptions:
    """The OptimizerOptions (a new one for anything else) with the just-in-time compiler off."""
    if not isinstance(optimizer_options, config_pb2.OptimizerOptions):
        optimizer_options = config_pb2.OptimizerOptions()
    optimizer_options.global_jit_level = config_pb2.OptimizerOptions.OFF
    return optimizer_options


def npu_run_config_init(run_config: Any = None) -> tf.estimator.RunConfig:
    """The RunConfig (a new one for anything else) whose sessions run on the device, changed in place."""
    if not isinstance(run_config, tf.estimator.RunConfig):
        run_config = tf.estimator.RunConfig()
    run_config._session_config = npu_config_proto(run_config.session_config)
    return run_config


def npu_hooks_append(hooks_list: Any = ()) -> list[Any]:
    """The list with a broadcast hook at its end, changed in place; anything but a list is dropped."""
    hooks = hooks_list if isinstance(hooks_list, list) else []
    hooks.append(NPUBroadcastGlobalVariablesHook(0, int(os.getenv("RANK_ID", "0"))))
    return hooks


def npu_callbacks_append(callbacks_list: Any = ()) -> list[Any]:
    """The list with a broadcast callback at its end, changed in place; anything but a list is dropped."""
    callbacks = callbacks_list if isinstance(callbacks_list, list) else []
    callbacks.append(NPUBroadcastGlobalVariablesCallback(0))
    return callbacks


def set_keras_session_npu_config(config: Any = None) -> tf.Session:
    """A new session on the device that Keras uses from now on."""
    keras_session = tf.Session(config=npu_config_proto(config))
    backend.set_session(keras_session)
    return keras_session


def init_resource(config: Any = None) -> tuple[tf.Session, tf.Operation]:
    """Start the device and remember ranks; gives the session and the operation for ``shutdown_resource``."""
    util.global_dict_init()
    npu_init = npu_ops.initialize_system()
    npu_shutdown = npu_ops.shutdown_system()
    sess = tf.Session(config=npu_config_proto(config))
    sess.run(npu_init)
    util.set_value("npu_rank_id", get_rank_id())
    util.set_value("npu_local_rank_id", get_local_rank_id())
    util.set_value("npu_rank_size", get_rank_size())
    util.set_value("npu_local_rank_size", get_local_rank_size())
    return sess, npu_shutdown


def shutdown_resource(sess: tf.Session, npu_shutdown: tf.Operation) -> None:
    """Stop the device."""
    sess.run(npu_shutdown)


def close_session(sess: tf.Session) -> None:
    """Close the session."""
    sess.close()


def _remembered(key: str, default: int) -> int:
    try:
        return util.get_value(key, default)
    except NameError:
        accept(f"get_{key}")
        return default


def get_npu_rank_id() -> int:
    """This rank's number as ``init_resource`` found it, else 0."""
    return _remembered("npu_rank_id", 0)


def get_npu_local_rank_id() -> int:
    """This rank's number on its host as ``init_resource`` found it, else 0."""
    return _remembered("npu_local_rank_id", 0)


def get_npu_rank_size() -> int:
    """The number of ranks as ``init_resource`` found it, else 1."""
    return _remembered("npu_rank_size", 1)


def get_npu_local_rank_size() -> int:
    """The number of ranks on this host as ``init_resource`` found it, else 1."""
    return _remembered("npu_local_rank_size", 1)


def npu_keras_optimizer(opt: Any) -> KerasDistributeOptimizer:
    """A Keras optimizer that averages gradients over the ranks."""
    return KerasDistributeOptimizer(opt)


def npu_tf_optimizer(opt: tf.train.Optimizer) -> NPUDistributedOptimizer:
    """An optimizer that averages gradients over the ranks."""
    return NPUDistributedOptimizer(opt)


def npu_clear_session(config: Any = None) -> None:
    """Clear Keras' state and give it a new session on the device."""
    backend.clear_session()
    set_keras_session_npu_config(config)


patch_sessions()
