"""The graph of the chip: operators of the device between tensors that have a type and a format."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from npu_runtime.dtypes import itemsize_bytes

ND, NC1HWC0, NZ = "ND", "NC1HWC0", "FRACTAL_NZ"
"""Formats of tensors: in rows; images in blocks of 16 channels; matrices in blocks."""
ELEMENTWISE, REDUCTION, CUBE = "elementwise", "reduction", "cube"
UPDATE, MOVEMENT, NORMALIZATION = "update", "movement", "normalization"
AI_CPU, COLLECTIVE, COPY, RUNTIME = "AI CPU", "HCCL", "copy", "runtime"
"""Patterns: what an operator does, as far as fusion and cost ask for it."""
TURNS = "turns"
"""Attribute of an operator that does its work so many times, one behind the other, in one task: a recurrent layer."""


@dataclass(eq=False)
class Tensor:
    """name: "node:output".  shape: as the user's graph has it.  dtype: on the device.  is_variable: whether it outlives the step.
    base: the tensor whose memory this one shows in another shape.  is_part: whether it shows a part of that, so that who reads
    it reads less.  bits: of an element, 0 for those of its type.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    format: str = ND
    producer: ChipOp | None = None
    is_variable: bool = False
    is_constant: bool = False
    base: Tensor | None = None
    bits: int = 0
    is_part: bool = False

    @property
    def storage(self) -> Tensor:
        """The tensor that owns the memory."""
        return self if self.base is None else self.base.storage

    @property
    def n_elements(self) -> int:
        return math.prod(self.shape)

    @property
    def n_bytes(self) -> float:
        """Bytes in device memory, padded blocks left out."""
        return self.n_elements * (self.bits / 8 if self.bits else float(itemsize_bytes(self.dtype)))


@dataclass(eq=False)
class ChipOp:
    """name: on the device.  op: TensorFlow's or one of ours.  op_type: the device's operator.  pattern: see above.
    members: nodes of the user's graph.  attrs: of the node.  is_dynamic: whether a shape is known only when it runs.
    flops: useful floating-point operations.
    """

    name: str
    op: str
    op_type: str
    pattern: str
    inputs: list[Tensor]
    outputs: list[Tensor]
    members: tuple[str, ...]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    is_dynamic: bool = False
    flops: float = 0.0

    def __repr__(self) -> str:
        return f"<{self.op_type} {self.name}>"


@dataclass(eq=False)
class ChipGraph:
    """Operators in an order of execution."""

    ops: list[ChipOp] = field(default_factory=list)

    def readers(self) -> dict[Tensor, list[ChipOp]]:
        """The operators that read the memory of each tensor, an operator once for every input."""
        found: dict[Tensor, list[ChipOp]] = {}
        for op in self.ops:
            for tensor in op.inputs:
                found.setdefault(tensor.storage, []).append(op)
        return found
