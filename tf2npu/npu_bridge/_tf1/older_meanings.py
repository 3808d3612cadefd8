"""Functions and classes at the root of TensorFlow whose meaning changed after 1.15, as they were.

Source: tensorflow/python/ops/math_ops.py, array_ops.py and variables.py of TF 1.15; what it gave is recorded in
tests/fixtures/shim/calls.
"""

from __future__ import annotations

import _abc
import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any

from npu_bridge._tf1 import twins
from npu_bridge._tf1.journal import Journal
from npu_bridge._tf1.tensor_class import public_names
from tensorflow.python.framework import ops
from tensorflow.python.framework.indexed_slices import IndexedSlices
from tensorflow.python.ops import array_ops, math_ops
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable
from tensorflow.python.ops.variable_v1 import VariableV1


def restore(journal: Journal) -> None:
    """Bind the functions in the API of TF1, and let each kind of variable be a ``tf.Variable``."""
    divide, identity = _of_what_is_given(math_ops.divide), _of_dense(array_ops.identity)
    for names in public_names():
        journal.set(names, "divide", divide)
        journal.set(names, "identity", identity)
    journal.set(vars(import_module(f"{twins.V1}.math")), "divide", divide)
    _let_resource_variables_be_variables(journal)


def _of_what_is_given(divide: Callable[..., Any]) -> Callable[..., Any]:
    """A quotient that stays a number or an array where both sides are one, so that scripts can go on with it as such."""

    @functools.wraps(divide)
    def quotient(x: Any, y: Any, name: str | None = None) -> Any:
        return x / y if name is None else divide(x, y, name)

    return quotient


def _of_dense(identity: Callable[..., Any]) -> Callable[..., Any]:
    """Slices of a gradient become a whole tensor, and the optimizer behind takes its dense update."""

    @functools.wraps(identity)
    def same(input: Any, name: str | None = None) -> Any:
        return identity(ops.convert_to_tensor(input) if isinstance(input, IndexedSlices) else input, name)

    return same


def _let_resource_variables_be_variables(journal: Journal) -> None:
    """``isinstance(x, tf.Variable)``: in TensorFlow 2.15 no resource variable is below the class that TF1's name stands for."""
    VariableV1.register(BaseResourceVariable)
    journal.on_undo(lambda: _abc._reset_registry(VariableV1))
    journal.on_undo(lambda: _abc._reset_caches(VariableV1))
