"""Images seen through a projective map: each pixel of the result is looked up where the map leads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import store
from npu_runtime.kernels.shapes import constant_ints
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray
TYPES = {"dtype": dt.FLOATS - {"bfloat16"} | {"uint8", "int32", "int64"}}
N_PARAMETERS = 8
"""Numbers of a map: two rows of three, and two of the third row, whose last is 1."""
INTERPOLATIONS = frozenset({"NEAREST", "BILINEAR"})
FILL_MODES = frozenset({"CONSTANT", "REFLECT", "WRAP", "NEAREST"})
ONE = np.float32(1)


def _refuse(specs: Sequence[Spec], attrs: dict[str, Any]) -> str | None:
    """Modes that TensorFlow's documentation does not name."""
    is_known = attrs["interpolation"] in INTERPOLATIONS and attrs.get("fill_mode", "CONSTANT") in FILL_MODES
    return None if is_known else "an interpolation or a fill mode that TensorFlow's documentation does not name"


def _shape(images: Spec, transforms: Spec, size: Spec, /, *others: Spec, **attrs: Any) -> Shape:
    batch, channels = (images.shape[0], images.shape[-1]) if images.rank == 4 and images.shape else (None, None)
    height, width = constant_ints(size) or (None, None)
    return (batch, height, width, channels)


@kernel("ImageProjectiveTransformV3", unit="vector", shape=_shape, dtypes=TYPES, estimate=per_element(9), refuse=_refuse)
def transform_images(
    images: Array, transforms: Array, output_shape: Array, fill_value: Array, /, *, interpolation: str,
    fill_mode: str = "CONSTANT", out: Array | None = None,
) -> Array:  # fmt: skip
    """Pixels at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), k = c0 x + c1 y + 1, of the images.

    images: (N, H, W, C).  transforms: (N or 1, 8) fp32, a0 a1 a2 b0 b1 b2 c0 c1.  output_shape: (2,) int32.  fill_value: () fp32,
    stands outside of the images.  fill_mode: which pixel does instead.  Returns: (N, height, width, C).
    Raises: InvalidArgument for shapes that do not fit.  Source: TensorFlow op `ImageProjectiveTransformV3`.
    """
    height, width = _checked(images, transforms, output_shape, fill_value)
    x, y, is_nowhere = _places(transforms, height, width)
    x, y = (_inside(place, n, fill_mode) for place, n in ((x, images.shape[2]), (y, images.shape[1])))
    fill = fill_value.astype(images.dtype)
    if interpolation == "NEAREST":
        made = _pixels(images, _rounded(y), _rounded(x), fill)
    else:
        made = _between(images, y, x, fill)
    made[np.broadcast_to(is_nowhere, made.shape[:3])] = fill
    return store(made.astype(images.dtype, copy=False), images.dtype, out)


@kernel("ImageProjectiveTransformV2", unit="vector", shape=_shape, dtypes=TYPES, estimate=per_element(9), refuse=_refuse)
def transform_images_to_zero(
    images: Array, transforms: Array, output_shape: Array, /, *, interpolation: str, fill_mode: str = "CONSTANT",
    out: Array | None = None,
) -> Array:  # fmt: skip
    """The same with zeros outside of the images.  Source: TensorFlow op `ImageProjectiveTransformV2`."""
    zero = np.zeros((), np.float32)
    made: Array = transform_images(
        images, transforms, output_shape, zero, interpolation=interpolation, fill_mode=fill_mode, out=out
    )
    return made


def _checked(images: Array, transforms: Array, size: Array, fill_value: Array) -> tuple[int, int]:
    """Height and width of the result."""
    if images.ndim != 4:
        raise InvalidArgument("Input images must have rank 4")
    if transforms.ndim != 2 or len(transforms) not in (1, len(images)) or transforms.shape[1] != N_PARAMETERS:
        raise InvalidArgument(f"Input transform should be num_images x {N_PARAMETERS} or 1 x {N_PARAMETERS}")
    if size.ndim != 1:
        raise InvalidArgument(f"output shape must be 1-dimensional{shape_text(size.shape)}")
    if size.shape != (2,):
        raise InvalidArgument(f"output shape must have two elements{shape_text(size.shape)}")
    if fill_value.ndim:
        raise InvalidArgument(f"fill_value must be a scalar{shape_text(fill_value.shape)}")
    if int(size.min()) <= 0:
        raise InvalidArgument("output dimensions must be positive")
    return int(size[0]), int(size[1])


def _places(transforms: Array, height: int, width: int) -> tuple[Array, Array, Array]:
    """(x, y of what each pixel shows, where that is infinitely far away), each of the shape (N or 1, height, width)."""
    a0, a1, a2, b0, b1, b2, c0, c1 = transforms.T[:, :, None, None]
    x, y = np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32)[:, None]
    depth = c0 * x + c1 * y + ONE
    return (a0 * x + a1 * y + a2) / depth, (b0 * x + b1 * y + b2) / depth, depth == 0


def _inside(place: Array, n: int, fill_mode: str) -> Array:
    """A coordinate brought into the n pixels of an axis."""
    if fill_mode == "CONSTANT":
        return place
    moved = {"REFLECT": _reflected, "WRAP": _wrapped}.get(fill_mode, lambda place, n: place)(place, n)
    return np.clip(moved, np.float32(0), np.float32(n - 1))


def _turns(place: Array, period: int) -> Array:
    """The whole number of periods in a coordinate."""
    return np.trunc(place / np.float32(period))


def _reflected(place: Array, n: int) -> Array:
    """abcd continues as dcba at both ends."""
    if n <= 1:
        return np.zeros_like(place)
    both = np.float32(2 * n)
    below = np.where(place < both, both * _turns(-place, 2 * n) + place, place)
    below = np.where(below < -n, below + both, -below - ONE)
    above = place - both * _turns(place, 2 * n)
    above = np.where(above >= n, both - above - ONE, above)
    return np.where(place < 0, below, np.where(place > n - 1, above, place))


def _wrapped(place: Array, n: int) -> Array:
    """abcd continues as abcd at both ends."""
    if n <= 1:
        return np.zeros_like(place)
    size = np.float32(n)
    below = place + size * (_turns(-place, n - 1) + ONE)
    above = place - size * _turns(place, n - 1)
    return np.where(place < 0, below, np.where(place > n - 1, above, place))


def _rounded(place: Array) -> Array:
    """The nearest whole number, halves away from zero as C rounds them."""
    whole = np.trunc(place)
    return whole + np.where(np.abs(place - whole) >= np.float32(0.5), np.sign(place), np.float32(0))


def _pixels(images: Array, y: Array, x: Array, fill: Array) -> Array:
    """The pixels at whole coordinates, (N or 1, height, width), and a value for those outside."""
    height, width = images.shape[1:3]
    is_in = (y >= 0) & (y < height) & (x >= 0) & (x < width)
    shape = (*images.shape[:1], *y.shape[1:], images.shape[3])
    if not images.size:
        return np.full(shape, fill, images.dtype)
    row, column = (np.where(is_in, place, 0).astype(np.int64) for place in (y, x))
    found = images[np.arange(len(images))[:, None, None], row, column]
    return np.where(is_in[..., None], found, fill)


def _between(images: Array, y: Array, x: Array, fill: Array) -> Array:
    """Four pixels by their distances, in fp32."""
    top, left = np.floor(y), np.floor(x)
    bottom, right = top + ONE, left + ONE

    def row(place: Array) -> Array:
        pair = (_pixels(images, place, column, fill).astype(np.float32, copy=False) for column in (left, right))
        near, far = pair
        return (right - x)[..., None] * near + (x - left)[..., None] * far

    return (bottom - y)[..., None] * row(top) + (y - top)[..., None] * row(bottom)
