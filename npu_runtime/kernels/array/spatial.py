"""Moving blocks between the spatial axes and depth or batch; patches of images.

Source: TensorFlow's core/kernels/spacetodepth_op.cc, spacetobatch_op.cc and extract_image_patches_op.cc.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import constant_ints
from npu_runtime.kernels.threads.transposing import transpose_into
from npu_runtime.kernels.variable_access import shape_text
from npu_runtime.kernels.windows.windows import window_extent


def _only_nhwc(specs: Sequence[Spec], attrs: dict[str, Any]) -> str | None:
    """Another data_format than NHWC, as TensorFlow's CPU."""
    layout = attrs.get("data_format", "NHWC")
    return None if layout == "NHWC" else f"data_format {layout}: only NHWC is done"


def _transposed(x: np.ndarray, axes: Sequence[int], shape: Sequence[int], out: np.ndarray | None) -> np.ndarray:
    made = np.empty(shape, x.dtype) if out is None else out
    view = x.transpose(axes)
    transpose_into(made.reshape(view.shape), view)
    return made


def _space_to_depth_shape(x: Spec, *, block_size: int) -> Shape:
    return _scaled(x, lambda n: n // block_size, block_size * block_size)


def _scaled(x: Spec, spatial: Any, depth_factor: float) -> Shape:
    if x.shape is None:
        return None
    n, height, width, depth = (None if e is None else int(e) for e in x.shape)
    return (
        n, None if height is None else spatial(height), None if width is None else spatial(width),
        None if depth is None else int(depth * depth_factor),
    )  # fmt: skip


@kernel("SpaceToDepth", unit="memory", shape=_space_to_depth_shape, ignores=["data_format"], refuse=_only_nhwc)
def space_to_depth(x: np.ndarray, /, *, block_size: int, out: np.ndarray | None = None) -> np.ndarray:
    """Blocks of pixels become channels.

    x: (n, h, w, c).  Returns: (n, h/b, w/b, b*b*c).  Raises: InvalidArgument for another rank, or when b does not divide h and w.
    """
    if x.ndim != 4:
        raise InvalidArgument(f"Input rank should be 4 instead of {x.ndim}")
    n, height, width, depth = x.shape
    b = block_size
    if height % b or width % b:
        raise InvalidArgument(f"Image width {width} and height {height} should be divisible by block_size: {b}")
    blocks = x.reshape(n, height // b, b, width // b, b, depth)
    return _transposed(blocks, (0, 1, 3, 2, 4, 5), (n, height // b, width // b, b * b * depth), out)


def _depth_to_space_shape(x: Spec, *, block_size: int) -> Shape:
    return _scaled(x, lambda n: n * block_size, 1 / (block_size * block_size))


@kernel("DepthToSpace", unit="memory", shape=_depth_to_space_shape, ignores=["data_format"], refuse=_only_nhwc)
def depth_to_space(x: np.ndarray, /, *, block_size: int, out: np.ndarray | None = None) -> np.ndarray:
    """Channels become blocks of pixels.

    x: (n, h, w, b*b*c).  Returns: (n, h*b, w*b, c).  Raises: InvalidArgument for another rank, or when b*b does not divide
    the channels.
    """
    if x.ndim != 4:
        raise InvalidArgument(f"Input rank should be: 4 instead of: {x.ndim}")
    n, height, width, depth = x.shape
    b = block_size
    if depth % (b * b):
        raise InvalidArgument(f"Input depth dimension {depth} should be divisible by: {b * b}")
    c = depth // (b * b)
    blocks = x.reshape(n, height, width, b, b, c)
    return _transposed(blocks, (0, 1, 3, 2, 4, 5), (n, height * b, width * b, c), out)


def _space_to_batch(x: np.ndarray, blocks: Sequence[int], paddings: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    """x: (n, spatial ..., rest ...) with len(blocks) spatial axes. Raises: InvalidArgument when a block does not fit."""
    m = len(blocks)
    rest = x.shape[1 + m :]
    spatial = [n + int(before) + int(after) for n, (before, after) in zip(x.shape[1 : 1 + m], paddings, strict=True)]
    for axis, (n, b) in enumerate(zip(spatial, blocks, strict=True)):
        if n % b:
            raise InvalidArgument(f"padded_shape[{axis}]={n} is not divisible by block_shape[{axis}]={b}")
    padded = np.zeros((x.shape[0], *spatial, *rest), x.dtype)
    starts = [int(before) for before, _ in paddings]
    inside = (slice(None), *[slice(first, first + n) for n, first in zip(x.shape[1 : 1 + m], starts, strict=True)])
    padded[inside] = x
    cut = [e for n, b in zip(spatial, blocks, strict=True) for e in (n // b, b)]
    axes = [2 + 2 * a for a in range(m)] + [0] + [1 + 2 * a for a in range(m)] + list(range(1 + 2 * m, 1 + 2 * m + len(rest)))
    shape = (x.shape[0] * math.prod(blocks), *[n // b for n, b in zip(spatial, blocks, strict=True)], *rest)
    return _transposed(padded.reshape(x.shape[0], *cut, *rest), axes, shape, out)


def _batch_to_space(x: np.ndarray, blocks: Sequence[int], crops: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    """The inverse of `_space_to_batch`. Raises: InvalidArgument when the batch cannot be divided, or crops are too long."""
    m = len(blocks)
    n = x.shape[0] // math.prod(blocks)
    if x.shape[0] % math.prod(blocks):
        raise InvalidArgument(f"Input batch dimension ({x.shape[0]}) is not divisible by the product of {list(blocks)}")
    spatial, rest = x.shape[1 : 1 + m], x.shape[1 + m :]
    axes = [m, *[e for a in range(m) for e in (m + 1 + a, a)], *range(1 + 2 * m, 1 + 2 * m + len(rest))]
    whole = x.reshape(*blocks, n, *spatial, *rest).transpose(axes)
    whole = whole.reshape(n, *[e * b for e, b in zip(spatial, blocks, strict=True)], *rest)
    for axis, (start, end) in enumerate(crops):
        if start < 0 or end < 0 or start + end > whole.shape[1 + axis]:
            raise InvalidArgument(f"crops {crops.tolist()} do not fit {shape_text(whole.shape)}")
    kept = (slice(None), *[slice(int(s), n - int(e)) for n, (s, e) in zip(whole.shape[1 : 1 + m], crops, strict=True)])
    part = whole[kept]
    if out is None:
        return np.ascontiguousarray(part)
    np.copyto(out, part)
    return out


BATCH_TYPES = {"T": dt.NUMBERS}


def _block_shape(x: Spec, blocks: Sequence[int] | None, edges: Spec, to_batch: bool) -> Shape:
    if x.shape is None:
        return None
    pairs = constant_ints(Spec(None, edges.dtype, None if edges.value is None else edges.value.reshape(-1)))
    if blocks is None:
        return (None,) * len(x.shape)
    spatial: list[int | None] = []
    for axis, b in enumerate(blocks):
        extent = x.shape[1 + axis]
        if extent is None or pairs is None:
            spatial.append(None)
            continue
        change = pairs[2 * axis] + pairs[2 * axis + 1]
        spatial.append((extent + change) // b if to_batch else extent * b - change)
    n, factor = x.shape[0], math.prod(blocks)
    batch = None if n is None else n * factor if to_batch else n // factor
    return (batch, *spatial, *x.shape[1 + len(blocks) :])


def _space_to_batch_nd_shape(x: Spec, block_shape: Spec, paddings: Spec) -> Shape:
    return _block_shape(x, constant_ints(block_shape), paddings, True)


@kernel("SpaceToBatchND", unit="memory", shape=_space_to_batch_nd_shape, dtypes=BATCH_TYPES)
def space_to_batch_nd(
    x: np.ndarray, block_shape: np.ndarray, paddings: np.ndarray, /, *, out: np.ndarray | None = None
) -> np.ndarray:
    """Zero-padded, then every b-th pixel goes to its own batch entry.

    x: (n, spatial ..., rest ...).  block_shape: (m,).  paddings: (m, 2).  Returns: (n * prod(block_shape), ...).
    Raises: InvalidArgument when a block does not divide the padded extent.
    """
    return _space_to_batch(x, block_shape.tolist(), paddings, out)


def _batch_to_space_nd_shape(x: Spec, block_shape: Spec, crops: Spec) -> Shape:
    return _block_shape(x, constant_ints(block_shape), crops, False)


@kernel("BatchToSpaceND", unit="memory", shape=_batch_to_space_nd_shape, dtypes=BATCH_TYPES)
def batch_to_space_nd(
    x: np.ndarray, block_shape: np.ndarray, crops: np.ndarray, /, *, out: np.ndarray | None = None
) -> np.ndarray:
    """The inverse of `SpaceToBatchND`, cropped.

    x: (n * prod(block_shape), spatial ..., rest ...).  crops: (m, 2).  Raises: InvalidArgument when they do not fit.
    """
    return _batch_to_space(x, block_shape.tolist(), crops, out)


def _space_to_batch_shape(x: Spec, paddings: Spec, *, block_size: int) -> Shape:
    return _block_shape(x, (block_size, block_size), paddings, True)


@kernel("SpaceToBatch", unit="memory", shape=_space_to_batch_shape, dtypes=BATCH_TYPES)
def space_to_batch(x: np.ndarray, paddings: np.ndarray, /, *, block_size: int, out: np.ndarray | None = None) -> np.ndarray:
    """`SpaceToBatchND` with the same block along both spatial axes. x: (n, h, w, c)."""
    return _space_to_batch(x, (block_size, block_size), paddings, out)


def _batch_to_space_shape(x: Spec, crops: Spec, *, block_size: int) -> Shape:
    return _block_shape(x, (block_size, block_size), crops, False)


@kernel("BatchToSpace", unit="memory", shape=_batch_to_space_shape, dtypes=BATCH_TYPES)
def batch_to_space(x: np.ndarray, crops: np.ndarray, /, *, block_size: int, out: np.ndarray | None = None) -> np.ndarray:
    """`BatchToSpaceND` with the same block along both spatial axes. x: (n, h, w, c)."""
    return _batch_to_space(x, (block_size, block_size), crops, out)


def _window(extent: int | None, size: int, stride: int, rate: int, padding: str) -> tuple[int | None, int, int]:
    """(extent of the result, zeros before, zeros after).  Raises: InvalidArgument when the window does not fit."""
    n, before = window_extent(extent, size, stride, rate, padding)
    if extent is None or n is None or padding == "VALID":
        return n, 0, 0
    return n, before, max(0, (n - 1) * stride + (size - 1) * rate + 1 - extent) - before


def _patches_shape(x: Spec, *, ksizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str) -> Shape:
    if x.shape is None:
        return None
    n, height, width, depth = x.shape
    rows, columns = (_window(e, ksizes[a], strides[a], rates[a], padding)[0] for a, e in ((1, height), (2, width)))
    return (n, rows, columns, None if depth is None else depth * ksizes[1] * ksizes[2])


@kernel("ExtractImagePatches", unit="memory", shape=_patches_shape, dtypes=dt.NUMBERS)
def extract_image_patches(
    x: np.ndarray, /, *, ksizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str,
    out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """The pixels of every window side by side in depth.

    x: (n, h, w, c).  ksizes, strides, rates: (1, rows, columns, 1).  padding: "SAME" or "VALID".
    Returns: (n, h', w', rows * columns * c).  Raises: InvalidArgument for another rank, or a window that does not fit.
    """
    if x.ndim != 4:
        raise InvalidArgument(f"input must be 4-dimensional{shape_text(x.shape)}")
    rows, top, bottom = _window(x.shape[1], ksizes[1], strides[1], rates[1], padding)
    columns, left, right = _window(x.shape[2], ksizes[2], strides[2], rates[2], padding)
    padded = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0))) if top + bottom + left + right else x
    n, height, width, depth = padded.strides
    shape = (x.shape[0], int(rows or 0), int(columns or 0), ksizes[1], ksizes[2], x.shape[3])
    steps = (n, height * strides[1], width * strides[2], height * rates[1], width * rates[2], depth)
    windows = np.lib.stride_tricks.as_strided(padded, shape, steps, writeable=False)
    made = np.empty((*shape[:3], ksizes[1] * ksizes[2] * x.shape[3]), x.dtype) if out is None else out
    np.copyto(made.reshape(shape), windows)
    return made
