"""Optimizers around an optimizer: moving averages, clipped variables, tasks that take turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.training.saving import saveable_object_util

Pairs = Sequence[tuple[Any, Any]]


class MovingAverageOptimizer(tf.train.Optimizer):
    """Keeps moving averages of what ``opt`` trains; its saver stores the averages under the variables' names."""

    def __init__(
        self, opt: tf.train.Optimizer, average_decay: float = 0.9999, num_updates: Any = None, sequential_update: bool = True
    ) -> None:
        self._optimizer = opt
        self._ema = tf.train.ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._partners: dict[str, str] | None = None
        self._sequential_update = sequential_update

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Pairs, global_step: Any = None, name: str | None = None) -> Any:
        train_op = self._optimizer.apply_gradients(grads_and_vars, global_step=global_step, name=name)
        trained = [variable for gradient, variable in grads_and_vars if gradient is not None]
        with tf.control_dependencies([train_op] if self._sequential_update else []):
            average_op = self._ema.apply(trained)
        self._partners = {}
        for variable in trained:
            average = self._ema.average(variable)
            self._partners.update({variable.op.name: average.op.name, average.op.name: variable.op.name})
        return tf.group(train_op, average_op, name="train_with_avg")

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any) -> tf.train.Saver:
        """A Saver that stores each average under its variable's name and the other way round.

        Raises: RuntimeError before apply_gradients; ValueError when the partner of a variable is not saved.
        """
        if self._partners is None:
            raise RuntimeError("Must call apply_gradients or minimize before creating the swapping_saver")
        named = var_list if isinstance(var_list, dict) else saveable_object_util.op_list_to_dict(
            tf.global_variables() if var_list is None else var_list)  # fmt: skip
        by_name: dict[str, Any] = {}
        for key, value in named.items():
            by_name.update({part.op.name: part for part in value} if isinstance(value, list | tuple) else {key: value})
        swapped = {
            key: [self._partner(by_name, part.op.name, part) for part in value]
            if isinstance(value, list)
            else self._partner(by_name, key, value)
            for key, value in named.items()
        }
        return tf.train.Saver(swapped, name=name, **kwargs)

    def _partner(self, by_name: Mapping[str, Any], name: str, variable: Any) -> Any:
        partner = (self._partners or {}).get(name)
        if partner is None:
            return variable
        if partner not in by_name:
            raise ValueError(f"{partner}, which is to be swapped with {name}, is not among the variables to save")
        return by_name[partner]


class VariableClippingOptimizer(tf.train.Optimizer):
    """Clips variables to a norm after each step of ``opt``; vars_to_clip_dims: variable -> axes of its norm."""

    def __init__(
        self,
        opt: tf.train.Optimizer,
        vars_to_clip_dims: Mapping[Any, Sequence[int]],
        max_norm: float,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ) -> None:
        super().__init__(use_locking, name)
        self._opt, self._max_norm = opt, max_norm
        self._axes = {variable.ref(): list(axes) for variable, axes in vars_to_clip_dims.items()}
        self._colocate_clip_ops_with_vars = colocate_clip_ops_with_vars

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Pairs, global_step: Any = None, name: str | None = None) -> Any:
        with tf.name_scope(name, self._name) as scope:
            update = self._opt.apply_gradients(grads_and_vars, global_step=global_step)
            with tf.control_dependencies([update]):
                clips = [
                    self._clip(gradient, variable)
                    for gradient, variable in grads_and_vars
                    if gradient is not None and variable.ref() in self._axes
                ]
            return tf.group(update, *clips, name=scope)

    def _clip(self, gradient: Any, variable: Any) -> Any:
        axes = self._axes[variable.ref()]
        with tf.name_scope(f"clip_{variable.op.name}"):
            if isinstance(gradient, tf.IndexedSlices) and 0 not in axes:
                rows = tf.gather(variable, gradient.indices)
                excess = rows - tf.clip_by_norm(rows, self._max_norm, axes)
                return variable.scatter_sub(tf.IndexedSlices(excess, gradient.indices, gradient.dense_shape))
            value = variable.read_value()
            excess = value - tf.clip_by_norm(value, self._max_norm, axes)
            return variable.assign_sub(excess, use_locking=self._use_locking)


def _is_all_zeros(gradient: Any) -> tf.Tensor:
    return tf.equal(tf.count_nonzero(gradient), 0)


class MultitaskOptimizerWrapper:
    """Lets an optimizer leave variables and slots alone whose gradient is all zeros.

    Raises: TypeError when ``opt`` is no optimizer.
    """

    def __init__(self, opt: tf.train.Optimizer) -> None:
        if not isinstance(opt, tf.train.Optimizer):
            raise TypeError("Supplied optimizer must be an instance of tf.train.Optimizer")
        self._opt = opt
        for name in ("_apply_dense", "_resource_apply_dense", "_apply_sparse", "_resource_apply_sparse"):
            setattr(opt, name, _only_when_nonzero(getattr(opt, name)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opt, name)


def _only_when_nonzero(apply: Callable[..., Any]) -> Callable[..., Any]:
    def apply_or_not(gradient: Any, *args: Any, **kwargs: Any) -> Any:
        def step() -> tf.Operation:
            with tf.control_dependencies([apply(gradient, *args, **kwargs)]):
                return tf.no_op()

        values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
        return tf.cond(_is_all_zeros(values), tf.no_op, step)

    return apply_or_not


def clip_gradients_by_global_norm(gradients_variables: Pairs, clip_norm: Any = 20.0) -> tuple[list[tuple[Any, Any]], tf.Tensor]:
    """Clip gradients by their common norm, in which gradients that are all zeros do not count."""
    gradients, variables = zip(*gradients_variables, strict=True)

    def counted(gradient: Any) -> Any:
        if gradient is None:
            return None
        return tf.cond(_is_all_zeros(gradient), lambda: tf.zeros([], gradient.dtype), lambda: gradient)

    norm = tf.global_norm([counted(gradient) for gradient in gradients])
    clipped, _ = tf.clip_by_global_norm(gradients, clip_norm, use_norm=norm)
    return list(zip(clipped, variables, strict=True)), norm
