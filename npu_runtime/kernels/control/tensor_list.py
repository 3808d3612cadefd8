"""Tensor lists: what while loops of TensorFlow 2's kind carry along and keep for their gradients.

A list is a value: an op that changes one makes a new list, which shares the elements.  Source of all: the op documentation and
CPU behaviour of TensorFlow's `TensorList*` ops (core/kernels/list_kernels.cc).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.control.tensor_array import check_mergeable, fits, kept, shape_name
from npu_runtime.kernels.shapes import merge, scalar, unknown
from npu_runtime.kernels.variable_access import shape_text

ELEMENTS = {"element_dtype": dt.ALL | {"variant", "resource"}}
"""Loops inside loops keep lists of lists."""
Element = Any


@dataclass(slots=True, eq=False)
class TensorList:
    """values: elements, None where nothing was set.  shape: what is known of every element's.  limit: -1 or the most elements.

    Nobody changes one: a frozen dataclass says so too, but makes some dozens of lists in each turn of a loop three times slower.
    """

    values: tuple[Element | None, ...]
    dtype: str
    shape: Shape = None
    limit: int = -1

    def having(self, values: tuple[Element | None, ...]) -> TensorList:
        """A list of the same kind with other elements."""
        return TensorList(values, self.dtype, self.shape, self.limit)

    def element(self, index: int, element_shape: np.ndarray | None = None) -> Element:
        """One element.  element_shape: the op's input, for one that is not set."""
        value = self.values[index]
        return self.zeros(None if element_shape is None else _given(element_shape)) if value is None else value

    def zeros(self, wanted: Shape) -> np.ndarray:
        """An element that is not set.  Raises: InvalidArgument where its shape is not known."""
        shape = merge(wanted, self.shape)
        for value in self.values:
            if value is not None:
                shape = merge(shape, value.shape)
        if shape is None or None in shape:
            uninitialized = f"an uninitialized tensor but element_shape is not fully defined: {shape_name(shape)}"
            raise InvalidArgument(f"Trying to read {uninitialized} and no list element is set.")
        return np.zeros([n for n in shape if n is not None], dt.to_numpy(self.dtype))

    def takes(self, value: Element) -> bool:
        """Whether an element of this shape fits."""
        return not isinstance(value, np.ndarray) or value.shape == self.shape or fits(value.shape, self.shape)

    def check(self, value: Element, tried: str) -> None:
        """Raises: InvalidArgument when an element of this shape does not fit."""
        if self.takes(value):
            return
        raise InvalidArgument(f"{tried} element shape: {shape_text(value.shape)} list shape: {shape_name(self.shape)}")


def _given(element_shape: np.ndarray) -> Shape:
    """The input element_shape: a scalar -1 says nothing, a -1 inside is any extent."""
    if element_shape.ndim == 0:
        return None
    return tuple([None if n < 0 else n for n in element_shape.tolist()])


def _spec_given(spec: Spec) -> Shape:
    return None if spec.value is None else _given(spec.value)


def _with_rows(extent: int | None, element: Shape) -> Shape:
    return None if element is None else (extent, *element)


@kernel("EmptyTensorList", unit="memory", shape=scalar, dtypes=ELEMENTS, ignores=("shape_type",))
def empty_list(element_shape: np.ndarray, max_num_elements: np.ndarray, /, *, element_dtype: str) -> TensorList:
    """A list without elements.  Source: TensorFlow op `EmptyTensorList`."""
    return TensorList((), element_dtype, _given(element_shape), int(max_num_elements))


@kernel("TensorListReserve", unit="memory", shape=scalar, dtypes=ELEMENTS, ignores=("shape_type",))
def reserve(element_shape: np.ndarray, num_elements: np.ndarray, /, *, element_dtype: str) -> TensorList:
    """A list of elements that are not set.  Source: TensorFlow op `TensorListReserve`."""
    n = int(num_elements)
    if n < 0:
        raise InvalidArgument(f"The num_elements to reserve must be a non negative number, but got {n}")
    return TensorList((None,) * n, element_dtype, _given(element_shape))


@kernel("TensorListFromTensor", unit="memory", shape=scalar, dtypes=ELEMENTS, ignores=("shape_type",))
def from_tensor(tensor: np.ndarray, element_shape: np.ndarray, /, *, element_dtype: str) -> TensorList:
    """The rows of a tensor.  Raises: InvalidArgument for a scalar or rows of another shape.  Source: `TensorListFromTensor`."""
    if tensor.ndim == 0:
        raise InvalidArgument("Tensor must be at least a vector, but saw shape: []")
    shape = _given(element_shape)
    if not fits(tensor.shape[1:], shape):
        found, wanted = shape_text(tensor.shape[1:]), shape_name(shape)
        raise InvalidArgument(f"Specified a list with shape {wanted} from a tensor with shape {found}")
    rows = tuple(tensor.copy())
    return TensorList(rows if tensor.ndim > 1 else tuple(map(np.asarray, rows)), element_dtype, shape)


@kernel("TensorListLength", unit="scalar", shape=scalar)
def length(handle: TensorList, /) -> np.ndarray:
    """Number of elements, int32.  Source: TensorFlow op `TensorListLength`."""
    return np.array(len(handle.values), np.int32)


@kernel("TensorListElementShape", unit="scalar", shape=unknown, dtypes={"shape_type": dt.INDICES})
def element_shape_of(handle: TensorList, /, *, shape_type: str) -> np.ndarray:
    """The shape of elements with -1 for what is not known.  Source: TensorFlow op `TensorListElementShape`."""
    shape = handle.shape
    return np.array(-1 if shape is None else [-1 if n is None else n for n in shape], dt.to_numpy(shape_type))


@kernel("TensorListGetItem", unit="memory", shape=lambda h, i, s, **a: _spec_given(s), dtypes=ELEMENTS)
def get_item(handle: TensorList, index: np.ndarray, element_shape: np.ndarray, /, *, element_dtype: str) -> Element:
    """One element.  Raises: InvalidArgument outside the list.  Source: TensorFlow op `TensorListGetItem`."""
    at = int(index)
    if not 0 <= at < len(handle.values):
        raise InvalidArgument(f"Trying to access element {at} in a list with {len(handle.values)} elements.")
    value = handle.values[at]
    return handle.element(at, element_shape) if value is None else value


@kernel("TensorListSetItem", unit="memory", shape=scalar, dtypes=ELEMENTS)
def set_item(
    handle: TensorList, index: np.ndarray, item: Element, /, *, element_dtype: str, resize_if_index_out_of_bounds: bool = False
) -> TensorList:
    """The list with one element changed.  Raises: InvalidArgument outside the list.  Source: `TensorListSetItem`."""
    at, values = int(index), list(handle.values)
    if at >= len(values) and resize_if_index_out_of_bounds:
        values += [None] * (at + 1 - len(values))
    if not 0 <= at < len(values):
        raise InvalidArgument(f"Trying to modify element {at} in a list with {len(values)} elements.")
    handle.check(item, "Tried to set a tensor with incompatible shape at a list index. Item")
    values[at] = kept(item)
    return handle.having(tuple(values))


@kernel("TensorListPushBack", unit="memory", shape=scalar, dtypes=ELEMENTS)
def push_back(handle: TensorList, tensor: Element, /, *, element_dtype: str) -> TensorList:
    """The list with one element more.  Raises: InvalidArgument when it is full.  Source: TensorFlow op `TensorListPushBack`."""
    handle.check(tensor, "Tried to append a tensor with incompatible shape to a list. Op")
    if 0 <= handle.limit <= len(handle.values):
        raise InvalidArgument(
            f"Tried to push item into a full list list size: {len(handle.values)} max_num_elements: {handle.limit}"
        )
    return handle.having((*handle.values, kept(tensor)))


@kernel("TensorListPopBack", unit="memory", shape=lambda h, s, **a: [(), _spec_given(s)], dtypes=ELEMENTS)
def pop_back(handle: TensorList, element_shape: np.ndarray, /, *, element_dtype: str) -> tuple[TensorList, Element]:
    """The list without its last element, and that one.  Raises: InvalidArgument when there is none.  `TensorListPopBack`."""
    values = handle.values
    if not values:
        raise InvalidArgument("Trying to pop from an empty list.")
    last = values[-1]
    return handle.having(values[:-1]), handle.element(-1, element_shape) if last is None else last


def _stacked(handle: Spec, element_shape: Spec, /, *, num_elements: int = -1, **attrs: Any) -> Shape:
    return _with_rows(None if num_elements < 0 else num_elements, _spec_given(element_shape))


@kernel("TensorListStack", unit="memory", shape=_stacked, dtypes=ELEMENTS)
def stack(handle: TensorList, element_shape: np.ndarray, /, *, element_dtype: str, num_elements: int = -1) -> np.ndarray:
    """All elements joined on a new first axis.  Raises: InvalidArgument for another number.  Source: `TensorListStack`."""
    if num_elements not in (-1, len(handle.values)):
        raise InvalidArgument(
            f"Operation expected a list with {num_elements} elements but got a list with {len(handle.values)} elements."
        )
    return _joined(handle, range(len(handle.values)), _given(element_shape))


def _joined(handle: TensorList, indices: Sequence[int], wanted: Shape) -> np.ndarray:
    check_mergeable(wanted, handle.shape)
    shape = merge(wanted, handle.shape)
    if len(indices):
        if (shape is None or None in shape) and all(value is None for value in handle.values):
            only = "which only contains uninitialized tensors and has a non-fully-defined element_shape"
            raise InvalidArgument(f"Tried to stack list {only}: {shape_name(shape)}")
        found = [handle.values[index] for index in indices]
        values = [handle.zeros(wanted) if value is None else value for value in found]
        for value in values:
            if value.shape != shape:
                check_mergeable(shape, value.shape)
                shape = merge(shape, value.shape)
        return _stack(values)
    if shape is None or None in shape:
        raise InvalidArgument(
            f"Tried to stack elements of an empty list with non-fully-defined element_shape: {shape_name(shape)}"
        )
    return np.zeros((0, *(n for n in shape if n is not None)), dt.to_numpy(handle.dtype))


def _stack(values: Sequence[np.ndarray]) -> np.ndarray:
    """The arrays on a new first axis; numpy's function takes several times as long for small ones."""
    made = np.empty((len(values), *values[0].shape), values[0].dtype)
    for row, value in enumerate(values):
        made[row] = value
    return made


@kernel("TensorListGather", unit="memory", dtypes=ELEMENTS,
        shape=lambda h, i, s, **a: _with_rows(i.shape[0] if i.shape else None, _spec_given(s)))  # fmt: skip
def gather(handle: TensorList, indices: np.ndarray, element_shape: np.ndarray, /, *, element_dtype: str) -> np.ndarray:
    """The named elements joined on a new first axis.  Raises: InvalidArgument outside the list.  `TensorListGather`."""
    for index in indices:
        if not 0 <= index < len(handle.values):
            raise InvalidArgument(f"Index {int(index)} out o range; list only has {len(handle.values)} elements.")
    return _joined(handle, [int(index) for index in indices], _given(element_shape))


@kernel("TensorListScatter", "TensorListScatterV2", unit="memory", shape=scalar, dtypes=ELEMENTS, ignores=("shape_type",))
def scatter(
    tensor: np.ndarray, indices: np.ndarray, element_shape: np.ndarray, num_elements: np.ndarray | None = None, /, *,
    element_dtype: str,
) -> TensorList:  # fmt: skip
    """A list with the rows of a tensor at the named places.  Source: TensorFlow op `TensorListScatterV2`."""
    size = -1 if num_elements is None else int(num_elements)
    made = TensorList((None,) * max(size, 0), element_dtype, _given(element_shape))
    if size >= 0 and np.any(indices >= size):
        raise InvalidArgument(f"TensorListScatter: Trying to scatter at index {int(indices.max())} in list with size {size}")
    return _scattered(made, tensor, indices)


@kernel("TensorListScatterIntoExistingList", unit="memory", shape=scalar, dtypes=ELEMENTS)
def scatter_into(handle: TensorList, tensor: np.ndarray, indices: np.ndarray, /, *, element_dtype: str) -> TensorList:
    """The list with rows of a tensor at the named places.  Source: TensorFlow op `TensorListScatterIntoExistingList`."""
    return _scattered(handle, tensor, indices)


def _scattered(handle: TensorList, tensor: np.ndarray, indices: np.ndarray) -> TensorList:
    if len(tensor) != len(indices):
        raise InvalidArgument(f"Invalid number of rows in input tensor. Expected: {len(indices)} Actual: {len(tensor)}")
    if np.any(indices < 0):
        raise InvalidArgument("Indices in TensorListScatter must all be non-negative.")
    values = list(handle.values) + [None] * (int(indices.max(initial=-1)) + 1 - len(handle.values))
    for index, row in zip(indices, tensor.copy(), strict=True):
        values[int(index)] = np.asarray(row)
    return handle.having(tuple(values))


def _joined_and_lengths(*specs: Spec, **attrs: Any) -> list[Shape]:
    return [None, (None,)]


@kernel("TensorListConcat", unit="memory", shape=_joined_and_lengths, dtypes=ELEMENTS, ignores=("element_shape",))
def concat_all(handle: TensorList, /, *, element_dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """All elements joined on their first axis, and their extents there.  Source: TensorFlow op `TensorListConcat`."""
    return concat(handle, element_dtype=element_dtype)


@kernel("TensorListConcatV2", unit="memory", shape=_joined_and_lengths, dtypes=ELEMENTS, ignores=("shape_type",))
def concat(
    handle: TensorList, element_shape: np.ndarray | None = None, leading_dims: np.ndarray | None = None, /, *, element_dtype: str
) -> tuple[np.ndarray, np.ndarray]:
    """All elements joined on their first axis, and their extents there.  Source: TensorFlow op `TensorListConcatV2`.

    An element that is not set is zeros of the shape of the others, its extent from leading_dims.
    """
    values = [_for_concat(handle, i, leading_dims) for i in range(len(handle.values))]
    lengths = np.array([len(value) for value in values], np.int64)
    if values:
        return np.concatenate(values), lengths
    shape = merge(None if element_shape is None else _given(element_shape), handle.shape)
    if shape is None or None in shape[1:]:
        raise InvalidArgument(
            "All except the first dimension must be fully defined when concating an empty tensor list. "
            f"element_shape: {shape_name(shape)}"
        )
    return np.zeros((0, *(n for n in shape[1:] if n is not None)), dt.to_numpy(handle.dtype)), lengths


def _for_concat(handle: TensorList, index: int, leading_dims: np.ndarray | None) -> np.ndarray:
    value = handle.values[index]
    if value is not None or leading_dims is None or index >= len(leading_dims):
        return handle.element(index)
    rest = next((v.shape[1:] for v in handle.values if v is not None), handle.shape[1:] if handle.shape else None)
    return TensorList((), handle.dtype, _with_rows(int(leading_dims[index]), rest)).zeros(None)


@kernel("TensorListSplit", unit="memory", shape=scalar, dtypes=ELEMENTS, ignores=("shape_type",))
def split(tensor: np.ndarray, element_shape: np.ndarray, lengths: np.ndarray, /, *, element_dtype: str) -> TensorList:
    """Pieces of a tensor along its first axis.  Raises: InvalidArgument unless they add up to it.  `TensorListSplit`."""
    ends = np.cumsum(lengths)
    if np.any(ends > len(tensor)):
        piece = int(np.argmax(ends > len(tensor)))
        end = f"{int(ends[piece])}] from tensor with length {len(tensor)}"
        raise InvalidArgument(f"Attempting to slice [{int(ends[piece] - lengths[piece])}, {end}")
    if lengths.sum() != len(tensor):
        used = f"Length of tensor: {len(tensor)} Values used: {int(lengths.sum())}"
        raise InvalidArgument(f"Unused values in tensor. {used}")
    pieces = np.split(tensor.copy(), ends[:-1]) if len(lengths) else []
    return TensorList(tuple(pieces), element_dtype, _given(element_shape))


@kernel("TensorListResize", unit="memory", shape=scalar)
def resize(input_handle: TensorList, size: np.ndarray, /) -> TensorList:
    """The list cut or filled up with elements that are not set.  Source: TensorFlow op `TensorListResize`."""
    n = int(size)
    if n < 0:
        raise InvalidArgument(f"TensorListSlice expects size to be non-negative. Got: {n}")
    return input_handle.having((*input_handle.values[:n], *(None,) * (n - len(input_handle.values))))


@kernel("TensorListConcatLists", unit="memory", shape=scalar, dtypes=ELEMENTS)
def concat_lists(input_a: TensorList, input_b: TensorList, /, *, element_dtype: str) -> TensorList:
    """The elements of one list and then those of another.  Source: TensorFlow op `TensorListConcatLists`."""
    return input_a.having(input_a.values + input_b.values)
