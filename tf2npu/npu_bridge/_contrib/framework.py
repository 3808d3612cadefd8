"""``tf.contrib.framework``: argument scopes, variables and checkpoints, out of ``tf_slim`` and TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow import TensorSpec, argsort, is_tensor, sort
from tensorflow.python.framework.ops import prepend_name_scope, strip_name_scope
from tensorflow.python.framework.smart_cond import smart_case, smart_cond, smart_constant_value
from tensorflow.python.framework.sparse_tensor import convert_to_tensor_or_sparse_tensor
from tensorflow.python.framework.tensor_spec import BoundedTensorSpec
from tensorflow.python.ops import confusion_matrix
from tensorflow.python.ops.check_ops import assert_same_float_dtype, assert_scalar
from tensorflow.python.util import nest
from tensorflow.python.util.deprecation import deprecated, deprecated_arg_values, deprecated_args
from tf_slim.ops.arg_scope import add_arg_scope, arg_scope, arg_scoped_arguments, current_arg_scope, has_arg_scope
from tf_slim.ops.framework_ops import get_graph_from_inputs, get_name_scope
from tf_slim.ops.variables import (
    VariableDeviceChooser,
    add_model_variable,
    assert_global_step,
    assert_or_get_global_step,
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    assign_from_values,
    assign_from_values_fn,
    create_global_step,
    filter_variables,
    get_global_step,
    get_local_variables,
    get_model_variables,
    get_or_create_global_step,
    get_trainable_variables,
    get_unique_variable,
    get_variable_full_name,
    get_variables,
    get_variables_by_name,
    get_variables_by_suffix,
    get_variables_to_restore,
    global_variable,
    local_variable,
    model_variable,
    variable,
)

__all__ = [
    "BoundedTensorSpec", "TensorSpec", "VariableDeviceChooser", "add_arg_scope", "add_model_variable", "arg_scope",
    "arg_scoped_arguments", "argsort", "assert_global_step", "assert_or_get_global_step", "assert_same_float_dtype",
    "assert_scalar", "assert_scalar_int", "assign_from_checkpoint", "assign_from_checkpoint_fn", "assign_from_values",
    "assign_from_values_fn", "convert_to_tensor_or_sparse_tensor", "create_global_step", "current_arg_scope", "deprecated",
    "deprecated_arg_values", "deprecated_args", "filter_variables", "get_global_step", "get_graph_from_inputs",
    "get_local_variables", "get_model_variables", "get_name_scope", "get_or_create_global_step", "get_placeholders",
    "get_trainable_variables", "get_unique_variable", "get_variable_full_name", "get_variables", "get_variables_by_name",
    "get_variables_by_suffix", "get_variables_to_restore", "global_variable", "has_arg_scope", "init_from_checkpoint",
    "is_tensor", "list_variables", "load_checkpoint", "load_variable", "local_variable", "model_variable", "nest",
    "prepend_name_scope", "py_func", "reduce_sum_n", "remove_squeezable_dimensions", "smart_case", "smart_cond",
    "smart_constant_value", "sort", "strip_name_scope", "variable", "with_same_shape", "with_shape",
]  # fmt: skip


def assert_scalar_int(tensor: Any, name: str | None = None) -> tf.Tensor:
    """The tensor, when it is an int32 or int64 scalar. Raises: ValueError otherwise."""
    tensor = tf.convert_to_tensor(tensor)
    if tensor.dtype.base_dtype not in (tf.int32, tf.int64):
        raise ValueError(f"{tensor.name} must be int32 or int64, got {tensor.dtype.name}")
    return assert_scalar(tensor, name)


def get_placeholders(graph: tf.Graph) -> list[tf.Tensor]:
    """All placeholders of a graph."""
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]


def reduce_sum_n(tensors: Sequence[tf.Tensor], name: str | None = None) -> tf.Tensor:
    """The sum of all elements of all tensors. Raises: ValueError without tensors."""
    if not tensors:
        raise ValueError("tensors is empty")
    with tf.name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [tf.reduce_sum(tensor, name=tensor.op.name) for tensor in tensors]
        return sums[0] if len(sums) == 1 else tf.add_n(sums, name=scope)


def with_same_shape(expected_tensor: tf.Tensor, tensor: tf.Tensor) -> tf.Tensor:
    """``tensor`` with an assertion that its shape is that of ``expected_tensor``."""
    with tf.name_scope("with_same_shape"):
        if expected_tensor.shape.is_fully_defined():
            return with_shape(expected_tensor.shape.as_list(), tensor)
        return with_shape(tf.shape(expected_tensor), tensor)


def with_shape(expected_shape: Any, tensor: tf.Tensor) -> tf.Tensor:
    """``tensor`` with an assertion on its shape, at once where it is known. Raises: ValueError when it cannot fit."""
    static = tf.get_static_value(expected_shape) if tf.is_tensor(expected_shape) else expected_shape
    if static is not None:
        return tf.ensure_shape(tensor, static)
    same = tf.reduce_all(tf.equal(tf.cast(expected_shape, tf.int32), tf.shape(tensor)))
    with tf.control_dependencies([tf.Assert(same, ["wrong shape for", tensor.name, expected_shape, tf.shape(tensor)])]):
        return tf.identity(tensor)


def init_from_checkpoint(checkpoint_dir: str, assignment_map: Mapping[Any, Any]) -> None:
    """Initialise variables with values of a checkpoint, given as a file or a folder."""
    tf.train.init_from_checkpoint(checkpoint_dir, assignment_map)


def list_variables(checkpoint_dir: str) -> list[tuple[str, list[int]]]:
    """Names and shapes of a checkpoint's variables."""
    return tf.train.list_variables(checkpoint_dir)


def load_checkpoint(filepattern: str) -> Any:
    """A reader of a checkpoint."""
    return tf.train.load_checkpoint(filepattern)


def load_variable(checkpoint_dir: str, name: str) -> Any:
    """The value of a variable in a checkpoint."""
    return tf.train.load_variable(checkpoint_dir, name)


def remove_squeezable_dimensions(predictions: Any, labels: Any, name: str | None = None) -> tuple[Any, Any]:
    """Predictions and labels, without the last dimension where the ranks differ by one and it is 1."""
    labels, predictions = confusion_matrix.remove_squeezable_dimensions(labels, predictions, name=name)
    return predictions, labels


def py_func(
    func: Callable[..., Any],
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    output_types: Any = None,
    output_shapes: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """``tf.py_func`` for structures of arguments and of results.

    output_types: a structure of dtypes, the results' structure; None when there are none.  Raises: ValueError without
    output_types when output_shapes are given.
    """
    if output_types is None and output_shapes is not None:
        raise ValueError("output_shapes are given and output_types are not")
    inputs = (list(args), dict(kwargs or {}))
    flat = [part for part in nest.flatten(inputs) if tf.is_tensor(part)]

    def call(*values: Any) -> Any:
        left = iter(values)
        parts = [next(left) if tf.is_tensor(part) else part for part in nest.flatten(inputs)]
        positional, named = nest.pack_sequence_as(inputs, parts)
        result = func(*positional, **named)
        return np.int64(1) if output_types is None else nest.flatten_up_to(output_types, result)

    if output_types is None:
        return tf.py_func(call, flat, tf.int64, stateful=stateful, name=name)
    results = tf.py_func(call, flat, nest.flatten(output_types), stateful=stateful, name=name)
    if output_shapes is not None:
        for result, shape in zip(results, nest.flatten_up_to(output_types, output_shapes), strict=True):
            result.set_shape(shape)
    return nest.pack_sequence_as(output_types, results)
