"""``tf.contrib.compiler.xla``: asking for a compiler changes nothing here, because the device compiles the whole graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorflow.python.compiler.xla.xla import check_function_argument_count, compile, is_flat  # the names of TF 1.15

__all__ = ["check_function_argument_count", "compile", "estimator_model_fn", "is_flat"]


def estimator_model_fn(target_model_fn: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """The model function as it is; without one, a decorator that gives back what it decorates."""
    return (lambda function: function) if target_model_fn is None else target_model_fn
