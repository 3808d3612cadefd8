"""Gradients averaged over the ranks, whose errors name the variable and the way out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import tensorflow as tf
from npu_bridge.hccl import hccl_ops

from npu_runtime.importers.tensorflow.device_calls import set_attribute

_variable: ContextVar[str] = ContextVar("variable", default="")
"""The name of the variable whose gradient is being averaged; empty where a script averages tensors of its own."""


@contextmanager
def of_variable(gradient: tf.Tensor | tf.IndexedSlices, variable: Any) -> Iterator[None]:
    """While it is open, what is averaged is the gradient of a variable.

    Raises: TypeError where the gradient has a type that HCCL cannot add up.
    """
    name = _name(variable)
    _check_type(gradient, name)
    token = _variable.set(name)
    try:
        yield
    finally:
        _variable.reset(token)


def _name(variable: Any) -> str:
    return str(getattr(variable, "name", variable)).partition(":")[0]


def _check_type(gradient: tf.Tensor | tf.IndexedSlices, name: str) -> None:
    try:
        hccl_ops._check_dtype(gradient.dtype)
    except TypeError as error:
        raise TypeError(f"the gradient of {name} cannot be averaged over the ranks: {error}") from None


def gathered(slices: tf.IndexedSlices, rank_size: int, group: str) -> tuple[tf.Tensor, tf.Tensor]:
    """Values and indices of the slices of all ranks, in nodes that know whose they are: the variable's, or another node's."""
    name = _variable.get() or slices.values.op.name
    values, indices = (hccl_ops.allgather(part, rank_size, group) for part in (slices.values, slices.indices))
    for part in (values, indices):
        set_attribute(part.op, "slices_of", name)
    return values, indices


def averaged_pairs(pairs: Iterable[tuple[Any, Any]], average: Any) -> list[tuple[Any, Any]]:
    """Gradients and variables with each gradient averaged that is there."""
    done = []
    for gradient, variable in pairs:
        if gradient is not None:
            with of_variable(gradient, variable):
                gradient = average(gradient)
        done.append((gradient, variable))
    return done
