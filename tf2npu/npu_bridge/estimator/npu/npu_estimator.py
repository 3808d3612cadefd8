"""Estimator on the device."""

from __future__ import annotations

import os
import random
import string
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf
from npu_bridge.estimator.npu._host_call import HostCallHook, check_host_call
from npu_bridge.estimator.npu._iterations import ITERATION_OP
from npu_bridge.estimator.npu.npu_common import NPUBasics, read_job
from npu_bridge.estimator.npu.npu_config import NPURunConfig, add_npu_options
from npu_bridge.estimator.npu.npu_hook import (
    NPUBroadcastGlobalVariablesHook,
    NPUCheckpointSaverHook,
    SetIterationsVarHook,
)
from npu_bridge.estimator.npu.npu_saver import NPUSaver
from npu_bridge.estimator.npu.util import get_ranksize
from tensorflow_estimator.python.estimator import estimator as estimator_lib
from tensorflow_estimator.python.estimator import util as estimator_util

Hooks = list[tf.train.SessionRunHook]


class NPUEstimatorSpec(tf.estimator.EstimatorSpec):
    """EstimatorSpec with ``host_call``: a function and the tensors it gets on the host after each step.

    Raises: ValueError when host_call is no pair or its tensors are no list, tuple or dict; TypeError when its first part
    cannot be called; RuntimeError when the number of tensors does not fit the function.
    """

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Any = None,
        export_outputs: Any = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
        evaluation_hooks: Any = None,
        prediction_hooks: Any = None,
        host_call: Any = None,
    ) -> NPUEstimatorSpec:
        if host_call is not None:
            check_host_call(host_call)
        spec = super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=eval_metric_ops,
            export_outputs=export_outputs,
            training_chief_hooks=training_chief_hooks,
            training_hooks=training_hooks,
            scaffold=scaffold,
            evaluation_hooks=evaluation_hooks,
            prediction_hooks=prediction_hooks,
        )
        spec._host_call = host_call
        return spec

    def _replace(self, **changes: Any) -> NPUEstimatorSpec:
        host_call = changes.pop("host_call", getattr(self, "_host_call", None))
        fields = {name: getattr(self, name) for name in self._fields}
        return NPUEstimatorSpec(**{**fields, **changes}, host_call=host_call)


class NPUEstimator(tf.estimator.Estimator):
    """An Estimator whose sessions run on the device with the options of an NPURunConfig.

    model_dir: argument, else the config's, else a new ``model_dir_`` folder in the current one.
    warm start: argument, else the job's checkpoint folder, else the environment's RESTORE_FROM.
    Raises: ValueError when config is missing or no NPURunConfig, JOB_ID is not set, or two model_dir differ.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: str | None = None,
        config: NPURunConfig | None = None,
        params: dict[str, Any] | None = None,
        job_start_file: str = "",
        warm_start_from: Any = None,
    ) -> None:
        if not isinstance(config, NPURunConfig):
            raise ValueError(f"config must be an NPURunConfig, got {type(config).__name__}")
        estimator_lib._verify_model_fn_args(model_fn, params)
        job = read_job()
        NPUBasics(job_start_file)
        model_dir = _model_dir(model_dir, config)
        config = config.replace(session_config=add_npu_options(config, config.session_config))
        with no_check_override():
            super().__init__(
                model_fn=_augment(model_fn, config, model_dir),
                model_dir=model_dir,
                config=config,
                params=params or {},
                warm_start_from=warm_start_from or job._local_checkpoint_dir or os.environ.get("RESTORE_FROM"),
            )


@contextmanager
def no_check_override() -> Iterator[None]:
    """While it is open, subclasses of Estimator may override train, evaluate and the others."""
    check = estimator_lib.Estimator._assert_members_are_not_overridden
    estimator_lib.Estimator._assert_members_are_not_overridden = lambda self: None
    try:
        yield
    finally:
        estimator_lib.Estimator._assert_members_are_not_overridden = check


def _model_dir(argument: str | None, config: NPURunConfig) -> str:
    if argument and config.model_dir and argument != config.model_dir:
        raise ValueError(f"model_dir is {argument!r} as an argument and {config.model_dir!r} in the config; give one")
    suffix = "".join(random.SystemRandom().choices(string.ascii_letters + string.digits, k=10))
    return argument or config.model_dir or os.path.join(os.getcwd(), f"model_dir_{suffix}")


def _augment(model_fn: Callable[..., Any], config: NPURunConfig, model_dir: str) -> Callable[..., Any]:
    """The model function with the hooks of the device added to the specification that it returns."""
    declared = estimator_util.fn_args(model_fn)

    def npu_model_fn(features: Any, labels: Any, mode: str, params: Any, config: Any) -> Any:
        offered = {"labels": labels, "mode": mode, "params": params, "config": config}
        spec = model_fn(features=features, **{name: value for name, value in offered.items() if name in declared})
        _check_spec(spec, mode)
        if mode == tf.estimator.ModeKeys.TRAIN:
            return _for_training(spec, config, model_dir)
        return _with_host_call(spec, mode)

    if "labels" not in declared:
        return _without_labels(npu_model_fn)
    return npu_model_fn


def _without_labels(full: Callable[..., Any]) -> Callable[..., Any]:
    def npu_model_fn(features: Any, mode: str, params: Any, config: Any) -> Any:
        return full(features, None, mode, params, config)

    return npu_model_fn


def _check_spec(spec: Any, mode: str) -> None:
    if mode != tf.estimator.ModeKeys.PREDICT and not isinstance(spec, tf.estimator.EstimatorSpec):
        raise RuntimeError(f"the model function must return an EstimatorSpec or NPUEstimatorSpec, got {type(spec).__name__}")


def _host_hooks(spec: Any) -> Hooks:
    host_call = getattr(spec, "_host_call", None)
    return [HostCallHook(host_call)] if host_call is not None else []


def _with_host_call(spec: Any, mode: str) -> Any:
    hooks = _host_hooks(spec)
    if not hooks:
        return spec
    field = "evaluation_hooks" if mode == tf.estimator.ModeKeys.EVAL else "prediction_hooks"
    return spec._replace(**{field: (*hooks, *getattr(spec, field))})


def _for_training(spec: Any, config: NPURunConfig, model_dir: str) -> Any:
    hooks: Hooks = []
    if int(get_ranksize()) > 1 and not config._horovod_mode:
        hooks.append(NPUBroadcastGlobalVariablesHook(0, int(os.environ.get("RANK_ID", "0"))))
    if config.save_checkpoints_steps or config.save_checkpoints_secs:
        hooks.append(_checkpoint_hook(spec, config, model_dir))
    hooks += _host_hooks(spec)
    changes: dict[str, Any] = {}
    if config.iterations_per_loop > 1:
        hooks.append(SetIterationsVarHook(config.iterations_per_loop))
        changes["train_op"] = tf.group(spec.train_op, name=ITERATION_OP)
    return spec._replace(training_hooks=(*hooks, *spec.training_hooks), **changes)


def _checkpoint_hook(spec: Any, config: NPURunConfig, model_dir: str) -> tf.train.SessionRunHook:
    saver = spec.scaffold.saver if spec.scaffold else None
    if saver is None and not tf.get_collection(tf.GraphKeys.SAVERS):
        # In the collection it is the session's saver too, which remembers the checkpoints of an earlier call of train.
        saver = NPUSaver(
            max_to_keep=config.keep_checkpoint_max,
            keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
            sharded=True,
            save_relative_paths=True,
            defer_build=True,
        )
        tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
    saver = saver or tf.get_collection(tf.GraphKeys.SAVERS)[0]
    return NPUCheckpointSaverHook(
        model_dir, save_secs=config.save_checkpoints_secs, save_steps=config.save_checkpoints_steps, saver=saver
    )
