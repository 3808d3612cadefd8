"""Ops that return their input, or a view of it with another shape: no element is copied, but for a copy that is asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import constant_ints, extents_of, merge, same_as
from npu_runtime.kernels.variable_access import shape_text

Extent = TypeVar("Extent", int, "int | None")


@kernel("Identity", "Snapshot", "StopGradient", "GuaranteeConst", unit="memory", shape=same_as(0), dtypes=dt.MOVED)
def identity(x: np.ndarray, /) -> np.ndarray:
    """The input itself. Source: TensorFlow's core/kernels/identity_op.h, which forwards its buffer."""
    return x


@kernel("_Copy", unit="memory", shape=same_as(0), dtypes=dt.MOVED)
def copy(x: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """A value of its own, which stays as it is when the memory that it was read from changes."""
    if out is None:
        return np.array(x)
    np.copyto(out, x)
    return out


@kernel("PreventGradient", unit="memory", shape=same_as(0), ignores=["message"])
def prevent_gradient(x: np.ndarray, /) -> np.ndarray:
    """The input itself; the message was for who builds gradients. Source: TensorFlow op `PreventGradient`."""
    return x


def _all_shapes(*specs: Spec) -> list[Shape]:
    return [spec.shape for spec in specs]


@kernel("IdentityN", unit="memory", shape=_all_shapes, dtypes=dt.MOVED)
def identity_n(*inputs: np.ndarray) -> tuple[np.ndarray, ...]:
    """All inputs. Source: TensorFlow op `IdentityN`."""
    return inputs


@kernel("CheckNumerics", "CheckNumericsV2", unit="vector", shape=same_as(0), dtypes=dt.FLOATS)
def check_numerics(x: np.ndarray, /, *, message: str = "") -> np.ndarray:
    """The input, if every element is finite.

    Raises: InvalidArgument with the node's message.  Source: TensorFlow's core/kernels/check_numerics_op.cc.
    """
    if not np.isfinite(x).all():
        found = " and ".join(text for text, test in (("Inf", np.isinf), ("NaN", np.isnan)) if test(x).any())
        raise InvalidArgument(f"{message} : Tensor had {found} values")
    return x


def _reshape_shape(x: Spec, shape: Spec) -> Shape:
    wanted = constant_ints(shape)
    if wanted is None:
        return extents_of(shape)
    if -1 not in wanted:
        return wanted
    known = math.prod(n for n in wanted if n != -1)
    if not x.is_complete or not known:
        return tuple(None if n == -1 else n for n in wanted)
    return tuple(math.prod(x.known_shape()) // known if n == -1 else n for n in wanted)


def _small_reshape(
    inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
) -> Callable[..., Any] | None:
    """See `base.Small`: to a shape that is known."""
    wanted, size = outputs[0].known_shape(), math.prod(inputs[0].known_shape())
    if inputs[1].value is None or math.prod(wanted) != size:
        return None

    def run(x: np.ndarray, shape: np.ndarray) -> np.ndarray:
        return x.reshape(wanted) if x.size == size else np.asarray(reshape(x, shape))  # as a ref variable may have another shape

    return run


@kernel("Reshape", unit="memory", shape=_reshape_shape, dtypes=dt.MOVED, small=_small_reshape)
def reshape(x: np.ndarray, shape: np.ndarray, /) -> np.ndarray:
    """The elements in order under another shape; one extent may be -1: what remains.

    shape: int vector, or a scalar for one extent.  Raises: InvalidArgument when the number of elements differs.
    Source: TensorFlow's core/kernels/reshape_op.h.
    """
    if shape.ndim > 1:
        raise InvalidArgument(f"sizes input must be 1-D, not {shape_text(shape.shape)}")
    wanted = shape.reshape(-1).tolist()
    for place, n in enumerate(wanted):
        if n < -1:
            raise InvalidArgument(f"Size {place} must be non-negative, not {n}")
    if -1 in wanted:
        wanted = _with_missing(x.shape, wanted)
    if math.prod(wanted) != x.size:
        raise InvalidArgument(
            f"Input to reshape is a tensor with {x.size} values, but the requested shape has {math.prod(wanted)}"
        )
    return x.reshape(wanted)


def _with_missing(shape: Sequence[int], wanted: Sequence[int]) -> list[int]:
    """The shape with its -1 filled in; extents of 0 do not count, as long as both shapes have one."""
    place, *others = [axis for axis, n in enumerate(wanted) if n == -1]
    if others:
        raise InvalidArgument(f"Only one input size may be -1, not both {place} and {others[0]}")
    n_present = math.prod(n for n in shape if n or 0 not in wanted)
    n_known = math.prod(n for n in wanted if n > 0)
    if n_present % n_known:
        raise InvalidArgument(
            f"Input to reshape is a tensor with {n_present} values, but the requested shape requires a multiple of {n_known}"
        )
    return [n_present // n_known if n == -1 else n for n in wanted]


def _squeezed(shape: Sequence[Extent], squeeze_dims: Sequence[int]) -> tuple[Extent, ...]:
    rank = len(shape)
    for axis in squeeze_dims:
        if not -rank <= axis < rank:
            raise InvalidArgument(f"Tried to squeeze dim index {axis} for tensor with {rank} dimensions.")
        if shape[axis] not in (1, None):
            raise InvalidArgument(f"Can not squeeze dim[{axis % rank}], expected a dimension of 1, got {shape[axis]}")
    dropped = {axis % rank for axis in squeeze_dims}
    return tuple(n for axis, n in enumerate(shape) if (axis not in dropped if squeeze_dims else n != 1))


def _squeeze_shape(x: Spec, *, squeeze_dims: Sequence[int] = ()) -> Shape:
    if x.shape is None or (not squeeze_dims and None in x.shape):
        return None
    return _squeezed(x.shape, squeeze_dims)


@kernel("Squeeze", unit="memory", shape=_squeeze_shape, dtypes=dt.MOVED)
def squeeze(x: np.ndarray, /, *, squeeze_dims: Sequence[int] = ()) -> np.ndarray:
    """The tensor without the axes of extent 1 that squeeze_dims names, or all of them when it is empty.

    Raises: InvalidArgument when a named axis is longer.  Source: TensorFlow op `Squeeze`.
    """
    return x.reshape(_squeezed(x.shape, squeeze_dims))


def _expand_dims_shape(x: Spec, dim: Spec) -> Shape:
    axis = constant_ints(dim)
    if x.shape is None:
        return None
    if not axis:
        return (None,) * (len(x.shape) + 1)
    place = _place(len(x.shape), axis[0])
    return (*x.shape[:place], 1, *x.shape[place:])


def _place(rank: int, axis: int) -> int:
    """The position of the new axis, counted from the front.  Raises: InvalidArgument for an axis out of range."""
    if not -rank - 1 <= axis <= rank:
        raise InvalidArgument(f"Tried to expand dim index {axis} for tensor with {rank} dimensions.")
    return axis if axis >= 0 else axis + rank + 1


@kernel("ExpandDims", unit="memory", shape=_expand_dims_shape, dtypes=dt.MOVED)
def expand_dims(x: np.ndarray, dim: np.ndarray, /) -> np.ndarray:
    """The tensor with an axis of extent 1 at `dim`, which counts from the end when negative.  Source: TensorFlow op
    `ExpandDims`."""
    if dim.size != 1:
        raise InvalidArgument(f"'dim' must be a tensor with a single value, got shape {shape_text(dim.shape)}")
    return np.expand_dims(x, _place(x.ndim, int(dim.reshape(-1)[0])))


def _ensured_shape(x: Spec, *, shape: Shape = None) -> Shape:
    return merge(x.shape, shape)


@kernel("EnsureShape", unit="memory", shape=_ensured_shape)
def ensure_shape(x: np.ndarray, /, *, shape: Shape = None) -> np.ndarray:
    """The input, if its shape is the stated one where that is known.

    Raises: InvalidArgument otherwise.  Source: TensorFlow op `EnsureShape`.
    """
    if shape is not None and (len(shape) != x.ndim or any(m not in (None, n) for m, n in zip(shape, x.shape, strict=True))):
        stated = ",".join("?" if n is None else str(n) for n in shape)
        raise InvalidArgument(f"Shape of tensor {shape_text(x.shape)} is not compatible with expected shape [{stated}].")
    return x
