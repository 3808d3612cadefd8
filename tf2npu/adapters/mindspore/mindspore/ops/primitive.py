"""Primitives: objects that are made with attributes and called with tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mindspore._device.operation import apply, raw
from mindspore._device.program import run_traced
from mindspore._device.trace import current_trace, local_variable, tracing
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.common.tensor_operators import promoted
from npu_bridge.npu_init import tf


class Primitive:
    """An operator.

    defaults: (attribute, default value) in the order of the constructor.  compute: a function of the graph's tensors and of the
    attributes by name, which gives the graph's tensors.
    """

    defaults: tuple[tuple[str, Any], ...] = ()
    compute: Callable[..., Any]

    def __init__(self, *given: Any, **named: Any) -> None:
        names = [name for name, _ in self.defaults]
        if len(given) > len(names):
            raise TypeError(f"{type(self).__name__} takes {len(names)} attributes ({', '.join(names)}), and got {len(given)}")
        unknown = sorted(named.keys() - set(names))
        if unknown:
            raise TypeError(f"{type(self).__name__} has no attribute {', '.join(unknown)}: it has {', '.join(names) or 'none'}")
        self.attrs = {**dict(self.defaults), **dict(zip(names, given, strict=False)), **named}

    @property
    def name(self) -> str:
        """The operator's name."""
        return type(self).__name__

    def __getattr__(self, name: str) -> Any:
        attrs = self.__dict__.get("attrs", {})
        if name in attrs:
            return attrs[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name}")

    def add_prim_attr(self, name: str, value: Any) -> Primitive:
        """Accepts an attribute for the graph compiler, which the simulated device has no use for."""
        return self

    set_prim_instance_name = set_stage = add_prim_attr

    def shard(self, strategy: Any) -> Primitive:
        """Accepts a strategy, which one device has no use for."""
        return self

    set_strategy = shard

    def __call__(self, *given: Any) -> Any:
        return apply((self.name, repr(self.attrs)), lambda *nodes: self.compute(*nodes, **self.attrs), *given)

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.attrs.items())})"


PrimitiveWithInfer = PrimitiveWithCheck = Primitive


def primitive(name: str, compute: Callable[..., Any], **defaults: Any) -> type[Primitive]:
    """A class of primitives.  compute: see Primitive; it gets the graph's tensors, and numbers as they were given."""
    return type(
        name, (Primitive,), {"defaults": tuple(defaults.items()), "compute": staticmethod(compute), "__module__": "mindspore.ops"}
    )


def binary_primitive(name: str, function: Callable[[Any, Any], Any]) -> type[Primitive]:
    """A class of primitives of two operands, which are brought to one type."""
    return primitive(name, lambda x, y: function(*promoted(x, y)))


class WritingPrimitive(Primitive):
    """A primitive that writes parameters: the first `n_written` arguments.

    `write(variables, nodes, **attrs)` makes the operation on resource variables; the nodes are those of the other arguments.  The
    result is the first parameter's new value, or with `gives_all` a tuple of all new values.  With `takes_tensors` a tensor may
    stand for a parameter: its new value is in the result alone.
    """

    n_written = 1
    gives_all = False
    takes_tensors = False

    def write(self, variables: list[Any], *nodes: Any, **attrs: Any) -> Any:
        """The operation of TensorFlow's that writes."""
        raise RuntimeError

    def __call__(self, *given: Any) -> Any:
        if not tracing():
            return run_traced(("write", self.name, repr(self.attrs)), lambda *ones: WritingPrimitive.__call__(self, *ones), given)
        written, others = given[: self.n_written], given[self.n_written :]
        for one in written:
            if not isinstance(one, Parameter) and not (self.takes_tensors and isinstance(one, Tensor)):
                raise TypeError(f"{self.name} writes a Parameter, and got {one!r}: make it one in __init__")
        nodes, copies = raw(tuple(others)), {i: _copy(one) for i, one in enumerate(written) if not isinstance(one, Parameter)}

        def write(*variables: Any) -> Any:
            stored = iter(variables)
            with tf.control_dependencies([filled for _, filled in copies.values()]):
                return self.write(
                    [copies[i][0] if i in copies else next(stored) for i in range(len(written))], *nodes, **self.attrs
                )

        op = current_trace().write([one for one in written if isinstance(one, Parameter)], write)
        with tf.control_dependencies([] if op is None else [op]):
            found = tuple(Tensor(copies[i][0].read_value() if i in copies else one.stored()) for i, one in enumerate(written))
        return found if self.gives_all else found[0]


def _copy(tensor: Tensor) -> tuple[Any, Any]:
    """A variable of the graph alone, and the operation that gives it the value of a tensor."""
    node = tensor.raw()
    variable = local_variable("written", np.zeros(node.shape.as_list(), node.dtype.as_numpy_dtype))
    return variable, variable.assign(node, read_value=False)


def as_type_of(variable: Any, value: Any) -> Any:
    """A node for a variable: in its type, and spread over its shape."""
    node = tf.cast(value, variable.dtype) if isinstance(value, tf.Tensor) else tf.constant(value, variable.dtype)
    return node if node.shape == variable.shape else tf.broadcast_to(node, variable.shape)


def prim_attr_register(function: Callable[..., Any]) -> Callable[..., Any]:
    """The constructor of a primitive of a program's own, as it is."""
    return function


def constexpr(fn: Callable[..., Any] | None = None, get_instance: bool = True, name: str | None = None) -> Any:
    """A function of Python values that is computed while the graph is built, as everything of Python is here.

    get_instance: False for a class, whose instances are such functions.
    """

    def made(function: Callable[..., Any]) -> Any:
        return function if get_instance else lambda: function

    return made if fn is None else made(fn)
