"""JPEG decoding that the device's image unit does."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf


def decode_and_resize_jpeg(image: tf.Tensor, size: Sequence[int] | tf.Tensor) -> tf.Tensor:
    """Decode a JPEG and resize it, bilinear: uint8 [height, width, 3].  size: [height, width]."""
    return _resize(tf.image.decode_jpeg(image, channels=3), size)


def decode_and_crop_and_resize_jpeg(
    image: tf.Tensor, crop_size: Sequence[int] | tf.Tensor, size: Sequence[int] | tf.Tensor
) -> tf.Tensor:
    """Decode part of a JPEG and resize it, bilinear: uint8 [height, width, 3].  crop_size: [y, x, height, width]."""
    return _resize(tf.image.decode_and_crop_jpeg(image, crop_size, channels=3), size)


def _resize(pixels: tf.Tensor, size: Sequence[int] | tf.Tensor) -> tf.Tensor:
    resized = tf.image.resize_bilinear(pixels[None], size)[0]
    return tf.cast(tf.clip_by_value(tf.round(resized), 0, 255), tf.uint8)
