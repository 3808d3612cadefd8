"""Image decoding."""

from __future__ import annotations

import tensorflow as tf


def decode_image(contents: tf.Tensor, channels: int = 0, dtype: tf.DType = tf.uint8, expand_animations: bool = True) -> tf.Tensor:
    """Decode BMP, GIF, JPEG or PNG; ``tf.image.decode_image`` of TensorFlow 2."""
    return tf.io.decode_image(contents, channels=channels, dtype=dtype, expand_animations=expand_animations)
