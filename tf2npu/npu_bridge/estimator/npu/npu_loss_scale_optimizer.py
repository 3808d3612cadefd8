"""Loss scaling: gradients of a scaled loss, and an update that is skipped when they overflow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from npu_bridge._endless_training import note_way_out
from npu_bridge._ops.float_status import npu_alloc_float_status, npu_get_float_status
from npu_bridge.estimator.npu import util
from npu_bridge.estimator.npu.npu_loss_scale_manager import ExponentialUpdateLossScaleManager, FixedLossScaleManager
from npu_bridge.estimator.npu.npu_scope import keep_dtype_scope
from npu_bridge.hccl import hccl_ops

__all__ = ["ExponentialUpdateLossScaleManager", "FixedLossScaleManager", "NPULossScaleOptimizer"]

FINITE = "overflow_status_reduce_all"
"""Name, in the scope of the call, of the tensor that says whether a step is applied.  Source: public scripts for the real
package, which fetch it by this name beside `loss_scale:0`."""
Pairs = list[tuple[Any, tf.Variable]]


def _scale_down(gradient: Any, scale: tf.Tensor) -> Any:
    if gradient is None:
        return None
    if isinstance(gradient, tf.IndexedSlices):
        values = gradient.values / tf.cast(scale, gradient.values.dtype.base_dtype)
        return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return gradient / tf.cast(scale, gradient.dtype.base_dtype)


def scaled_gradients(
    optimizer: tf.train.Optimizer,
    scale: tf.Tensor,
    loss: Any,
    var_list: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    between: Callable[[Pairs], Pairs] = lambda pairs: pairs,
) -> Pairs:
    """Gradients of ``loss``, computed from the scaled loss and scaled down after ``between``.

    The scale itself stays in fp32 in every precision mode: most are beyond the largest fp16 number.
    """

    def scaled(value: tf.Tensor) -> tf.Tensor:
        with keep_dtype_scope():
            return value * tf.cast(scale, value.dtype.base_dtype)

    wanted = (lambda: scaled(loss())) if callable(loss) else scaled(loss)
    gradients = between(optimizer.compute_gradients(wanted, var_list, *args, **kwargs))
    with keep_dtype_scope():
        return [(_scale_down(gradient, scale), variable) for gradient, variable in gradients]


def all_finite(pairs: Pairs) -> tf.Tensor:
    """Whether every gradient that is not None is free of infinities and NaN, in the type that it has."""
    values = [g.values if isinstance(g, tf.IndexedSlices) else g for g, _ in pairs if g is not None]
    with keep_dtype_scope():
        return tf.reduce_all([tf.reduce_all(tf.math.is_finite(value)) for value in values]) if values else tf.constant(True)


def no_overflow(pairs: Pairs) -> tf.Tensor:
    """Whether a step may be applied: gradients are finite and the device's float status is clear.

    Only the session that runs the step knows whether it saturates; in infinity mode the status is always clear.
    """
    finite = all_finite(pairs)
    computed = [g.values if isinstance(g, tf.IndexedSlices) else g for g, _ in pairs if g is not None]
    with tf.control_dependencies(computed):  # the status is of what has run by then
        status = npu_get_float_status(npu_alloc_float_status())
    return tf.logical_and(finite, tf.equal(status[0], 0.0))


def update_if_finite(
    optimizer: tf.train.Optimizer, manager: Any, pairs: Pairs, global_step: Any, name: str | None, is_distributed: bool
) -> tf.Operation:
    """Apply the gradients when all are finite, else leave variables and global step as they are; then tell the manager.

    With ``is_distributed`` a rank skips when any rank overflowed.
    """
    if not manager.get_enable_overflow_check():
        return optimizer.apply_gradients(pairs, global_step, name)
    finite = no_overflow(pairs)
    if is_distributed:
        overflows = hccl_ops.allreduce(tf.cast(tf.logical_not(finite), tf.float32), "sum", fusion=0)
        finite = tf.equal(overflows, 0.0)
    finite = tf.identity(finite, name=FINITE)
    how = getattr(type(manager), "update_loss_scale", None)
    if how is FixedLossScaleManager.update_loss_scale:
        note_way_out(finite)
    elif how is ExponentialUpdateLossScaleManager.update_loss_scale:
        note_way_out(tf.logical_or(finite, manager.get_loss_scale() > 1.0))

    def update() -> tf.Tensor:
        with tf.control_dependencies([optimizer.apply_gradients(pairs, global_step, name)]):
            return tf.constant(True)

    applied = tf.cond(finite, update, lambda: tf.constant(False))
    with tf.control_dependencies([applied]):
        return tf.group(applied, manager.update_loss_scale(finite))


class NPULossScaleOptimizer(tf.train.Optimizer):
    """Multiplies the loss, divides the gradients, and skips updates whose gradients overflow.

    None gradients are left out of the check. Unknown attributes are the inner optimizer's.
    Source: tf.contrib.mixed_precision.LossScaleOptimizer of TF 1.15.
    """

    def __init__(self, opt: tf.train.Optimizer, loss_scale_manager: Any, is_distributed: bool = False) -> None:
        if not isinstance(opt, tf.train.Optimizer):
            raise ValueError(f"opt must be a tf.train.Optimizer, got {type(opt).__name__}")
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager
        self._is_distributed = is_distributed and int(util.get_ranksize()) > 1
        super().__init__(use_locking=False, name=f"NPULossScaleOptimizer{type(opt).__name__}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_opt" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self._opt, name)

    def compute_gradients(self, loss: Any, var_list: Any = None, *args: Any, **kwargs: Any) -> Pairs:
        """Gradients of the unscaled loss."""
        return scaled_gradients(self._opt, self._loss_scale_manager.get_loss_scale(), loss, var_list, args, kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> tf.Operation:
        """Apply gradients unless one overflowed; a skipped step leaves the global step too."""
        pairs = list(grads_and_vars)
        return update_if_finite(self._opt, self._loss_scale_manager, pairs, global_step, name, self._is_distributed)

    def get_slot(self, *args: Any, **kwargs: Any) -> tf.Variable | None:
        """A slot of the inner optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """Names of the inner optimizer's slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[tf.Variable]:
        """Variables of the inner optimizer."""
        return self._opt.variables()
