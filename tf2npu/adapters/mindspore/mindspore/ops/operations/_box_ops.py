"""Primitives on boxes (x0, y0, x1, y1), which hold their last row and column: a box is x1 - x0 + 1 wide."""

from __future__ import annotations

import math
from typing import Any

from mindspore.ops.primitive import primitive
from npu_bridge.npu_init import tf

_ZEROS, _ONES = (0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0)


def _parts(boxes: Any) -> tuple[Any, ...]:
    """Centres and extents: x, y, width, height."""
    x0, y0, x1, y1 = tf.unstack(boxes, 4, axis=-1)
    return (x0 + x1) * 0.5, (y0 + y1) * 0.5, x1 - x0 + 1.0, y1 - y0 + 1.0


def _encoded(anchors: Any, truths: Any, means: Any, stds: Any) -> Any:
    """The way from anchors to boxes: shifts in widths and heights, and logarithms of ratios."""
    x, y, width, height = _parts(anchors)
    true_x, true_y, true_width, true_height = _parts(truths)
    shifts = ((true_x - x) / width, (true_y - y) / height)
    found = tf.stack((*shifts, tf.math.log(true_width / width), tf.math.log(true_height / height)), -1)
    return (found - tf.constant(means, found.dtype)) / tf.constant(stds, found.dtype)


BoundingBoxEncode = primitive("BoundingBoxEncode", _encoded, means=_ZEROS, stds=_ONES)


def _decoded(anchors: Any, deltas: Any, max_shape: Any, means: Any, stds: Any, wh_ratio_clip: float) -> Any:
    """The boxes that deltas lead to from anchors, within images of max_shape (height, width)."""
    most = abs(math.log(wh_ratio_clip))
    deltas = deltas * tf.constant(stds, deltas.dtype) + tf.constant(means, deltas.dtype)
    dx, dy, dw, dh = tf.unstack(deltas, 4, axis=-1)
    x, y, width, height = _parts(anchors)
    x, y = x + width * dx, y + height * dy
    width, height = (size * tf.exp(tf.clip_by_value(d, -most, most)) for size, d in ((width, dw), (height, dh)))
    half_width, half_height = width * 0.5 - 0.5, height * 0.5 - 0.5
    edges = [x - half_width, y - half_height, x + half_width, y + half_height]
    if max_shape is not None:
        edges = [tf.clip_by_value(edge, 0.0, max_shape[1 - i % 2] - 1.0) for i, edge in enumerate(edges)]
    return tf.stack(edges, -1)


BoundingBoxDecode = primitive(
    "BoundingBoxDecode", _decoded, max_shape=None, means=_ZEROS, stds=_ONES, wh_ratio_clip=0.016
)  # fmt: skip


def _within(boxes: Any, image: Any) -> Any:
    """Whether boxes lie in an image (height, width, ratio)."""
    x0, y0, x1, y1 = tf.unstack(boxes, 4, axis=-1)
    height, width = image[0] * image[2], image[1] * image[2]
    first = tf.logical_and(x0 >= 0, y0 >= 0)
    return tf.logical_and(first, tf.logical_and(x1 <= width - 1, y1 <= height - 1))


CheckValid = primitive("CheckValid", _within)


def _overlaps(anchors: Any, truths: Any, mode: str) -> Any:
    """The common area of each true box with each anchor, by that of both ("iou") or of the true box ("iof")."""
    if mode not in ("iou", "iof"):
        raise KeyError(f'IOU(mode={mode!r}): "iou" or "iof" is needed')
    rows, columns = tf.expand_dims(truths, 1), tf.expand_dims(anchors, 0)
    low, high = tf.maximum(rows[..., :2], columns[..., :2]), tf.minimum(rows[..., 2:], columns[..., 2:])
    common = tf.reduce_prod(tf.maximum(high - low + 1.0, 0.0), -1)
    of_truth = tf.reduce_prod(rows[..., 2:] - rows[..., :2] + 1.0, -1)
    of_anchor = tf.reduce_prod(columns[..., 2:] - columns[..., :2] + 1.0, -1)
    return common / (of_truth + of_anchor - common if mode == "iou" else of_truth + tf.zeros_like(common))


IOU = primitive("IOU", _overlaps, mode="iou")


def _suppressed(boxes: Any, iou_threshold: float) -> Any:
    """(boxes by falling score, their numbers, whether each stays): one goes that overlaps a better one which stays."""
    scores, order = tf.nn.top_k(boxes[:, 4], boxes.shape[0])
    boxes = tf.gather(boxes, order)
    overlaps = tf.image.non_max_suppression_overlaps(_plain_overlaps(boxes), scores, boxes.shape[0], iou_threshold)
    kept = tf.scatter_nd(tf.expand_dims(overlaps, -1), tf.ones_like(overlaps), (boxes.shape[0],))
    return boxes, tf.range(boxes.shape[0]), kept > 0


def _plain_overlaps(boxes: Any) -> Any:
    """The overlaps of boxes with each other, for which NMSWithMask takes x1 - x0 as the width."""
    rows, columns = tf.expand_dims(boxes, 1), tf.expand_dims(boxes, 0)
    low, high = tf.maximum(rows[..., :2], columns[..., :2]), tf.minimum(rows[..., 2:4], columns[..., 2:4])
    common = tf.reduce_prod(tf.maximum(high - low, 0.0), -1)
    area = tf.reduce_prod(boxes[:, 2:4] - boxes[:, :2], -1)
    return tf.math.divide_no_nan(common, tf.expand_dims(area, 1) + tf.expand_dims(area, 0) - common)


NMSWithMask = primitive("NMSWithMask", _suppressed, iou_threshold=0.5)


def _cropped(x: Any, boxes: Any, numbers: Any, crop_size: Any, method: str, extrapolation_value: float) -> Any:
    return tf.image.crop_and_resize(x, boxes, numbers, crop_size, method.replace("bilinear_v2", "bilinear"), extrapolation_value)


CropAndResize = primitive("CropAndResize", _cropped, method="bilinear", extrapolation_value=0.0)

__all__ = ["IOU", "BoundingBoxDecode", "BoundingBoxEncode", "CheckValid", "CropAndResize", "NMSWithMask"]
