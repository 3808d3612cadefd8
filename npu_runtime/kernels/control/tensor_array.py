"""Stacks and tensor arrays: what loops remember between iterations and for their gradients.

Their handles are Python objects that live as long as somebody refers to them, which is one step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument, Unimplemented
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import merge, scalar, unknown
from npu_runtime.kernels.variable_access import shape_text


def _handle_and_flow(*specs: Spec, **attrs: Any) -> list[Shape]:
    return [(2,), ()]


def _no_outputs(*specs: Spec, **attrs: Any) -> list[Shape]:
    return []


STACKED = dt.ALL | {"resource", "variant"}
"""Element types of a stack: loops inside loops also push the handles of their stacks and arrays, conditionals what they keep."""


def kept(value: Any) -> Any:
    """The value for longer than its buffer may live: views are copied, a whole array is nobody else's, as is a handle."""
    if not isinstance(value, np.ndarray) or (value.base is None and value.flags.owndata):
        return value
    return value.copy()


def fits(shape: Sequence[int], wanted: Shape) -> bool:
    """Whether an element's shape is one of those that are wanted."""
    return wanted is None or (len(shape) == len(wanted) and all(n in (None, m) for m, n in zip(shape, wanted, strict=True)))


def shape_name(shape: Shape) -> str:
    """The known part of a shape as TensorFlow prints it."""
    return "<unknown>" if shape is None else shape_text(shape)


def check_mergeable(a: Shape, b: Shape) -> None:
    """Raises: InvalidArgument when no shape is both."""
    if a is None or b is None:
        return
    if len(a) != len(b):
        raise InvalidArgument(f"PartialTensorShape: Incompatible ranks during merge: {len(a)} vs. {len(b)}")
    if any(None not in (m, n) and m != n for m, n in zip(a, b, strict=True)):
        both = f"{shape_text(a)} vs. {shape_text(b)}"
        raise InvalidArgument(f"PartialTensorShape: Incompatible shapes during merge: {both}")


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


@dataclass(frozen=True)
class Cleared:
    """The shape of an element whose value was freed when it was read."""

    shape: tuple[int, ...]


Element = np.ndarray | tuple[int, ...] | Cleared | None
"""A value, the shape of zeros, what was read, or nothing yet."""


class TensorArray:
    """Elements by index, each written once; gradients are arrays of their own, found by source, where writes add up.

    shape: what is known of every element's.  is_dynamic: whether it grows.  is_cleared: whether an element is read once.
    is_identical: whether the first write tells the shape of all.  adds: whether it is an array of gradients.
    Source: TensorFlow's TensorArray (core/kernels/tensor_array.h): an element never written reads as zeros of a known shape.
    """

    def __init__(
        self, name: str, size: int, dtype: str, shape: Shape, *, is_dynamic: bool = False, is_cleared: bool = True,
        is_identical: bool = False, adds: bool = False,
    ) -> None:  # fmt: skip
        self.values: list[Element] = [None] * size
        self.name, self.dtype, self.shape, self.adds = name, dtype, shape, adds
        self.is_dynamic, self.is_cleared, self.is_identical = is_dynamic, is_cleared, is_identical
        self.was_read: set[int] = set()
        self.gradients: dict[str, TensorArray] = {}

    def write(self, index: int, value: np.ndarray) -> None:
        if index < 0 or (index >= len(self.values) and not self.is_dynamic):
            size = len(self.values)
            raise self._error(f"Tried to write to index {index} but array is not resizeable and size is: {size}")
        self.values.extend([None] * (index + 1 - len(self.values)))
        self._fit(index, value.shape)
        old = self.values[index]
        if isinstance(old, Cleared) or index in self.was_read:
            raise self._error(f"Could not write to TensorArray index {index} because it has already been read.")
        if old is None:
            self.values[index] = kept(value)
        elif self.adds:
            self._add(index, old, value)
        else:
            raise self._error(f"Could not write to TensorArray index {index} because it has already been written to.")

    def _fit(self, index: int, shape: tuple[int, ...]) -> None:
        if self.shape == shape:
            return
        if self.shape is not None and not fits(shape, self.shape):
            inferred = f"which is incompatible with the TensorArray's inferred element shape: {shape_name(self.shape)}"
            raise self._error(
                f"Could not write to TensorArray index {index} because the value shape is {shape_text(shape)} {inferred} "
                "(consider setting infer_shape=False)."
            )
        if self.is_identical:
            self.shape = shape

    def _add(self, index: int, old: np.ndarray | tuple[int, ...], value: np.ndarray) -> None:
        shape = old if isinstance(old, tuple) else old.shape
        if shape != value.shape:
            shapes = f"the existing shape is {shape_text(shape)} but the new input shape is {shape_text(value.shape)}."
            raise self._error(f"Could not aggregate to TensorArray index {index} because {shapes}")
        self.values[index] = kept(value) if isinstance(old, tuple) else old + value

    def read(self, index: int) -> np.ndarray:
        if not 0 <= index < len(self.values):
            raise InvalidArgument(f"Tried to read from index {index} but array size is: {len(self.values)}")
        value = self.values[index]
        if isinstance(value, Cleared):
            cleared = "twice because it was cleared after a previous read (perhaps try setting clear_after_read = false?)."
            raise self._error(f"Could not read index {index} {cleared}")
        if not isinstance(value, np.ndarray):
            value = np.zeros(self._whole_shape(index) if value is None else value, dt.to_numpy(self.dtype))
        if self.is_cleared:
            self.values[index] = Cleared(value.shape)
        else:
            self.values[index] = value
            self.was_read.add(index)
        return value

    def _whole_shape(self, index: int) -> tuple[int, ...]:
        shape = None if self.shape is None else tuple(n for n in self.shape if n is not None)
        if shape is None or shape != self.shape:
            raise self._error(
                f"Could not read from TensorArray index {index}.  Furthermore, the element shape is not fully defined: "
                f"{shape_name(self.shape)}.  It is possible you are working with a resizeable TensorArray and stop_gradients is "
                "not allowing the gradients to be written.  If you set the full element_shape property on the forward "
                "TensorArray, the proper all-zeros tensor will be returned instead of incurring this error."
            )
        return shape

    def narrow(self, shape: Shape) -> None:
        """Hold on to what else is known of all elements.  Raises: InvalidArgument when it contradicts."""
        check_mergeable(self.shape, shape)
        self.shape = merge(self.shape, shape)

    def gradient(self, source: str) -> TensorArray:
        """The array of gradients of one source, made at first use, where what was written here is zeros."""
        if source not in self.gradients:
            made = TensorArray(
                self.name, len(self.values), self.dtype, self.shape, is_identical=self.is_identical, adds=True
            )  # fmt: skip
            self.gradients[source] = made
        made = self.gradients[source]
        for index, value in enumerate(self.values[: len(made.values)]):
            if value is not None and made.values[index] is None:
                made.values[index] = value if isinstance(value, tuple) else value.shape
        return made

    def _error(self, message: str) -> InvalidArgument:
        return InvalidArgument(f"TensorArray {self.name}: {message}" if self.name else message)


@kernel("TensorArrayV3", unit="memory", shape=_handle_and_flow, dtypes={"dtype": dt.ALL})
def tensor_array(
    size: np.ndarray, /, *, dtype: str, element_shape: Shape = None, dynamic_size: bool = False, clear_after_read: bool = True,
    identical_element_shapes: bool = False, tensor_array_name: str = "",
) -> tuple[TensorArray, np.ndarray]:  # fmt: skip
    """A new array and its flow, a scalar that orders the ops on it.  Source: TensorFlow op `TensorArrayV3`."""
    made = TensorArray(
        str(tensor_array_name), int(size), dtype, element_shape, is_dynamic=dynamic_size, is_cleared=clear_after_read,
        is_identical=identical_element_shapes,
    )  # fmt: skip
    return made, np.zeros((), np.float32)


@kernel("TensorArrayGradV3", unit="memory", shape=_handle_and_flow)
def tensor_array_grad(handle: TensorArray, flow: np.ndarray, /, *, source: str) -> tuple[TensorArray, np.ndarray]:
    """The array of gradients of one source.  Source: TensorFlow op `TensorArrayGradV3`."""
    return handle.gradient(source), flow


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
    handle.narrow(element_shape)
    if not indices.size:
        return np.zeros((0, *_zero_sized(element_shape, "element shape", "packing")), dt.to_numpy(dtype))
    values = [handle.read(int(index)) for index in indices]
    for place, value in enumerate(values):
        if value.shape != values[0].shape:
            shapes = f"{shape_text(values[0].shape)} but index {place} has shape: {shape_text(value.shape)}"
            raise InvalidArgument(f"TensorArray has inconsistent shapes.  Index 0 has shape: {shapes}")
    return np.stack(values)


def _zero_sized(shape: Shape, name: str, doing: str) -> tuple[int, ...]:
    known = None if shape is None else tuple(n for n in shape if n is not None)
    if known is None or known != shape:
        raise Unimplemented(
            f"TensorArray has size zero, but {name} {shape_name(shape)} is not fully defined. Currently only static shapes are "
            f"supported when {doing} zero-size TensorArrays."
        )
    return known


@kernel("TensorArrayScatterV3", unit="memory", shape=scalar)
def tensor_array_scatter(handle: TensorArray, indices: np.ndarray, value: np.ndarray, flow: np.ndarray, /) -> np.ndarray:
    """Rows of `value` into the named elements.  Source: TensorFlow op `TensorArrayScatterV3`."""
    if len(indices) != len(value):
        raise InvalidArgument(f"Expected len(indices) == values.shape[0], but saw: {len(indices)} vs. {len(value)}")
    size, largest = len(handle.values), int(indices.max(initial=-1))
    if largest >= size and not handle.is_dynamic:
        raise InvalidArgument(f"Max scatter index must be < array size ({largest} vs. {size})")
    for index, row in zip(indices, value, strict=True):
        handle.write(int(index), np.asarray(row))
    return flow


@kernel("TensorArrayConcatV3", unit="memory", shape=lambda *s, **a: [None, (None,)], dtypes={"dtype": dt.ALL})
def tensor_array_concat(
    handle: TensorArray, flow: np.ndarray, /, *, dtype: str, element_shape_except0: Shape = None
) -> tuple[np.ndarray, np.ndarray]:
    """All elements joined on their first axis, and their lengths there.  Source: TensorFlow op `TensorArrayConcatV3`."""
    if not handle.values:
        rest = _zero_sized(element_shape_except0, "element_shape_except0", "concatenating")
        return np.zeros((0, *rest), dt.to_numpy(dtype)), np.zeros(0, np.int64)
    values = [handle.read(index) for index in range(len(handle.values))]
    for index, value in enumerate(values):
        if not value.ndim:
            at_least = "but requires at least vectors.  Did you mean to call pack?"
            raise InvalidArgument(f"Concat saw a scalar shape at index {index} {at_least}")
        if value.shape[1:] != values[0].shape[1:]:
            first, other = (f"has (excepting dimension 0) shape: {shape_text(v.shape[1:])}" for v in (values[0], value))
            raise InvalidArgument(f"TensorArray has inconsistent shapes.  Index 0 {first} but index {index} {other}")
    return np.concatenate(values), np.array([len(value) for value in values], np.int64)


@kernel("TensorArraySplitV3", unit="memory", shape=scalar)
def tensor_array_split(handle: TensorArray, value: np.ndarray, lengths: np.ndarray, flow: np.ndarray, /) -> np.ndarray:
    """Pieces of `value` along the first axis into elements 0, 1, ...  Source: TensorFlow op `TensorArraySplitV3`."""
    if lengths.sum() != len(value):
        given = f"{lengths.sum()} and value's shape is: {shape_text(value.shape)}"
        raise InvalidArgument(f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {given} ")
    size = max(len(handle.values), len(lengths)) if handle.is_dynamic else len(handle.values)
    if size != len(lengths):
        sizes = f"({size} vs. {len(lengths)}), and the TensorArray is not marked as dynamically resizeable"
        raise InvalidArgument(f"TensorArray's size is not equal to the size of lengths {sizes}")
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
