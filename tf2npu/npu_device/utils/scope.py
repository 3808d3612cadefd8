"""Context managers that put an attribute on every operation that a function is traced with inside of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from tensorflow.python.eager import context
from tensorflow.python.framework import ops

from npu_runtime.importers.tensorflow.device_calls import attribute


@contextmanager
def _attributes(**values: int | bool) -> Iterator[None]:
    """Eager operations have no attributes of a graph, and run on the host: there the scope changes nothing."""
    if context.executing_eagerly():
        yield
        return
    with ops.get_default_graph()._attr_scope({name: attribute(value) for name, value in values.items()}):
        yield


def keep_dtype_scope() -> AbstractContextManager[None]:
    """Operations inside keep their dtypes under mixed precision."""
    return _attributes(_keep_dtype=1)


def npu_recompute_scope() -> AbstractContextManager[None]:
    """Operations inside may be computed again in the backward pass; the attribute is recorded."""
    return _attributes(_recompute=True)


def npu_optimizer_scope() -> AbstractContextManager[None]:
    """Operations inside belong to the optimizer."""
    return _attributes(_optimizer=True)


def npu_gradients_scope() -> AbstractContextManager[None]:
    """Operations inside belong to the backward pass."""
    return _attributes(_backward=True)
