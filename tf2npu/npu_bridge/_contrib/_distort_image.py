"""``tf.contrib.image.python.ops.distort_image_ops``: hue, saturation and value changed in the YIQ colour space.

Source: tensorflow/contrib/image/kernels/adjust_hsv_in_yiq_op.h of TF 1.15, whose two matrices these are.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["adjust_hsv_in_yiq", "random_hsv_in_yiq"]
_TO_YIQ = ((0.299, 0.587, 0.114), (0.596, -0.274, -0.322), (0.211, -0.523, 0.312))
"""Weights of red, green and blue in luma and the two chroma values of NTSC's YIQ, a row each."""
_TO_RGB = ((1.0, 0.95617069, 0.62143257), (1.0, -0.2726886, -0.64681324), (1.0, -1.103744, 1.70062309))
"""The inverse of _TO_YIQ to the digits that TensorFlow's kernel has."""


def adjust_hsv_in_yiq(
    image: Any, delta_hue: Any = 0, scale_saturation: Any = 1, scale_value: Any = 1, name: str | None = None
) -> tf.Tensor:
    """RGB images (..., 3) with hue turned by ``delta_hue`` radians and saturation and value scaled."""
    with tf.name_scope(name, "adjust_hsv_in_yiq", [image]):
        image = tf.convert_to_tensor(image, name="image")
        pixels = tf.image.convert_image_dtype(image, tf.float32)
        hue, saturation, value = (tf.cast(number, tf.float32) for number in (delta_hue, scale_saturation, scale_value))
        cos, sin, zero = (saturation * value * part for part in (tf.cos(hue), tf.sin(hue), 0.0))
        turn = tf.stack([tf.stack([value, zero, zero]), tf.stack([zero, cos, -sin]), tf.stack([zero, sin, cos])])
        matrix = tf.matmul(tf.matmul(tf.constant(_TO_RGB), turn), tf.constant(_TO_YIQ))
        flat = tf.matmul(tf.reshape(pixels, [-1, 3]), matrix, transpose_b=True)
        changed = tf.reshape(flat, tf.shape(pixels))
        changed.set_shape(pixels.shape)
        return tf.image.convert_image_dtype(changed, image.dtype)


def random_hsv_in_yiq(
    image: Any,
    max_delta_hue: float = 0,
    lower_saturation: float = 1,
    upper_saturation: float = 1,
    lower_value: float = 1,
    upper_value: float = 1,
    seed: int | None = None,
) -> tf.Tensor:
    """``adjust_hsv_in_yiq`` by random amounts. Raises: ValueError for negative or crossed bounds."""
    if max_delta_hue < 0:
        raise ValueError("max_delta must be non-negative.")
    for what, low, high in (("saturation", lower_saturation, upper_saturation), ("value", lower_value, upper_value)):
        if low < 0:
            raise ValueError(f"lower_{what} must be non-negative.")
        if low > high:
            raise ValueError(f"lower_{what} must be < upper_{what}.")

    def between(low: float, high: float) -> Any:
        return low if low == high else tf.random_uniform([], low, high, seed=seed)

    return adjust_hsv_in_yiq(
        image,
        between(-max_delta_hue, max_delta_hue) if max_delta_hue else 0,
        between(lower_saturation, upper_saturation),
        between(lower_value, upper_value),
    )
