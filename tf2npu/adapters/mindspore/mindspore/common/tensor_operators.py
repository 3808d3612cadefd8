"""Python's operators on tensors, and the methods that are operators of mindspore.ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mindspore._device.operation import apply, wrap
from mindspore._device.trace import tracing
from mindspore.common.dtype import dtype_of, float32
from mindspore.common.tensor import Tensor
from npu_bridge.npu_init import tf


def promoted(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands in one type: the wider of two tensors; a number takes the tensor's type; a float beside whole ones, float32.

    Source: MindSpore's page on implicit conversion.
    """
    if isinstance(x, tf.Tensor) and isinstance(y, tf.Tensor):
        wide = max(dtype_of(x.dtype), dtype_of(y.dtype), key=lambda kind: kind.rank)
    else:
        tensor, number = (x, y) if isinstance(x, tf.Tensor) else (y, x)
        wide = _type_beside(tensor, number)
    return tuple(_as(one, wide.nptype) for one in (x, y))


def _type_beside(tensor: Any, number: Any) -> Any:
    if not isinstance(tensor, tf.Tensor):
        return Tensor(tensor).dtype
    of_tensor = dtype_of(tensor.dtype)
    if isinstance(number, float) and not of_tensor.is_floating:
        return float32
    if isinstance(number, int) and not isinstance(number, bool) and of_tensor.nptype.kind == "b":
        return dtype_of(np.int32)
    return of_tensor


def _as(value: Any, kind: np.dtype[Any]) -> Any:
    if not isinstance(value, tf.Tensor):
        return tf.constant(value, kind)
    return value if value.dtype == kind else tf.cast(value, kind)


def binary(name: str, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator on two operands of any type."""
    return lambda x, y: apply(name, lambda a, b: function(*promoted(a, b)), x, y)


def divided(x: Any, y: Any) -> Any:
    """The quotient; whole numbers divide as float32.  Source: Tensor.__truediv__ of r1.1, which is RealDiv."""
    if not x.dtype.is_floating:
        x, y = tf.cast(x, tf.float32), tf.cast(y, tf.float32)
    return tf.math.divide(x, y)


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": tf.add, "sub": tf.subtract, "mul": tf.multiply, "truediv": divided, "floordiv": tf.math.floordiv,
    "mod": tf.math.floormod, "pow": tf.pow, "lt": tf.less, "le": tf.less_equal, "gt": tf.greater, "ge": tf.greater_equal,
}  # fmt: skip
_OPERANDS = (Tensor, int, float, bool, np.ndarray, np.generic, list, tuple)


def _install() -> None:
    for name, function in _BINARY.items():
        whole = binary(name, function)
        setattr(Tensor, f"__{name}__", _checked(whole))
        if name in ("lt", "le", "gt", "ge"):
            continue
        setattr(Tensor, f"__r{name}__", _checked(lambda x, y, whole=whole: whole(y, x)))
    Tensor.__eq__ = _equality("eq", tf.equal, False)
    Tensor.__ne__ = _equality("ne", tf.not_equal, True)
    Tensor.__hash__ = object.__hash__
    Tensor.__neg__ = lambda x: apply("neg", tf.negative, x)
    Tensor.__pos__ = lambda x: x
    Tensor.__abs__ = lambda x: apply("abs", tf.abs, x)
    Tensor.__invert__ = lambda x: apply("invert", tf.logical_not, x)
    Tensor.__matmul__ = _checked(binary("matmul", tf.matmul))
    Tensor.__getitem__ = _item
    Tensor.__setitem__ = _set_item


def _checked(operator: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, y: operator(x, y) if isinstance(y, _OPERANDS) else NotImplemented


def _equality(name: str, function: Callable[[Any, Any], Any], of_others: bool) -> Callable[[Any, Any], Any]:
    whole = binary(name, function)
    return lambda x, y: whole(x, y) if isinstance(y, _OPERANDS) else of_others


def _item(x: Tensor, key: Any) -> Tensor:
    parts = key if isinstance(key, tuple) else (key,)
    tensors = [part for part in parts if isinstance(part, Tensor)]
    if len(tensors) == 1 and len(parts) == 1:
        return _gathered(x, tensors[0])
    if tensors:
        raise IndexError("an index of several tensors is not simulated: use ops.GatherNd")
    return apply(("item", repr(key)), lambda node: node[key], x)


def _gathered(x: Tensor, index: Tensor) -> Tensor:
    if index.dtype.nptype.kind == "b":
        return apply("mask", tf.boolean_mask, x, index)
    return apply("gather", lambda node, at: tf.gather(node, at), x, index)


def _set_item(x: Tensor, key: Any, value: Any) -> None:
    """Puts a value into a tensor that is no parameter.  Raises: RuntimeError for what is not simulated."""
    if x.is_parameter:
        raise RuntimeError("x[...] = value of a Parameter is not simulated: use ops.ScatterNdUpdate or set_data")
    if not tracing():
        array = x.asnumpy().copy()
        array[np.asarray(key) if isinstance(key, Tensor) else key] = np.asarray(value, array.dtype)
        x._value = array
        return
    positions = np.arange(x.size).reshape(x.shape)[key]
    given = value.raw() if isinstance(value, Tensor) else tf.constant(value, x.raw().dtype)
    given = tf.reshape(tf.broadcast_to(tf.cast(given, x.raw().dtype), positions.shape), (-1,))
    flat = tf.tensor_scatter_nd_update(tf.reshape(x.raw(), (-1,)), positions.reshape(-1, 1), given)
    x._node = tf.reshape(flat, x.shape)


def _axes(axis: Any) -> Any:
    return None if axis in ((), None) else axis


def _method(name: str, function: Callable[..., Any]) -> None:
    def method(self: Tensor, *given: Any, **named: Any) -> Any:
        return apply((name, repr(given), repr(named)), lambda node: wrap(function(node, *given, **named)), self)

    setattr(Tensor, name, method)


_install()
_method("abs", tf.abs)
_method("all", lambda x, axis=(), keep_dims=False: tf.reduce_all(x, _axes(axis), keepdims=keep_dims))
_method("any", lambda x, axis=(), keep_dims=False: tf.reduce_any(x, _axes(axis), keepdims=keep_dims))
_method("mean", lambda x, axis=(), keep_dims=False: tf.reduce_mean(x, _axes(axis), keepdims=keep_dims))
_method("sum", lambda x, axis=(), keep_dims=False: tf.reduce_sum(x, _axes(axis), keepdims=keep_dims))
_method("view", lambda x, *shape: tf.reshape(x, shape[0] if isinstance(shape[0], tuple) else shape))
_method("reshape", lambda x, *shape: tf.reshape(x, shape[0] if isinstance(shape[0], (tuple, list)) else shape))
_method("transpose", lambda x, *axes: tf.transpose(x, axes[0] if axes and isinstance(axes[0], (tuple, list)) else axes or None))
_method("astype", lambda x, dtype: tf.cast(x, dtype_of(dtype).nptype))
Tensor.expand_as = lambda self, x: apply("expand_as", lambda a, b: tf.broadcast_to(a, b.shape), self, x)
Tensor.T = property(lambda self: apply("T", tf.transpose, self))
