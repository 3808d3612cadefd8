"""Element-wise work on large arrays: cache-sized tiles over the worker threads, 16-bit floats computed in fp32."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import Estimate, per_element
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import Refuse, kernel
from npu_runtime.kernels.shapes import broadcast_pair, same_as
from npu_runtime.kernels.threads.parallel import parallel_ranges

Body = Callable[..., Any]
"""body(out, *inputs) fills `out` from inputs that broadcast to it; `out` may be one of them and is never 0-d."""

Fit = Callable[..., tuple[np.ndarray, ...]]

BODIES: dict[str, Body] = {}
"""The body of every op registered by `elementwise`."""
TILE = 65536
"""Elements of a tile: 256 KB of fp32, so that a chain of ufuncs stays in the L2 cache, and calls are few."""
STREAM = 1 << 17
"""Elements of a tile for a single ufunc, which gains nothing from the cache."""
SMALL = 196608
"""Elements up to which one call on the whole array is faster than tiles and threads: a worker takes 40 us to begin and to end."""
SMALL_STREAM = 400_000
"""Elements up to which one call is faster, for a single ufunc."""

_FIRST_INPUT = same_as(0)
NARROW = frozenset({dt.to_numpy("float16"), dt.to_numpy("bfloat16")})
"""Stored in 16 bits, computed in fp32 and rounded once, as Eigen's packet math does."""


_HALF = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
"""Every fp16 value: looking one up takes half the time of numpy's conversion."""
_BITS: dict[int, np.dtype] = {1: np.dtype(np.int8), 2: np.dtype(np.int16), 4: np.dtype(np.int32), 8: np.dtype(np.int64)}


def to_float32(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The values of a 16-bit float array in fp32."""
    if x.dtype == np.float16:
        return np.asarray(_HALF.take(x.view(np.uint16), out=out, mode="clip"))  # all are inside; "raise" looks once more
    if out is None:
        return x.astype(np.float32)
    np.copyto(out, x, casting="unsafe")
    return out


def filled(value: float, like: np.ndarray) -> np.ndarray | float:
    """`value` in the shape and type of a tile: numpy's minimum and maximum are five times faster on two arrays.

    Small tiles get the scalar.
    """
    if like.size < 256 or like.size > SMALL:
        return like.dtype.type(value)
    return _filled(value, like.dtype)[: like.size].reshape(like.shape)


@lru_cache(maxsize=16)
def _filled(value: float, dtype: np.dtype) -> np.ndarray:
    return np.full(SMALL, value, dtype)


def choose(out: np.ndarray, condition: np.ndarray, yes: np.ndarray, no: np.ndarray) -> None:
    """out = yes where the condition holds, else no, on the bits: five times faster than a masked copy.

    All broadcast to out's shape and have its type; out may be one of them.  Bits times the condition as 0 or 1 take less time
    than bits and a mask that is made of it.
    """
    bits = _BITS[out.itemsize]
    yes, no, counts = yes.view(bits), no.view(bits), condition.view(np.int8)
    if no.ndim == 0 and not no:
        np.multiply(yes, counts, out=out.view(bits))
    else:
        np.bitwise_xor((yes ^ no) * counts, no, out=out.view(bits))


def keep_where(out: np.ndarray, condition: np.ndarray) -> None:
    """Set to zero, on the bits, what does not satisfy the condition."""
    bits = out.view(_BITS[out.itemsize])
    np.multiply(bits, condition.view(np.int8), out=bits)


def widened(body: Body) -> Body:
    """The body for 16-bit floats too: inputs to fp32, one rounding at the end."""

    def run(out: np.ndarray, *inputs: np.ndarray) -> None:
        if out.dtype not in NARROW:
            body(out, *inputs)
            return
        wide = np.empty(out.shape, np.float32)
        body(wide, *[to_float32(x) if x.dtype in NARROW else x for x in inputs])
        np.copyto(out, wide, casting="unsafe")

    return run


def run_tiled(body: Body, out: np.ndarray, *inputs: np.ndarray, tile: int = TILE, small: int = SMALL) -> np.ndarray:
    """Fill `out` by `body`, in tiles over the worker threads when it has more than `small` elements; returns `out`."""
    if out.size <= small:
        if out.ndim == 0:
            body(out.reshape(1), *[x.reshape(1) for x in inputs])
        elif out.size:
            body(out, *inputs)
        return out
    merged_out, merged = _with_few_axes(out, inputs)
    axis = _tile_axis(merged_out.shape)
    extent = merged_out.shape[axis]
    step = max(1, tile * extent // merged_out.size)
    before = (slice(None),) * axis
    is_cut = [x.shape[axis] != 1 for x in merged]

    def work(start: int, stop: int) -> None:
        for first in range(start, stop, step):
            part = slice(first, min(first + step, stop))
            index = (*before, part) if before else part
            body(merged_out[index], *[x[index] if cut else x for x, cut in zip(merged, is_cut, strict=True)])

    parallel_ranges(extent, work, step)
    return out


def _tile_axis(shape: Sequence[int]) -> int:
    """The first axis that can be cut into a useful number of tiles, else the longest."""
    return next((axis for axis, n in enumerate(shape) if n >= 64), int(np.argmax(shape)))


def _with_few_axes(out: np.ndarray, inputs: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Views with as few axes as possible: neighbours that every input treats alike (has or repeats) become one."""
    if not all(x.flags.c_contiguous for x in (out, *inputs)):
        return out, [x.reshape((1,) * (out.ndim - x.ndim) + x.shape) for x in inputs]
    shape, *shapes = _merged_shapes(out.shape, *[x.shape for x in inputs])
    return out.reshape(shape), [x.reshape(to) for x, to in zip(inputs, shapes, strict=True)]


@lru_cache(maxsize=4096)
def _merged_shapes(shape: tuple[int, ...], *shapes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The shape of a result and of the inputs that broadcast to it, once neighbouring axes are made one."""
    padded = [(1,) * (len(shape) - len(x)) + x for x in shapes]
    groups: list[list[int]] = []
    previous = None
    for axis, n in enumerate(shape):
        repeats = tuple(x[axis] != n for x in padded)
        if groups and (n == 1 or previous is None or repeats == previous):
            groups[-1].append(axis)
        else:
            groups.append([axis])
        previous = previous if n == 1 else repeats
    return [tuple(math.prod(x[axis] for axis in group) for group in groups) for x in (shape, *padded)]


def elementwise(
    *ops: str,
    flops: float | Estimate = 1,
    dtypes: frozenset[str] | Mapping[str, frozenset[str]] = dt.FLOATS,
    shape: Callable[..., Shape] = _FIRST_INPUT,
    result: str | None = None,
    inplace: tuple[int, ...] = (0,),
    ignores: Sequence[str] = (),
    refuse: Refuse | None = None,
    fit: Fit | None = None,
) -> Callable[[Body], Body]:
    """Register body(out, *inputs) as the kernel of ops without attributes.

    flops: floating-point operations an element of the result.  result: its type name; None: that of input 0.
    fit: given inputs of different shapes, makes of them what the body takes, or raises; None: they broadcast.
    Returns the body, which other kernels may build on.
    """
    estimate = flops if callable(flops) else per_element(flops)
    dtype = None if result is None else dt.to_numpy(result)

    def register(body: Body) -> Body:
        whole, ufunc = widened(body), body.ufunc if isinstance(body, OneUfunc) else None

        def run(*inputs: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
            if fit is not None and (inputs[0].shape != inputs[1].shape or inputs[0].shape != inputs[-1].shape):
                inputs = fit(*inputs)
            filled_out = result_buffer(inputs, dtype, out)
            if filled_out.itemsize == 2 and filled_out.dtype in NARROW:
                return run_tiled(whole, filled_out, *inputs)
            if ufunc is not None and filled_out.size <= SMALL_STREAM:  # most calls of a step: nothing more than the ufuncs
                ufunc(*inputs, filled_out)
                return filled_out
            if 0 < filled_out.size <= SMALL and filled_out.ndim:
                body(filled_out, *inputs)
                return filled_out
            return run_tiled(body, filled_out, *inputs, tile=TILE if ufunc is None else STREAM)

        BODIES.update(dict.fromkeys(ops, body))
        run.__name__, run.__doc__ = getattr(body, "__name__", "run"), body.__doc__
        kernel(
            *ops, unit="vector", shape=shape, dtypes=dtypes, estimate=estimate,
            inplace=inplace, ignores=ignores, refuse=refuse, small=partial(_small, body, fit is None),
        )(run)  # fmt: skip
        return body

    return register


def _of_scalars(ufunc: Callable[..., Any], dtype: Any, *inputs: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The result of a ufunc on scalars, as of a loop's counter and test: a 0-d array, not the number that a ufunc would make."""
    if out is None:
        out = np.empty((), dtype)
    ufunc(*inputs, out)
    return out


def _small(
    body: Body, may_differ: bool, inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
) -> Callable[..., Any] | None:
    """See `base.Small`.  may_differ: whether inputs of other shapes simply broadcast.

    A ufunc would make numbers of numpy out of arrays without dimensions, and types of its own.
    """
    shape, dtype = outputs[0].known_shape(), dt.to_numpy(outputs[0].dtype)
    size, is_alike = math.prod(shape), all(spec.shape == inputs[0].shape for spec in inputs)
    if not size or dtype in NARROW or not (may_differ or is_alike):
        return None
    if isinstance(body, OneUfunc) and size <= SMALL_STREAM and (is_planned or (shape and dtype == np.float32)):
        return body.ufunc
    if isinstance(body, OneUfunc) and not shape:
        return partial(_of_scalars, body.ufunc, dtype)
    if size > SMALL or not shape:
        return None

    def run(*inputs: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        if out is None:
            out = np.empty(shape, dtype)
        body(out, *inputs)
        return out

    return run


def result_buffer(inputs: Sequence[np.ndarray], dtype: np.dtype | None, out: np.ndarray | None) -> np.ndarray:
    """`out`, or a new array of the shape the inputs broadcast to."""
    if out is not None:
        return out
    first = inputs[0]
    shape: Any = first.shape
    for x in inputs[1:]:
        if x.shape != shape:
            shape = broadcast_pair(shape, x.shape)
    return np.empty(shape, first.dtype if dtype is None else dtype)


class OneUfunc:
    """The body that is one numpy ufunc."""

    def __init__(self, ufunc: Callable[..., Any]) -> None:
        self.ufunc = ufunc
        self.__name__, self.__doc__ = ufunc.__name__, f"numpy.{ufunc.__name__}, element by element."

    def __call__(self, out: np.ndarray, *inputs: np.ndarray) -> None:
        self.ufunc(*inputs, out)
