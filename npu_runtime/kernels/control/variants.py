"""Sums and zeros of variants, which TensorFlow dispatches by what they hold: a list of tensors, or an optional."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_runtime.errors import InvalidArgument
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.control.optional import Optional
from npu_runtime.kernels.control.tensor_list import TensorList
from npu_runtime.kernels.shapes import scalar

ADD_VARIANTS, ZERO_VARIANTS = "_VariantAddN", "_VariantZerosLike"
Element = Any
Elements = Sequence[Element]


@kernel(ADD_VARIANTS, unit="vector", shape=scalar, dtypes={})
def add_variants(*inputs: Any) -> Any:
    """Lists or optionals added element by element.

    Raises: InvalidArgument when they hold different numbers.  Source: TensorFlow's TensorListBinaryAdd, OptionalBinaryAdd.
    """
    total = inputs[0]
    for other in inputs[1:]:
        total = _sum(total, other)
    return total


def _sum(a: Element, b: Element) -> Element:
    if isinstance(a, Optional):
        return _sum_of_optionals(a, b)
    if isinstance(a, TensorList):
        return a.having(_sums(a.values, b.values, "lists of tensors with different lengths"))
    return a + b


def _sum_of_optionals(a: Optional, b: Optional) -> Optional:
    if a.components is None and b.components is None:
        return a
    if a.components is None or b.components is None:
        raise InvalidArgument("Cannot add optionals because one has a value and the other doesn't.")
    return Optional(_sums(a.components, b.components, "optionals with different numbers of values"))


def _sums(a: Elements, b: Elements, what: str) -> tuple[Element, ...]:
    """One of a list that is not set counts as zeros: in a turn of a loop's gradient all of one list but one."""
    if len(a) != len(b):
        raise InvalidArgument(f"Trying to add two {what}. One is {len(a)} and the other is {len(b)}")
    return tuple([y if x is None else x if y is None else _sum(x, y) for x, y in zip(a, b, strict=True)])


@kernel(ZERO_VARIANTS, unit="memory", shape=scalar, dtypes={})
def zero_variant(x: Any, /) -> Any:
    """Zeros of the shapes that a list or an optional holds.  Source: TensorFlow's TensorListZerosLike, OptionalZerosLike."""
    return _zeros_like(x)


def _zeros_like(value: Element) -> Element:
    if isinstance(value, TensorList):
        return value.having(tuple(map(_zeros_like, value.values)))
    if isinstance(value, Optional):
        return value if value.components is None else Optional(tuple(map(_zeros_like, value.components)))
    return None if value is None else np.zeros_like(value)
