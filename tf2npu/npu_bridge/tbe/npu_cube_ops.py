"""Operators of the cube unit."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf


def deformable_conv2d(
    x: tf.Tensor,
    filter: tf.Tensor,
    offsets: tf.Tensor,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    groups: int = 1,
    deformable_groups: int = 1,
    modulated: bool = True,
    name: str | None = None,
) -> tf.Tensor:
    """Convolution whose kernel points are shifted by ``offsets`` and weighted by a mask.

    x: [batch, height, width, in], or [batch, in, height, width] with data_format NCHW.  filter: [kh, kw, in, out].
    offsets: [batch, out height, out width, deformable_groups * kh * kw * 3]: shifts in x, in y, then the mask.
    pads: top, bottom, left, right.  Raises: RuntimeError in eager execution, without modulation, or with groups.
    """
    if tf.executing_eagerly() or not modulated or groups != 1:
        raise RuntimeError("deformable_conv2d works in graph mode, modulated=True and groups=1 only")
    with tf.name_scope(name, "DeformableConv2D"):
        if data_format == "NCHW":
            x, offsets = tf.transpose(x, [0, 2, 3, 1]), tf.transpose(offsets, [0, 2, 3, 1])
        first = 1 if data_format == "NHWC" else 2
        stride = list(strides)[first : first + 2] if strides is not None else [1, 1]
        dilation = list(dilations)[first : first + 2]
        kernel = filter.shape.as_list()[:2]
        sampled = _sample(x, offsets, kernel, stride, list(pads or (0, 0, 0, 0)), dilation, deformable_groups)
        result = tf.nn.conv2d(sampled, filter, strides=[1, *kernel, 1], padding="VALID")
        return tf.transpose(result, [0, 3, 1, 2]) if data_format == "NCHW" else result


def _sample(
    x: tf.Tensor, offsets: tf.Tensor, kernel: list[int], stride: list[int], pads: list[int], dilation: list[int], groups: int
) -> tf.Tensor:
    """Values of ``x`` at the shifted kernel points, side by side: [batch, out height * kh, out width * kw, in]."""
    kh, kw = kernel
    batch, out_h, out_w, _ = tf.unstack(tf.shape(offsets))
    parts = tf.reshape(offsets, [batch, out_h, out_w, 3, groups, kh, kw])
    shift_x, shift_y, mask = parts[:, :, :, 0], parts[:, :, :, 1], parts[:, :, :, 2]
    y = tf.reshape(tf.range(out_h) * stride[0] - pads[0], [1, -1, 1, 1, 1, 1])
    x_at = tf.reshape(tf.range(out_w) * stride[1] - pads[2], [1, 1, -1, 1, 1, 1])
    y += tf.reshape(tf.range(kh) * dilation[0], [1, 1, 1, 1, -1, 1])
    x_at += tf.reshape(tf.range(kw) * dilation[1], [1, 1, 1, 1, 1, -1])
    rows, columns = tf.cast(y, x.dtype) + shift_y, tf.cast(x_at, x.dtype) + shift_x
    channels = x.shape.as_list()[3]
    grouped = tf.reshape(x, [batch, tf.shape(x)[1], tf.shape(x)[2], groups, channels // groups])
    values = _bilinear(grouped, rows, columns) * mask[..., None]
    values = tf.transpose(values, [0, 1, 4, 2, 5, 3, 6])
    return tf.reshape(values, [batch, out_h * kh, out_w * kw, channels])


def _bilinear(x: tf.Tensor, rows: tf.Tensor, columns: tf.Tensor) -> tf.Tensor:
    """Values between the pixels of x [batch, height, width, groups, n]; outside it is 0.

    rows, columns: [batch, out h, out w, groups, kh, kw].
    """
    low_y, low_x = tf.floor(rows), tf.floor(columns)
    total = 0.0
    for step_y in (0, 1):
        for step_x in (0, 1):
            y, x_at = low_y + step_y, low_x + step_x
            weight = (1.0 - tf.abs(rows - y)) * (1.0 - tf.abs(columns - x_at))
            total += weight[..., None] * _pixels(x, y, x_at)
    return total


def _pixels(x: tf.Tensor, rows: tf.Tensor, columns: tf.Tensor) -> tf.Tensor:
    shape = tf.shape(x)
    y, x_at = tf.cast(rows, tf.int32), tf.cast(columns, tf.int32)
    inside = (y >= 0) & (y < shape[1]) & (x_at >= 0) & (x_at < shape[2])
    y, x_at = tf.clip_by_value(y, 0, shape[1] - 1), tf.clip_by_value(x_at, 0, shape[2] - 1)
    batch = tf.reshape(tf.range(shape[0]), [-1, 1, 1, 1, 1, 1]) + tf.zeros_like(y)
    group = tf.reshape(tf.range(shape[3]), [1, 1, 1, -1, 1, 1]) + tf.zeros_like(y)
    values = tf.gather_nd(x, tf.stack([batch, y, x_at, group], axis=-1))
    return values * tf.cast(inside, x.dtype)[..., None]
