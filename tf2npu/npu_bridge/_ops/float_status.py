"""Operations on the device's float status. A session on TensorFlow gives zeros: there overflow shows as infinities."""

from __future__ import annotations

import tensorflow as tf

from npu_runtime.importers.tensorflow import device_calls

N_WORDS = 8
"""Elements of the status tensor. Source: NPUAllocFloatStatus of the vendor's op definitions."""


def npu_alloc_float_status(name: str | None = None) -> tf.Tensor:
    """A clear status: float32 [8]."""
    return device_calls.call("AllocFloatStatus", lambda zeros: tf.identity(zeros), [tf.zeros([N_WORDS])], name=name)[0]


def npu_get_float_status(addr: tf.Tensor, name: str | None = None) -> tf.Tensor:
    """The status of this step so far; its first word is above 0 when an fp16 result was cut in saturation mode."""
    return device_calls.call("GetFloatStatus", lambda status: tf.identity(status), [addr], name=name)[0]


def npu_clear_float_status(addr: tf.Tensor, name: str | None = None) -> tf.Tensor:
    """A clear status again; overflows of this step so far are forgotten."""
    return device_calls.call("ClearFloatStatus", lambda status: tf.zeros_like(status), [addr], name=name)[0]
