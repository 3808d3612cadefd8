"""Optionals: what a branch of TensorFlow 2's kind hands to its gradient, which is nothing when it was not taken."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.control.tensor_array import kept
from npu_runtime.kernels.shapes import scalar


class Optional:
    """components: the values, None when there are none."""

    def __init__(self, components: tuple[Any, ...] | None) -> None:
        self.components = components


@kernel("OptionalFromValue", unit="memory", shape=scalar, dtypes={}, ignores=("Toutput_types",))
def from_value(*components: Any) -> Optional:
    """An optional that holds these values.  Source: TensorFlow op `OptionalFromValue`."""
    return Optional(tuple(kept(value) for value in components))


@kernel("OptionalNone", unit="memory", shape=scalar, dtypes={})
def none() -> Optional:
    """An optional that holds nothing.  Source: TensorFlow op `OptionalNone`."""
    return Optional(None)


@kernel("OptionalHasValue", unit="scalar", shape=scalar, dtypes={})
def has_value(optional: Optional, /) -> np.ndarray:
    """Whether it holds values: () bool.  Source: TensorFlow op `OptionalHasValue`."""
    return np.array(optional.components is not None)


def _stated(*specs: Any, output_types: list[str], output_shapes: list[Shape] | None = None) -> list[Shape]:
    return list(output_shapes) if output_shapes else [None] * len(output_types)


@kernel("OptionalGetValue", unit="memory", shape=_stated, dtypes={})
def get_value(optional: Optional, /, *, output_types: list[str], output_shapes: list[Shape] | None = None) -> tuple[Any, ...]:
    """The values.  Raises: InvalidArgument when there are none.  Source: TensorFlow op `OptionalGetValue`."""
    if optional.components is None:
        raise InvalidArgument("The given optional does not have a value.")
    return optional.components
