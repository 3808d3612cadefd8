"""Stacks and tensor arrays: what loops remember between iterations and for their gradients.

Their handles are Python objects that live as long as somebody refers to them, which is one step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import scalar, unknown


def _handle_and_flow(*specs: Spec, **attrs: Any) -> list[Shape]:
    return [(2,), ()]


def _no_outputs(*specs: Spec, **attrs: Any) -> list[Shape]:
    return []


STACKED = dt.ALL | {"resource", "variant"}
"""What a stack holds: loops inside loops also push the handles of their stacks and arrays, conditionals what they keep."""


def kept(value: Any) -> Any:
    """The value for longer than its buffer may live: views are copied, a whole array is nobody else's, as is a handle."""
    if not isinstance(value, np.ndarray) or (value.base is None and value.flags.owndata):
        return value
    return value.copy()


class Stack:
    """Last in, first out."""

    def __init__(self) -> None:
        self.values: list[Any] = []


@kernel("StackV2", unit="memory", shape=scalar, dtypes={"elem_type": STACKED}, ignores=("stack_name",))
def stack(max_size: np.ndarray, /, *, elem_type: str) -> Stack:
    """A new stack; max_size is a hint.  Source: TensorFlow op `StackV2`."""
    return Stack()


@kernel("StackPushV2", unit="memory", shape=lambda h, v, **a: v.shape, dtypes=STACKED, ignores=("swap_memory",))
def stack_push(handle: Stack, value: np.ndarray, /) -> np.ndarray:
    """Put a value on top and return it.  Source: TensorFlow op `StackPushV2`."""
    handle.values.append(kept(value))
    return value


@kernel("StackPopV2", unit="memory", shape=unknown, dtypes={"elem_type": STACKED})
def stack_pop(handle: Stack, /, *, elem_type: str) -> np.ndarray:
    """Take the top value.  Raises: InvalidArgument on an empty stack.  Source: TensorFlow op `StackPopV2`."""
    if not handle.values:
        raise InvalidArgument("Stack[] is empty when calling Pop().")
    return handle.values.pop()


@kernel("StackCloseV2", unit="memory", shape=_no_outputs)
def stack_close(handle: Stack, /) -> tuple[()]:
    """Forget the values."""
    handle.values.clear()
    return ()


class TensorArray:
    """Elements by index, each written once; gradients are arrays of their own, found by source, where writes add up.

    Source: TensorFlow's TensorArray: an element never written reads as zeros of the element shape when that is known.
    """

    def __init__(self, size: int, dtype: str, shape: Shape, dynamic: bool, adds: bool = False) -> None:
        self.values: list[np.ndarray | None] = [None] * size
        self.dtype, self.shape, self.dynamic, self.adds = dtype, shape, dynamic, adds
        self.gradients: dict[str, TensorArray] = {}

    def write(self, index: int, value: np.ndarray) -> None:
        if index < 0 or (index >= len(self.values) and not self.dynamic):
            raise InvalidArgument(f"Tried to write to index {index} but array is not resizeable and size is: {len(self.values)}")
        self.values.extend([None] * (index + 1 - len(self.values)))
        old = self.values[index]
        if old is not None and not self.adds:
            raise InvalidArgument(f"Could not write to TensorArray index {index} because it has already been written to.")
        self.values[index] = kept(value) if old is None else old + value

    def read(self, index: int) -> np.ndarray:
        if not 0 <= index < len(self.values):
            raise InvalidArgument(f"Tried to read from index {index} but array size is: {len(self.values)}")
        value = self.values[index]
        if value is None:
            return self._zeros(index)
        return value

    def _zeros(self, index: int) -> np.ndarray:
        shape = self.shape
        if shape is None or None in shape:
            written = next((value for value in self.values if value is not None), None)
            if written is None:
                raise InvalidArgument(f"Could not read from TensorArray index {index}: it was never written and has no shape")
            shape = written.shape
        return np.zeros(tuple(n or 0 for n in shape), dt.to_numpy(self.dtype))


@kernel("TensorArrayV3", unit="memory", shape=_handle_and_flow, dtypes={"dtype": dt.ALL},
        ignores=("tensor_array_name", "clear_after_read", "identical_element_shapes"))  # fmt: skip
def tensor_array(
    size: np.ndarray, /, *, dtype: str, element_shape: Shape = None, dynamic_size: bool = False
) -> tuple[TensorArray, np.ndarray]:
    """A new array and its flow, a scalar that orders the ops on it.  Source: TensorFlow op `TensorArrayV3`."""
    return TensorArray(int(size), dtype, element_shape, dynamic_size), np.zeros((), np.float32)


@kernel("TensorArrayGradV3", unit="memory", shape=_handle_and_flow)
def tensor_array_grad(handle: TensorArray, flow: np.ndarray, /, *, source: str) -> tuple[TensorArray, np.ndarray]:
    """The array of gradients of one source, made at first use.  Source: TensorFlow op `TensorArrayGradV3`."""
    if source not in handle.gradients:
        made = TensorArray(len(handle.values), handle.dtype, handle.shape, False, adds=True)
        made.shape = handle.shape if handle.shape is not None and None not in handle.shape else None
        handle.gradients[source] = made
    made = handle.gradients[source]
    for index, value in enumerate(handle.values[: len(made.values)]):
        if made.shape is None and value is not None and made.values[index] is None:
            made.values[index] = np.zeros_like(value)
    return made, flow


@kernel("TensorArrayWriteV3", unit="memory", shape=scalar)
def tensor_array_write(handle: TensorArray, index: np.ndarray, value: np.ndarray, flow: np.ndarray, /) -> np.ndarray:
    """Set one element.  Raises: InvalidArgument outside the array or at a second write.  Source: `TensorArrayWriteV3`."""
    handle.write(int(index), value)
    return flow


@kernel("TensorArrayReadV3", unit="memory", shape=unknown, dtypes={"dtype": dt.ALL})
def tensor_array_read(handle: TensorArray, index: np.ndarray, flow: np.ndarray, /, *, dtype: str) -> np.ndarray:
    """One element.  Source: TensorFlow op `TensorArrayReadV3`."""
    return handle.read(int(index))


@kernel("TensorArrayGatherV3", unit="memory", shape=unknown, dtypes={"dtype": dt.ALL})
def tensor_array_gather(
    handle: TensorArray, indices: np.ndarray, flow: np.ndarray, /, *, dtype: str, element_shape: Shape = None
) -> np.ndarray:
    """The named elements joined on a new first axis.  Source: TensorFlow op `TensorArrayGatherV3`."""
    if indices.size:
        return np.stack([handle.read(int(index)) for index in indices])
    known = element_shape if element_shape is not None else handle.shape
    if known is None or None in known:
        raise InvalidArgument("TensorArray has size zero, but element shape is not fully defined")
    return np.zeros((0, *(n or 0 for n in known)), dt.to_numpy(dtype))


@kernel("TensorArrayScatterV3", unit="memory", shape=scalar)
def tensor_array_scatter(handle: TensorArray, indices: np.ndarray, value: np.ndarray, flow: np.ndarray, /) -> np.ndarray:
    """Rows of `value` into the named elements.  Source: TensorFlow op `TensorArrayScatterV3`."""
    if len(indices) != len(value):
        raise InvalidArgument(f"Expected len(indices) == values.shape[0], but saw: {len(indices)} vs. {len(value)}")
    for index, row in zip(indices, value.copy(), strict=True):
        handle.write(int(index), np.asarray(row).copy() if handle.adds else np.asarray(row))
    return flow


@kernel("TensorArrayConcatV3", unit="memory", shape=lambda *s, **a: [None, (None,)], dtypes={"dtype": dt.ALL},
        ignores=("element_shape_except0",))  # fmt: skip
def tensor_array_concat(handle: TensorArray, flow: np.ndarray, /, *, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """All elements joined on their first axis, and their lengths there.  Source: TensorFlow op `TensorArrayConcatV3`."""
    values = [handle.read(index) for index in range(len(handle.values))]
    lengths = np.array([len(value) for value in values], np.int64)
    return (np.concatenate(values) if values else np.zeros(0, dt.to_numpy(dtype))), lengths


@kernel("TensorArraySplitV3", unit="memory", shape=scalar)
def tensor_array_split(handle: TensorArray, value: np.ndarray, lengths: np.ndarray, flow: np.ndarray, /) -> np.ndarray:
    """Pieces of `value` along the first axis into elements 0, 1, ...  Source: TensorFlow op `TensorArraySplitV3`."""
    if lengths.sum() != len(value):
        raise InvalidArgument(f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {lengths.sum()}")
    for index, piece in enumerate(np.split(value, np.cumsum(lengths)[:-1])):
        handle.write(index, piece)
    return flow


@kernel("TensorArraySizeV3", unit="memory", shape=scalar)
def tensor_array_size(handle: TensorArray, flow: np.ndarray, /) -> np.ndarray:
    """Number of elements, int32."""
    return np.array(len(handle.values), np.int32)


@kernel("TensorArrayCloseV3", unit="memory", shape=_no_outputs)
def tensor_array_close(handle: TensorArray, /) -> tuple[()]:
    """Forget the elements."""
    handle.values.clear()
    return ()
