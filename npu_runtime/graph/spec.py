"""The spec of a tensor before it exists: shape, element type, perhaps its value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from npu_runtime.dtypes import itemsize_bytes

Shape = tuple[int | None, ...] | None
"""None: unknown rank.  An entry None: unknown extent."""


@dataclass(frozen=True, eq=False)
class Spec:
    """shape: see Shape.  dtype: TensorFlow type name ("float32", "resource", ...).  value: the constant, if it is one."""

    shape: Shape
    dtype: str = "float32"
    value: np.ndarray | None = None

    @property
    def is_complete(self) -> bool:
        return self.shape is not None and None not in self.shape

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    @property
    def n_bytes(self) -> int:
        """Bytes on the device; 0 when the shape is not complete."""
        return math.prod(self.known_shape()) * itemsize_bytes(self.dtype) if self.is_complete else 0

    def __str__(self) -> str:
        shape = "?" if self.shape is None else ",".join("?" if n is None else str(n) for n in self.shape)
        return f"{self.dtype}[{shape}]"

    def known_shape(self) -> tuple[int, ...]:
        """The shape of a complete spec; ValueError otherwise."""
        if self.shape is None or None in self.shape:
            raise ValueError(f"shape {self.shape} is not complete")
        return tuple(n for n in self.shape if n is not None)
