"""On import, lets the Dropout layers of ``tf.keras`` use the device's dropout."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from keras.src.layers import Dropout
from keras.src.utils import control_flow_util
from npu_bridge.estimator import npu_ops


def dropout_call(self: Any, inputs: tf.Tensor, training: Any = None) -> tf.Tensor:
    """Dropout that keeps with probability 1 - rate while training; layers with a noise shape use ``tf.nn.dropout``."""
    if tf.executing_eagerly():
        return _keras_call(self, inputs, training)
    if training is None:
        training = tf.keras.backend.learning_phase()

    def dropped() -> tf.Tensor:
        noise_shape = self._get_noise_shape(inputs)  # subclasses such as SpatialDropout2D make one here
        if noise_shape is not None:
            return tf.nn.dropout(inputs, noise_shape=noise_shape, seed=self.seed, rate=self.rate)
        return tf.identity(npu_ops.dropout(inputs, keep_prob=1.0 - self.rate, seed=self.seed))

    return control_flow_util.smart_cond(training, dropped, lambda: tf.identity(inputs))


_keras_call = Dropout.call
Dropout.call = dropout_call
