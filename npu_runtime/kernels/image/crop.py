"""Boxes cut out of images and brought to one size, and the gradients by image and by box."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_element, per_input_element
from npu_runtime.errors import InvalidArgument, OutOfRange
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import store
from npu_runtime.kernels.shapes import constant_ints
from npu_runtime.kernels.threads import row_indexing as pixel_rows
from npu_runtime.kernels.threads.parallel import parallel_ranges
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray
BLOCK_ELEMENTS = 1 << 16
"""Elements of the crops made at a time, so that their corners stay in a core's cache."""
IMAGE_TYPES = {"T": dt.NUMBERS - {"bfloat16"}}


class Samples(NamedTuple):
    """The places of one axis of an image that crops read, (boxes, crop) each: between lower and upper, `lerp` of the way.

    nearest: the closer one.  inside: False where the place is outside the image.
    """

    lower: Array
    upper: Array
    lerp: Array
    nearest: Array
    inside: Array


def samples(low: Array, high: Array, extent: int, n: int, has_ratio: bool = False) -> Samples:
    """Places of n samples from `low` to `high` (parts of the image).

    has_ratio: steps rounded as the gradient by boxes does.  Source: TensorFlow core/kernels/image/crop_and_resize_op.cc.
    """
    last = np.float32(extent - 1)
    if n > 1:
        steps = np.arange(n, dtype=np.float32)
        scale = (high - low) * (last / np.float32(n - 1)) if has_ratio else (high - low) * last / np.float32(n - 1)
        places = (low * last)[:, None] + steps * scale[:, None]
    else:
        places = (0.5 * (low + high).astype(np.float64) * float(last)).astype(np.float32)[:, None]
    inside = (places >= 0) & (places <= last)
    safe = np.where(inside, places, np.float32(0))
    floor = np.floor(safe)
    half_away = np.floor(safe.astype(np.float64) + 0.5)
    upper = np.ceil(safe).astype(np.int64)
    return Samples(floor.astype(np.int64), upper, safe - floor, half_away.astype(np.int64), inside)


def _both(boxes: Array, image: tuple[int, ...], crop: tuple[int, ...], has_ratio: bool = False) -> tuple[Samples, Samples]:
    y1, x1, y2, x2 = boxes.T
    return samples(y1, y2, image[1], crop[0], has_ratio), samples(x1, x2, image[2], crop[1], has_ratio)


def _check_boxes(boxes: Array, box_ind: Array, batch: int) -> None:
    """Raises: InvalidArgument for shapes that do not fit, OutOfRange for a box of no image."""
    if boxes.ndim != 2:
        raise InvalidArgument(f"boxes must be 2-D, got: {shape_text(boxes.shape)}")
    if box_ind.ndim != 1:
        raise InvalidArgument(f"box_indices must be rank 1 but is shape {shape_text(box_ind.shape)}")
    if boxes.size and boxes.shape[1] != 4:
        raise InvalidArgument("boxes must have 4 columns")
    if len(boxes) != len(box_ind):
        raise InvalidArgument("box_index has incompatible shape")
    if box_ind.size and (box_ind.min() < 0 or box_ind.max() >= batch):
        raise OutOfRange("box_index has values outside [0, batch_size)")


def _check_image(image: Array, crop: tuple[int, ...]) -> None:
    if image.ndim != 4:
        raise InvalidArgument(f"input image must be 4-D{shape_text(image.shape)}")
    if min(image.shape[1:3]) == 0:
        raise InvalidArgument("image dimensions must be positive")
    if len(crop) != 2:
        raise InvalidArgument(f"crop_size must have two elements[{len(crop)}]")
    if min(crop) <= 0:
        raise InvalidArgument("crop dimensions must be positive")


def _pixels(image: Array, box_ind: Array, rows: Array, cols: Array) -> Array:
    """(boxes, crop height, crop width, C) fp32."""
    numbers = _numbers(box_ind, rows, cols, image.shape).reshape(len(rows), rows.shape[1], cols.shape[1])
    pixels = image.reshape(image.shape[0] * image.shape[1] * image.shape[2], image.shape[3])
    return np.take(pixels, numbers, axis=0, mode="clip").astype(np.float32, copy=False)


def _crops_shape(image: Spec, boxes: Spec, box_ind: Spec, crop_size: Spec, /, **attrs: Any) -> Shape:
    n_boxes = None if boxes.shape is None else boxes.shape[0]
    height, width = constant_ints(crop_size) or (None, None)
    return (n_boxes, height, width, None if image.shape is None else image.shape[3])


@kernel("CropAndResize", unit="vector", shape=_crops_shape, dtypes=IMAGE_TYPES, estimate=per_element(9))
def crop_and_resize(
    image: Array, boxes: Array, box_ind: Array, crop_size: Array, /, *, method: str = "bilinear",
    extrapolation_value: float = 0.0, out: Array | None = None,
) -> Array:  # fmt: skip
    """Each box of an image, resized; what is outside the image gets extrapolation_value.

    image: (N, H, W, C).  boxes: (n, 4) fp32, y1, x1, y2, x2 in parts of the image.  box_ind: (n,) int32, whose image.
    crop_size: (2,) int32.  method: "bilinear" or "nearest".  Returns: (n, height, width, C) fp32.
    Raises: InvalidArgument, OutOfRange for inputs that do not fit.  Source: TensorFlow op `CropAndResize`.
    """
    crop = tuple(int(n) for n in crop_size)
    _check_image(image, crop)
    _check_boxes(boxes, box_ind, len(image))
    if not np.isfinite(boxes).all():
        raise InvalidArgument("Boxes contains at least one element that is not finite")
    rows, cols = _both(boxes.reshape(-1, 4), image.shape, crop)
    made = np.empty((len(boxes), *crop, image.shape[3]), np.float32) if out is None else out
    crop_images = _nearest_crops if method == "nearest" else _bilinear_crops

    def work(start: int, stop: int) -> None:
        of_rows, of_cols = (Samples(*(each[start:stop] for each in axis)) for axis in (rows, cols))
        part = made[start:stop]
        crop_images(image, box_ind[start:stop], of_rows, of_cols, part)
        part[~_inside(of_rows, of_cols)] = extrapolation_value

    parallel_ranges(len(made), work, max(1, BLOCK_ELEMENTS // max(1, made[:1].size)))
    return made


def _nearest_crops(image: Array, box_ind: Array, rows: Samples, cols: Samples, out: Array) -> None:
    out[...] = _pixels(image, box_ind, rows.nearest, cols.nearest)


def _bilinear_crops(image: Array, box_ind: Array, rows: Samples, cols: Samples, out: Array) -> None:
    along_cols = np.repeat(cols.lerp[:, None, :, None], image.shape[3], axis=3)

    def along(places: Array) -> Array:
        left, right = _pixels(image, box_ind, places, cols.lower), _pixels(image, box_ind, places, cols.upper)
        right -= left
        right *= along_cols
        right += left
        return right

    top, bottom = along(rows.lower), along(rows.upper)
    bottom -= top
    bottom *= rows.lerp[:, :, None, None]
    np.add(top, bottom, out=out)


def _inside(rows: Samples, cols: Samples) -> Array:
    return rows.inside[:, :, None] & cols.inside[:, None, :]


def _image_shape(grads: Spec, boxes: Spec, box_ind: Spec, image_size: Spec, /, **attrs: Any) -> Shape:
    return constant_ints(image_size) or (None,) * 4


@kernel("CropAndResizeGradImage", unit="vector", shape=_image_shape, dtypes={"T": dt.FLOATS - {"bfloat16"}},
        estimate=per_input_element(12))  # fmt: skip
def crop_and_resize_grad_image(
    grads: Array, boxes: Array, box_ind: Array, image_size: Array, /, *, T: str, method: str = "bilinear",
    out: Array | None = None,
) -> Array:  # fmt: skip
    """Gradient of CropAndResize by the image: added up where boxes overlap.

    grads: (n, height, width, C) fp32.  image_size: (4,) int32.  Returns: shape image_size, type T.
    Raises: InvalidArgument, OutOfRange for inputs that do not fit.  Source: TensorFlow op `CropAndResizeGradImage`.
    """
    size = tuple(int(n) for n in image_size)
    _check_boxes(boxes, box_ind, size[0])
    if grads.shape[3] != size[3]:
        raise InvalidArgument("image_size and grads are incompatible")
    rows, cols = _both(boxes.reshape(-1, 4), size, grads.shape[1:3])
    kept = np.where(_inside(rows, cols)[..., None], grads, np.float32(0))
    shares = _nearest_shares(rows, cols, kept) if method == "nearest" else _bilinear_shares(rows, cols, kept)
    numbers = [_numbers(box_ind, r, c, size) for r, c, _ in shares]
    updates = [part.reshape(-1, size[3]) for _, _, part in shares]
    total = np.zeros((size[0] * size[1] * size[2], size[3]), np.float32)
    pixel_rows.combine(np.add, total, np.concatenate(numbers), np.concatenate(updates))
    return store(total.reshape(size), dt.to_numpy(T), out)


def _nearest_shares(rows: Samples, cols: Samples, grads: Array) -> list[tuple[Array, Array, Array]]:
    return [(rows.nearest, cols.nearest, grads)]


def _bilinear_shares(rows: Samples, cols: Samples, grads: Array) -> list[tuple[Array, Array, Array]]:
    """(rows, columns, share) of the four pixels behind each gradient."""
    found = []
    for r, of_row in ((rows.lower, 1 - rows.lerp), (rows.upper, rows.lerp)):
        part = grads * of_row[:, :, None, None]
        for c, of_col in ((cols.lower, 1 - cols.lerp), (cols.upper, cols.lerp)):
            found.append((r, c, part * of_col[:, None, :, None]))
    return found


def _numbers(box_ind: Array, rows: Array, cols: Array, size: tuple[int, ...]) -> Array:
    """Flat pixel numbers (boxes * height * width,) int64."""
    first = box_ind.astype(np.int64)[:, None, None] * size[1]
    return ((first + rows[:, :, None]) * size[2] + cols[:, None, :]).reshape(-1)


def _boxes_shape(grads: Spec, image: Spec, boxes: Spec, box_ind: Spec, /, **attrs: Any) -> Shape:
    return boxes.shape


@kernel("CropAndResizeGradBoxes", unit="vector", shape=_boxes_shape, dtypes=IMAGE_TYPES, estimate=per_input_element(18),
        ignores=("method",))  # fmt: skip
def crop_and_resize_grad_boxes(grads: Array, image: Array, boxes: Array, box_ind: Array, /) -> Array:
    """Gradient of the bilinear CropAndResize by the boxes' corners.

    grads: (n, height, width, C) fp32.  image: (N, H, W, C).  Returns: (n, 4) fp32.
    Raises: InvalidArgument, OutOfRange for inputs that do not fit.
    Source: TensorFlow op `CropAndResizeGradBoxes`, whose only method is "bilinear".
    """
    _check_boxes(boxes, box_ind, len(image))
    if image.shape[3] != grads.shape[3]:
        raise InvalidArgument("image, grads depth differ")
    crop = grads.shape[1:3]
    rows, cols = _both(boxes.reshape(-1, 4), image.shape, crop, has_ratio=True)
    corners = [_pixels(image, box_ind, r, c) for r in (rows.lower, rows.upper) for c in (cols.lower, cols.upper)]
    across, down = cols.lerp[:, None, :, None], rows.lerp[:, :, None, None]
    by_y = (1 - across) * (corners[2] - corners[0]) + across * (corners[3] - corners[1])
    by_x = (1 - down) * (corners[1] - corners[0]) + down * (corners[3] - corners[2])
    kept = np.where(_inside(rows, cols)[..., None], grads, np.float32(0))
    of_rows, of_cols = (by_y * kept).sum(axis=(2, 3)), (by_x * kept).sum(axis=(1, 3))
    (y1, y2), (x1, x2) = _by_ends(of_rows, image.shape[1], crop[0]), _by_ends(of_cols, image.shape[2], crop[1])
    return np.stack([y1, x1, y2, x2], axis=1)


def _by_ends(gradient: Array, extent: int, n: int) -> tuple[Array, Array]:
    """Gradients of a box's two ends, the low and the high one.  gradient: of the samples, (boxes, n)."""
    last = np.float32(extent - 1)
    if n == 1:
        half = (gradient[:, 0] * 0.5) * last
        return half, half
    reach = np.arange(n, dtype=np.float32) * (last / np.float32(n - 1))
    return gradient @ (last - reach), gradient @ reach
