"""Primitives that print, record and check, and those that look at gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mindspore._device.operation import apply
from mindspore._device.trace import current_trace, tracing
from mindspore.common.tensor import Tensor
from mindspore.ops.primitive import Primitive
from npu_bridge.npu_init import tf


def _told(*values: Any) -> Any:
    for value in values:
        print(value.decode() if isinstance(value, bytes) else value, flush=True)
    return np.int32(0)


class Print(Primitive):
    """Prints texts and tensors, each on a line, whenever the graph is run."""

    def __call__(self, *given: Any) -> Any:
        if not tracing():
            _told(*given)
            return given
        nodes = [one.raw() if isinstance(one, Tensor) else tf.constant(str(one)) for one in given]
        trace = current_trace()
        before = [op for ops in trace.last_write.values() for op in ops]
        with tf.control_dependencies(before):
            trace.written.append(tf.py_func(_told, nodes, tf.int32).op)
        return given


class _Summary(Primitive):
    """A record for MindInsight, which is not simulated: it is accepted and written nowhere."""

    def __call__(self, name: str, value: Any) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{self.name}({name!r}, ...): the first argument is the record's name, a text")


class ScalarSummary(_Summary):
    """Accepts a number for MindInsight."""


class TensorSummary(_Summary):
    """Accepts a tensor for MindInsight."""


class ImageSummary(_Summary):
    """Accepts images for MindInsight."""


class HistogramSummary(_Summary):
    """Accepts numbers for MindInsight."""


class Assert(Primitive):
    """Stops the run where a condition does not hold, with the first values of tensors."""

    defaults = (("summarize", 3),)

    def __call__(self, condition: Any, inputs: Any) -> None:
        if not tracing():
            if not bool(condition):
                raise RuntimeError(f"Assert: the condition is false for {inputs}")
            return
        nodes = [one.raw() if isinstance(one, Tensor) else tf.constant(one) for one in inputs]
        node = condition.raw() if isinstance(condition, Tensor) else tf.constant(condition)
        current_trace().written.append(tf.Assert(node, nodes, self.summarize))


class InsertGradientOf(Primitive):
    """The tensor itself, whose gradient a function is applied to."""

    defaults: tuple[tuple[str, Any], ...] = (("f", None),)

    def __call__(self, x: Tensor) -> Any:
        return apply((self.name, self.f), lambda node: _with_gradient_of(node, self.f), x)


def _with_gradient_of(node: Any, function: Callable[[Any], Any]) -> Any:
    @tf.custom_gradient
    def whole(value: Any) -> Any:
        def gradient(of_output: Any) -> Any:
            found = function(Tensor(of_output))
            return found.raw() if isinstance(found, Tensor) else found

        return tf.identity(value), gradient

    return whole(node)


class HookBackward(Primitive):
    """The tensor itself, whose gradient a function sees and may replace."""

    defaults: tuple[tuple[str, Any], ...] = (("hook_fn", None), ("cell_id", ""))

    def __call__(self, x: Tensor) -> Any:
        def seen(gradient: Tensor) -> Any:
            found = self.hook_fn((gradient,))
            found = found[0] if isinstance(found, tuple) else found
            return gradient if found is None else found

        return apply((self.name, self.hook_fn), lambda node: _with_gradient_of(node, seen), x)


RECORDED = ("HistogramSummary", "ImageSummary", "ScalarSummary", "TensorSummary")
"""Names that are accepted and change nothing."""
__all__ = [
    "Assert", "HistogramSummary", "HookBackward", "ImageSummary", "InsertGradientOf", "Print", "ScalarSummary",
    "TensorSummary",
]  # fmt: skip
