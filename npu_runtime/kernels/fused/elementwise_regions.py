"""A region of element-wise nodes as one task: all of them on one cache-sized tile, then on the next."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.device.variable import Variable
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.elementwise.arithmetic import sum_blocks
from npu_runtime.kernels.elementwise.bias import add_bias
from npu_runtime.kernels.elementwise.elementwise import leaky_relu_body
from npu_runtime.kernels.elementwise.elementwise_gradients import leaky_relu_grad_body
from npu_runtime.kernels.elementwise.rounding import ROUND, rounding_body
from npu_runtime.kernels.threads.parallel import scratch
from npu_runtime.kernels.threads.tiling import BODIES, SMALL, Body, choose, run_tiled
from npu_runtime.kernels.variable_access import shape_text

REGION = "_ElementwiseRegion"
UPDATE_REGION = "_UpdateRegion"
REGION_BYTES = 1 << 22
"""Bytes of a tile's result and the values between the nodes: they fit the L3 cache, as what a call costs counts for more than the
way to memory."""
TILES = 16384, 1 << 18
"""The least and the most elements of a tile: of small ones Python's share is too large."""
SMALL_STEPS = 3 * SMALL
"""Results of single nodes, in elements, up to which a second thread gains nothing: some 200 us of one thread."""
MAX_INPUTS = 24
"""Inputs of the largest region."""

_WITH_ATTRIBUTES: dict[str, Callable[[Mapping[str, Any]], Body]] = {
    "AddN": lambda attrs: _add,
    "BiasAdd": lambda attrs: add_bias,
    "LeakyRelu": lambda attrs: leaky_relu_body(attrs.get("alpha", 0.2)),
    "LeakyReluGrad": lambda attrs: leaky_relu_grad_body(attrs.get("alpha", 0.2)),
    "SelectV2": lambda attrs: choose,
    ROUND: rounding_body,
}


def _add(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    np.add(x, y, out=out)


@dataclass(frozen=True)
class Step:
    """One node, or one addition of an AddN: body(result, *operands).

    operands: inputs of the region from 0 up, or ~i for the result of step i.  buffer: which scratch buffer takes the result,
    -1 for the region's own result.
    """

    body: Body
    operands: tuple[int, ...]
    dtype: str
    buffer: int


Draft = tuple[Body, tuple[int, ...], str]
"""A step that has no buffer yet: body, operands, type of the result."""


@dataclass(frozen=True)
class Region:
    """steps: producers first, the last one makes the result, of `shape`.  flops: of all nodes."""

    steps: tuple[Step, ...]
    shape: tuple[int, ...]
    flops: float

    @cached_property
    def dtype(self) -> np.dtype:
        return dt.to_numpy(self.steps[-1].dtype)

    @cached_property
    def tile(self) -> int:
        """Elements of a tile."""
        buffers = 2 + max(step.buffer for step in self.steps)
        least, most = TILES
        return max(least, min(most, REGION_BYTES // (4 * buffers), -(-math.prod(self.shape) // 4)))

    @cached_property
    def small(self) -> int:
        """Up to so many elements it is computed in one call."""
        return min(SMALL, SMALL_STEPS // len(self.steps))

    @cached_property
    def body(self) -> Body:
        """The body of a tile: every step in order, over scratch of the thread."""
        return _whole(self.steps)


def body_of(op: str, attrs: Mapping[str, Any]) -> Body | None:
    """The function that computes one tile of an op, None for an op that is not element-wise.

    It may write its result over any operand of the same type. That of AddN adds two: see `steps_of`.
    """
    if op == "BiasAdd" and attrs.get("data_format", "NHWC") != "NHWC":
        return None
    made = _WITH_ATTRIBUTES.get(op)
    return made(attrs) if made else BODIES.get(op)


def steps_of(body: Body, operands: tuple[int, ...], dtype: str, first: int, is_sum: bool) -> list[Draft]:
    """The steps that a node becomes, of which the first gets number `first`; a sum is added as the kernel of AddN adds it."""
    if not is_sum:
        return [(body, operands, dtype)]
    steps: list[Draft] = []

    def add(left: int, right: int) -> int:
        steps.append((body, (left, right), dtype))
        return ~(first + len(steps) - 1)

    start, *others = [operands[block.start : block.stop] for block in sum_blocks(len(operands))]
    total = reduce(add, start)
    for block in others:
        total = add(total, reduce(add, block))
    return steps


def assign_buffers(steps: Sequence[Draft]) -> tuple[Step, ...]:
    """Give every result but the last a scratch buffer; one that is read for the last time is used again.

    A body may write over one of its operands, so a result takes over the buffer of an operand that dies.
    """
    last_read = {~operand: index for index, (_, operands, _) in enumerate(steps) for operand in operands if operand < 0}
    free: list[tuple[int, int]] = []  # item size, buffer
    used: dict[int, tuple[int, int]] = {}
    made = []
    count = 0
    for index, (body, operands, dtype) in enumerate(steps):
        size = dt.itemsize_bytes(dtype)
        free += [used.pop(~o) for o in sorted(set(operands)) if o < 0 and last_read[~o] == index]
        if index == len(steps) - 1:
            made.append(Step(body, operands, dtype, -1))
            break
        slot = next((entry for entry in free if entry[0] == size), None)
        if slot is None:
            slot, count = (size, count), count + 1
        else:
            free.remove(slot)
        used[index] = slot
        made.append(Step(body, operands, dtype, slot[1]))
    return tuple(made)


def _whole(made_steps: Sequence[Step]) -> Body:
    steps = [(s.body, s.operands, dt.to_numpy(s.dtype), f"region {s.buffer}", s.buffer < 0) for s in made_steps]

    def body(out: np.ndarray, *inputs: np.ndarray) -> None:
        made: list[np.ndarray] = []
        for function, operands, dtype, name, is_last in steps:
            result = out if is_last else scratch(name, out.shape, dtype)
            function(result, *[inputs[o] if o >= 0 else made[~o] for o in operands])
            made.append(result)

    return body


def _shape(*inputs: Spec, region: Region) -> Shape:
    return region.shape


@kernel(
    REGION, unit="vector", shape=_shape, estimate=lambda inputs, outputs, attrs: attrs["region"].flops,
    inplace=tuple(range(MAX_INPUTS)),
)  # fmt: skip
def elementwise_region(*inputs: np.ndarray, region: Region, out: np.ndarray | None = None) -> np.ndarray:
    """The last value of a region.

    inputs: any shapes that broadcast to the region's.  Returns: the region's shape.  Every element is computed as the single
    nodes compute it, so fusing changes no bit.
    """
    made = np.empty(region.shape, region.dtype) if out is None else out
    return run_tiled(region.body, made, *inputs, tile=region.tile, small=region.small)


def _variable_shape(ref: Spec, *inputs: Spec, region: Region) -> Shape:
    return region.shape


@kernel(UPDATE_REGION, unit="vector", shape=_variable_shape, estimate=lambda inputs, outputs, attrs: attrs["region"].flops)
def update_region(ref: Variable, /, *inputs: np.ndarray, region: Region) -> Variable:
    """Set a ref variable to the last value of a region whose input 0 it is, in its own memory; returns it.

    inputs: the region's others; what shows the variable does so element by element.  Raises: FailedPrecondition when the region
    reads a variable without a value; InvalidArgument when the variable has another shape.
    """
    reads_itself = any(0 in step.operands for step in region.steps)
    if ref.is_initialized or reads_itself:
        array = ref.writable()
        if array.shape != region.shape:
            shapes = f"lhs shape= {shape_text(array.shape)} rhs shape= {shape_text(region.shape)}"
            raise InvalidArgument(f"Assign requires shapes of both tensors to match. {shapes}")
        elementwise_region(array, *inputs, region=region, out=array)
    else:
        ref.assign(elementwise_region(np.zeros((), np.float32), *inputs, region=region))
    return ref
