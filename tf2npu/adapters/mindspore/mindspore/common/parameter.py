"""Parameters: tensors with a name, which a graph reads as it runs and may write."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from mindspore._device.precision import cell_type
from mindspore._device.session import store, unique_name
from mindspore._device.trace import current_trace, tracing
from mindspore.common.dtype import Type, float32, int32, np_type
from mindspore.common.tensor import NoValue, Tensor
from npu_bridge.npu_init import tf

from npu_formats.user_frames import calling_line

UNNAMED = "Parameter"
"""The name of a parameter that was given none: the cell that gets it names it by its attribute."""


class Parameter(Tensor):
    """A tensor that lives on the device.

    name: without one, the attribute of the cell.  requires_grad: whether trainable_params() has it.
    """

    is_parameter = True

    def __init__(
        self, default_input: Any, name: str | None = None, requires_grad: bool = True, layerwise_parallel: bool = False,
        parallel_optimizer: bool = True,
    ) -> None:  # fmt: skip
        if tracing():
            raise NoValue(f"a Parameter is made in construct ({calling_line()}): make it in __init__, so that its value is kept")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"Parameter(name={name!r}): the name is a text")
        if isinstance(default_input, bool):
            raise ValueError(f"Parameter({default_input}): a tensor or a number is needed, as Tensor({default_input})")
        kind = int32 if isinstance(default_input, int) else float32 if isinstance(default_input, float) else None
        super().__init__(default_input, kind)
        self.name, self.requires_grad = name or UNNAMED, requires_grad
        self.layerwise_parallel, self.parallel_optimizer = layerwise_parallel, parallel_optimizer
        self._variable: Any = None

    def on_device(self) -> Any:
        """The variable on the device, made with the value when it is first needed."""
        if self._variable is None:
            self._variable = store(unique_name(self.path), self._value)
        return self._variable

    @property
    def path(self) -> str:
        """The name, as TensorFlow writes those of nodes."""
        return self.name.replace(".", "/")

    def stored(self) -> Any:
        """The graph's tensor of the value, in the type of the parameter."""
        return current_trace().read(self)

    def raw(self) -> Any:
        """The graph's tensor of the value, in the type in which the cell works."""
        kind, node = cell_type(), self.stored()
        return (
            tf.cast(node, np_type(kind)) if kind is not None and node.dtype.is_floating and node.dtype != np_type(kind) else node
        )

    @property
    def dtype(self) -> Type:
        """The type of the numbers, in a cell that casts that of the cell."""
        own = super().dtype
        return cell_type() if tracing() and cell_type() is not None and own.is_floating else own

    def asnumpy(self) -> np.ndarray:
        """The value on the device.  Raises: NoValue while a graph is built."""
        if tracing():
            self._refuse("asnumpy()")
        return self._value if self._variable is None else self._variable.read().copy()

    def __bool__(self) -> bool:
        return bool(self.asnumpy())

    def __float__(self) -> float:
        return float(self.asnumpy())

    def __array__(self, dtype: Any = None) -> np.ndarray:
        return np.asarray(self.asnumpy(), dtype)

    @property
    def data(self) -> Parameter:
        """The parameter itself.  Source: Parameter.data of r1.1."""
        return self

    default_input = data

    def set_data(self, data: Any, slice_shape: bool = False) -> Parameter:
        """Gives the parameter another value.

        Raises: ValueError for another shape; TypeError where the new type is wider, as a number would be cut.
        """
        value = np.asarray(Tensor(data).asnumpy())
        if value.shape != self._value.shape:
            raise ValueError(f"set_data of {self.name}: its shape is {self._value.shape}, that of the new value {value.shape}")
        if value.dtype.kind == "f" and self._value.dtype.kind != "f":
            raise TypeError(
                f"set_data of {self.name}: its type is {self._value.dtype}, that of the new value {value.dtype}: cast it"
            )
        self._load(value.astype(self._value.dtype))
        return self

    def _load(self, value: np.ndarray) -> None:
        if self._variable is None:
            self._value = value
        else:
            self._variable.assign(value)

    def assign_value(self, value: Tensor) -> Parameter:
        """Gives the parameter another value."""
        return self.set_data(value)

    def set_dtype(self, dtype: Type) -> Parameter:
        """Gives the parameter another type.  Raises: RuntimeError where the device has it already."""
        if self._variable is not None:
            raise RuntimeError(f"set_dtype of {self.name}: it is on the device already: call it before the first step")
        self._value = self._value.astype(np_type(dtype))
        return self

    def clone(self, prefix: str = "", init: Any = "same") -> Parameter:
        """A parameter like this one, under the name PREFIX.NAME.  init: "same", or what an initializer makes it of."""
        from mindspore.common.initializer import initializer

        value = (
            Tensor(self.asnumpy().copy())
            if isinstance(init, str) and init == "same"
            else initializer(init, self.shape, Tensor.dtype.fget(self))
        )
        name = f"{prefix}.{self.name}" if prefix else self.name
        return Parameter(value, name, self.requires_grad, self.layerwise_parallel, self.parallel_optimizer)

    def __deepcopy__(self, memo: Any) -> Parameter:
        return Parameter(
            Tensor(self.asnumpy().copy()), self.name, self.requires_grad, self.layerwise_parallel, self.parallel_optimizer
        )

    def __repr__(self) -> str:
        return f"Parameter (name={self.name})"

    def __str__(self) -> str:
        return repr(self)


class ParameterTuple(tuple):
    """Parameters in a fixed order.  Those of one name get _0, _1 and so on behind it, as in r1.1."""

    def __new__(cls, iterable: Iterable[Parameter]) -> ParameterTuple:
        found = tuple(iterable)
        for one in found:
            if not isinstance(one, Parameter):
                raise TypeError(f"ParameterTuple takes parameters, not {one!r}")
        same: dict[str, dict[Parameter, None]] = {}
        for one in found:
            same.setdefault(one.name, {})[one] = None
        for name, ones in same.items():
            for i, one in enumerate(ones if len(ones) > 1 else ()):
                one.name = f"{name}_{i}"
        return tuple.__new__(cls, found)

    def clone(self, prefix: str, init: Any = "same") -> ParameterTuple:
        """Parameters like these, with a prefix before each name."""
        return ParameterTuple(one.clone(prefix, init) for one in self)
