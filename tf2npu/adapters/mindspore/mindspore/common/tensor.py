"""Tensors: arrays between calls, and nodes of the graph while one is built."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from mindspore.common.dtype import Type, bool_, dtype_of, float32, np_type
from mindspore.common.tensor_text import written
from npu_bridge.npu_init import tf

from npu_formats.user_frames import calling_line


class NoValue(RuntimeError, TypeError):
    """A value was asked for while the graph is built, which has none."""


class Tensor:
    """An array of one type.

    input_data: an array, a number, nested lists, a tensor; without it `shape`, `dtype` and `init` say what to make.  Python's
    floats become float32; arrays of numpy keep their type.
    """

    is_parameter = False

    def __init__(self, input_data: Any = None, dtype: Type | None = None, shape: Any = None, init: Any = None) -> None:
        self._node: Any = None
        if isinstance(input_data, tf.Tensor):
            self._node = input_data
        elif isinstance(input_data, Tensor) and input_data._node is not None:
            self._node = input_data._node if dtype is None else tf.cast(input_data._node, np_type(dtype))
        else:
            self._value = _array(input_data, dtype, shape, init)

    def value(self) -> np.ndarray:
        """The array; of a parameter that of its beginning."""
        return self._value

    @property
    def node(self) -> Any:
        """The graph's tensor that this one is, None for an array or a parameter."""
        return self._node

    def raw(self) -> Any:
        """The graph's tensor."""
        return self._node if self._node is not None else tf.constant(self._value)

    def asnumpy(self) -> np.ndarray:
        """The array.  Raises: NoValue while a graph is built."""
        if self._node is not None:
            self._refuse("asnumpy()")
        return self._value

    def _refuse(self, what: str) -> NoReturn:
        raise NoValue(
            f"{what} of a tensor in construct{_here()}: in a graph it has no value yet. Take it outside of the cell, or compute "
            "with operators of mindspore.ops, or run the program in PYNATIVE_MODE"
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the axes."""
        return tuple(self._node.shape.as_list()) if self._node is not None else self._value.shape

    @property
    def dtype(self) -> Type:
        """The type of the numbers."""
        return dtype_of(self._node.dtype if self._node is not None else self._value.dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape))

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return int(self.dtype.nptype.itemsize)

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.size * self.itemsize

    @property
    def has_init(self) -> bool:
        """Whether the values are still to be made: they never are here."""
        return False

    def init_data(self, *_: Any, **__: Any) -> Tensor:
        """The tensor itself: its values are made at once here."""
        return self

    to_tensor = init_data

    def dim(self) -> int:
        """The number of axes."""
        return self.ndim

    def set_dtype(self, dtype: Type) -> Tensor:
        """Gives the tensor another type, in place."""
        self._value = self.asnumpy().astype(np_type(dtype))
        return self

    def assign_value(self, value: Tensor) -> Tensor:
        """Puts the values of another tensor into this one."""
        self._value = value.asnumpy()
        return self

    def __bool__(self) -> bool:
        if self._node is not None:
            self._refuse("the truth")
        return bool(self.asnumpy())

    def __float__(self) -> float:
        return float(self._number("float()"))

    def __int__(self) -> int:
        return int(self._number("int()"))

    def __index__(self) -> int:
        return int(self._number("an index")) if self.dtype is not bool_ else NotImplemented

    def _number(self, what: str) -> np.ndarray:
        if self._node is not None:
            self._refuse(what)
        return self.asnumpy()

    def __array__(self, dtype: Any = None) -> np.ndarray:
        if self._node is not None:
            self._refuse("a call of numpy")
        value = self.asnumpy()
        return value if dtype is None else value.astype(dtype)

    __array_priority__ = 100  # numpy's arrays leave operators to tensors

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a tensor without axes")
        return self.shape[0]

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        if self._node is not None:
            return f"Tensor(in a graph, shape={list(self.shape)}, dtype={self.dtype})"
        return f"Tensor(shape={list(self.shape)}, dtype={self.dtype}, value={written(self.asnumpy())})"

    def __str__(self) -> str:
        return repr(self) if self._node is not None else str(self.asnumpy())

    def __deepcopy__(self, memo: Any) -> Tensor:
        return Tensor(self.asnumpy().copy())

    def __eq__(self, other: Any) -> Any:
        return NotImplemented  # tensor_operators has it

    __hash__ = object.__hash__


class MetaTensor(Tensor):
    """A type and a shape without values."""

    def __init__(self, dtype: Type, shape: Any, init: Any = None) -> None:
        super().__init__(dtype=dtype, shape=shape, init=init or "zeros")


def _here() -> str:
    line = calling_line()
    return f" ({line})" if line else ""


def _array(data: Any, dtype: Type | None, shape: Any, init: Any) -> np.ndarray:
    if data is None:
        if shape is None or init is None:
            raise ValueError("Tensor() without input_data needs shape=, dtype= and init=")
        from mindspore.common.initializer import initializer

        return initializer(init, shape, dtype or float32).asnumpy()
    if isinstance(data, Tensor):
        data = data.asnumpy()
    is_numpys = isinstance(data, (np.ndarray, np.generic))
    value = np.array(data)
    if value.dtype.kind not in "bufi":
        raise TypeError(f"Tensor({data!r}): input_data is numbers, lists of equal lengths, an array or a tensor")
    if dtype is None and not is_numpys and value.dtype == np.float64:
        dtype = float32
    return value if dtype is None else value.astype(np_type(dtype))
