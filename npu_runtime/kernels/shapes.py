"""Shape functions that many kernels share. All cope with unknown ranks (None) and extents (None entries)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec


def same_as(index: int) -> Callable[..., Shape]:
    """The shape of input `index`."""
    return lambda *specs, **attrs: specs[index].shape


def scalar(*specs: Spec, **attrs: Any) -> Shape:
    return ()


def unknown(*specs: Spec, **attrs: Any) -> Shape:
    """Depends on values: known only when the kernel has run."""
    return None


def broadcast(*specs: Spec, **attrs: Any) -> Shape:
    """numpy's broadcasting of all inputs; unknown where an unknown extent decides."""
    shape: Shape = ()
    for spec in specs:
        shape = broadcast_pair(shape, spec.shape)
    return shape


@lru_cache(maxsize=4096)
def broadcast_pair(a: Shape, b: Shape) -> Shape:
    """Raises: InvalidArgument when the shapes do not fit. Source: TensorFlow op `BroadcastArgs`."""
    if a is None or b is None:
        return None
    rank = max(len(a), len(b))
    padded_a = (1,) * (rank - len(a)) + a
    padded_b = (1,) * (rank - len(b)) + b
    return tuple(_broadcast_extent(m, n, a, b) for m, n in zip(padded_a, padded_b, strict=True))


def _broadcast_extent(m: int | None, n: int | None, a: Shape, b: Shape) -> int | None:
    if m == n or n == 1:
        return m
    if m == 1:
        return n
    if m is None or n is None:
        return m if n is None else n
    raise InvalidArgument(f"Incompatible shapes: {_text(a)} vs. {_text(b)}")


def _text(shape: Shape) -> str:
    return f"[{','.join('?' if n is None else str(n) for n in shape or ())}]"


def merge(a: Shape, b: Shape) -> Shape:
    """The shape that two sources tell together; `a` wins where they contradict."""
    if a is None or b is None:
        return b if a is None else a
    if len(a) != len(b):
        return a
    return tuple(n if m is None else m for m, n in zip(a, b, strict=True))


def common(a: Shape, b: Shape) -> Shape:
    """The shape with what is the same in both; None for extents, or ranks, that differ."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(m if m == n else None for m, n in zip(a, b, strict=True))


def constant_ints(spec: Spec) -> tuple[int, ...] | None:
    """The value of a small integer input as Python ints, None when it is not constant."""
    return None if spec.value is None else tuple(int(n) for n in np.atleast_1d(spec.value))


def extents_of(spec: Spec) -> Shape:
    """The shape of a vector of extents: as many unknown extents; a scalar is one."""
    if spec.shape is None or None in spec.shape:
        return None
    return (None,) * math.prod(spec.known_shape())


def normalize_axes(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Axes counted from the front, sorted, once each. Raises: InvalidArgument when one is outside the rank."""
    for axis in axes:
        if not -rank <= axis < rank:
            raise InvalidArgument(f"Invalid reduction dimension ({axis} for input with {rank} dimension(s))")
    return tuple(sorted({axis % rank for axis in axes}))
