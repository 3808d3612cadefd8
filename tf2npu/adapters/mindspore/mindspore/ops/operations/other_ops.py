"""Primitives that write parameters, order others, and take functions."""

from __future__ import annotations

import functools
from typing import Any

from mindspore._device.operation import wrap
from mindspore._device.structure import flat, rebuilt
from mindspore._device.trace import tracing
from mindspore.common.tensor import Tensor
from mindspore.ops.operations import _box_ops
from mindspore.ops.operations._box_ops import *
from mindspore.ops.primitive import Primitive, WritingPrimitive, as_type_of, primitive
from npu_bridge.npu_init import tf


class Assign(WritingPrimitive):
    """Puts a value into a parameter."""

    def write(self, variables: list[Any], *nodes: Any, **attrs: Any) -> Any:
        return variables[0].assign(as_type_of(variables[0], nodes[0]))


class AssignAdd(WritingPrimitive):
    """Adds a value to a parameter."""

    def write(self, variables: list[Any], *nodes: Any, **attrs: Any) -> Any:
        return variables[0].assign_add(as_type_of(variables[0], nodes[0]))


class AssignSub(WritingPrimitive):
    """Subtracts a value from a parameter."""

    def write(self, variables: list[Any], *nodes: Any, **attrs: Any) -> Any:
        return variables[0].assign_sub(as_type_of(variables[0], nodes[0]))


class Depend(Primitive):
    """A value, after an expression was computed."""

    def __call__(self, value: Any, expr: Any) -> Any:
        if not tracing():
            return value
        before = [one.raw().op for one in flat(expr) if isinstance(one, Tensor)]
        with tf.control_dependencies(before):
            later = [tf.identity(one.raw()) if isinstance(one, Tensor) else one for one in flat(value)]
        return wrap(rebuilt(value, iter(later)))


class ControlDepend(Primitive):
    """Lets an operator run after another.  Parameters are read and written in the order of the program without it."""

    defaults = (("depend_mode", 0),)

    def __call__(self, src: Any, dst: Any) -> Any:
        if not tracing():
            return dst
        first = [one.raw().op for one in flat(src) if isinstance(one, Tensor)]
        for one in flat(dst):
            if isinstance(one, Tensor) and not one.is_parameter:
                _run_after(one.raw().op, first)
        return Tensor(True)


def _run_after(operation: Any, first: list[Any]) -> None:
    """Adds edges of order to an operation, but for those that would close a ring."""
    needed = _ancestors(operation)
    known = set(operation.control_inputs)
    fresh = [one for one in dict.fromkeys(first) if one not in known and one is not operation and one not in needed]
    operation._add_control_inputs([one for one in fresh if operation not in _ancestors(one)])


def _ancestors(operation: Any) -> set[Any]:
    seen, waiting = {operation}, [operation]
    while waiting:
        one = waiting.pop()
        for before in (*(tensor.op for tensor in one.inputs), *one.control_inputs):
            if before not in seen:
                seen.add(before)
                waiting.append(before)
    return seen - {operation}


class Partial(Primitive):
    """A function with its first arguments bound."""

    def __call__(self, function: Any, *bound: Any) -> Any:
        return functools.partial(function, *bound)


class identity(Primitive):
    """The value itself."""

    def __call__(self, x: Any) -> Any:
        return x


class StopGradient(Primitive):
    """A value through which no gradient flows."""

    def __call__(self, x: Any) -> Any:
        if isinstance(x, (tuple, list)):
            return tuple(map(self, x))
        return super().__call__(x) if isinstance(x, Tensor) else x

    compute = staticmethod(tf.stop_gradient)


class InplaceAssign(Primitive):
    """z, after y was put into the parameter x."""

    def __call__(self, x: Any, y: Any, z: Any) -> Any:
        return Depend()(z, Assign()(x, y))


def _confusion(labels: Any, predictions: Any, weights: Any = None, **attrs: Any) -> Any:
    found = tf.math.confusion_matrix(labels, predictions, attrs["num_classes"], weights=weights)
    return tf.cast(found, getattr(tf, attrs["dtype"]))


ConfusionMatrix = primitive("ConfusionMatrix", _confusion, num_classes=2, dtype="int32")
PopulationCount = primitive("PopulationCount", lambda x: tf.raw_ops.PopulationCount(x=x))

__all__ = [
    "Assign", "AssignAdd", "AssignSub", "ConfusionMatrix", "ControlDepend", "Depend", "InplaceAssign", "Partial",
    "PopulationCount", "StopGradient", "identity", *_box_ops.__all__,
]  # fmt: skip
