"""An empty-handed npu_bridge for genuine TensorFlow 1.15: the names that the compared scripts import, doing what a CPU does.

Loss scaling is left out, as a power of two changes nothing in float32; dropout keeps all, as on the other side of a comparison.
"""

from __future__ import annotations

import os
import sys
import types

import tensorflow as tf
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig


def dropout(x, keep_prob, noise_shape=None, seed=None, name=None):
    """All of ``x``."""
    return tf.identity(x, name=name)


def gelu(x):
    """The activation by its formula with tanh."""
    return 0.5 * x * (1.0 + tf.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


def same_optimizer(opt, *args, **kwargs):
    """The optimizer itself."""
    return opt


def no_manager(*args, **kwargs):
    """No loss scale manager."""


def set_iteration_per_loop(session, train_op, iterations_per_loop=1):
    """An operation that a session runs ``iterations_per_loop`` times a call; who patches the session does that."""
    with session.graph.as_default():
        looped = tf.group(train_op, name="IterationOp")
    session.graph._stand_in_iterations = {looped.name: iterations_per_loop}
    return looped


def NPURunConfig(model_dir=None, save_checkpoints_steps=None, keep_checkpoint_max=5, session_config=None, **others):
    """A RunConfig of the parameters that TensorFlow has too."""
    return tf.estimator.RunConfig(
        model_dir,
        save_checkpoints_steps=save_checkpoints_steps,
        keep_checkpoint_max=keep_checkpoint_max,
        session_config=session_config,
    )


class NPUEstimator(tf.estimator.Estimator):
    """TensorFlow's estimator."""

    def __init__(self, model_fn=None, model_dir=None, config=None, params=None, job_start_file="", warm_start_from=None):
        super().__init__(model_fn, model_dir, config, params, warm_start_from)


class NPUBroadcastGlobalVariablesHook(tf.train.SessionRunHook):
    """Nothing to broadcast with one rank."""

    def __init__(self, root_rank=0, index=0):
        pass


def with_config(kind):
    """A function that gives what it gets, a new ``kind`` for None."""
    return lambda *args, **kwargs: next(iter([*args, *kwargs.values()]), None) or kind()


NAMES = {
    "ExponentialUpdateLossScaleManager": no_manager,
    "FixedLossScaleManager": no_manager,
    "NPUBroadcastGlobalVariablesHook": NPUBroadcastGlobalVariablesHook,
    "NPUDistributedOptimizer": same_optimizer,
    "NPUEstimator": NPUEstimator,
    "NPUEstimatorSpec": tf.estimator.EstimatorSpec,
    "NPULossScaleOptimizer": same_optimizer,
    "NPURunConfig": NPURunConfig,
    "RewriterConfig": RewriterConfig,
    "close_session": lambda session: session.close(),
    "get_npu_local_rank_id": lambda: 0,
    "get_npu_rank_id": lambda: 0,
    "get_npu_rank_size": lambda: 1,
    "get_rank_id": lambda: 0,
    "get_rank_size": lambda: 1,
    "init_resource": lambda config=None: (tf.Session(config=config), tf.no_op()),
    "npu_config_proto": with_config(tf.ConfigProto),
    "npu_distributed_optimizer_wrapper": same_optimizer,
    "npu_hooks_append": lambda hooks_list=(): list(hooks_list),
    "npu_run_config_init": with_config(tf.estimator.RunConfig),
    "npu_tf_optimizer": same_optimizer,
    "os": os,
    "shutdown_resource": lambda session, shutdown: None,
    "tf": tf,
}
SUBMODULES = (
    "estimator", "estimator.npu", "estimator.npu.npu_config", "estimator.npu.npu_estimator", "estimator.npu.npu_hook",
    "estimator.npu.npu_loss_scale_manager", "estimator.npu.npu_loss_scale_optimizer", "estimator.npu.npu_optimizer",
    "estimator.npu.util", "estimator.npu_ops", "estimator.npu_unary_ops", "npu_init",
)  # fmt: skip
IN_ONE_MODULE = {
    "estimator.npu.util": {"set_iteration_per_loop": set_iteration_per_loop},
    "estimator.npu_ops": {"dropout": dropout},
    "estimator.npu_unary_ops": {"npu_unary_ops": types.SimpleNamespace(gelu=gelu)},
}


def _make_submodules():
    for name in SUBMODULES:
        module = types.ModuleType("npu_bridge." + name)
        module.__path__ = []
        module.__dict__.update(NAMES)
        module.__dict__.update(IN_ONE_MODULE.get(name, {}))
        sys.modules[module.__name__] = module
        parent, _, last = module.__name__.rpartition(".")
        setattr(sys.modules[parent], last, module)
    everything = sys.modules["npu_bridge.npu_init"]
    everything.npu_ops = sys.modules["npu_bridge.estimator.npu_ops"]
    everything.util = sys.modules["npu_bridge.estimator.npu.util"]
    everything.npu_unary_ops = IN_ONE_MODULE["estimator.npu_unary_ops"]["npu_unary_ops"]


_make_submodules()
