"""Whether gradients of a step are right: finite, and no fp16 result was cut on the device on the way to them, on any worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from npu_device.distribute import hccl_ops
from npu_device.npu_device import global_npu_ctx, is_inf_nan_enabled
from npu_device.utils.scope import keep_dtype_scope

from npu_runtime.device import float_status
from npu_runtime.importers.tensorflow import device_calls

_cut_before = 0
"""Results that were cut in the process until the last time that eager code asked; a device counts on until it is read, too."""


def is_watched() -> bool:
    """Whether the float status has to be asked: in infinity mode gradients show everything."""
    return global_npu_ctx() is not None and not is_inf_nan_enabled()


def are_right(gradients: Sequence[Any]) -> tf.Tensor:
    """A bool scalar.  gradients: tensors, IndexedSlices or None; an element type for each, any shape."""
    values = [g.values if isinstance(g, tf.IndexedSlices) else g for g in gradients if g is not None]
    with keep_dtype_scope():  # a number that fp16 cannot hold is finite all the same
        is_right = tf.reduce_all([tf.reduce_all(tf.math.is_finite(value)) for value in values]) if values else tf.constant(True)
    if not is_watched():
        return is_right
    return _on_all_workers(tf.logical_and(is_right, tf.equal(_status_behind(values), 0.0)))


def _status_behind(values: Sequence[tf.Tensor]) -> tf.Tensor:
    """The first word of the float status when some tensors have been computed: above 0 where a result was cut."""
    global _cut_before
    if tf.executing_eagerly():
        cut, _cut_before = float_status.overflows.total() - _cut_before, float_status.overflows.total()
        return tf.constant(float(cut > 0))
    with tf.control_dependencies(values):
        clear = device_calls.call("AllocFloatStatus", tf.identity, [tf.zeros([float_status.N_STATUS_WORDS])])[0]
        status = device_calls.call("GetFloatStatus", tf.identity, [clear])[0]
    return tf.reshape(status, [-1])[0]


def _on_all_workers(is_right: tf.Tensor) -> tf.Tensor:
    device = global_npu_ctx()
    if device is None or not device.is_cluster_worker():
        return is_right
    return tf.equal(hccl_ops.allreduce(tf.cast(tf.logical_not(is_right), tf.float32), "sum", 0), 0.0)
