"""Values between eager code and the device."""

from __future__ import annotations

from typing import Any

import numpy as np
from tensorflow.core.framework import types_pb2
from tensorflow.python.eager import context
from tensorflow.python.framework import auto_control_deps_utils, constant_op, dtypes

from npu_runtime.graph.ops import HANDLES


def is_resource(tensor: Any) -> bool:
    """Whether an eager tensor is the handle of a resource."""
    return bool(tensor._datatype_enum() == types_pb2.DT_RESOURCE)


def is_handle(tensor: Any) -> bool:
    """Whether a tensor of a graph is a handle: of a resource, a list, a dataset."""
    return tensor.dtype.base_dtype.name in HANDLES


def fed_array(tensor: Any) -> np.ndarray:
    """The elements of an eager tensor, not copied; nobody may write them."""
    return np.asarray(tensor._numpy())


def eager_tensor(value: Any, dtype: Any) -> Any:
    """An eager tensor with what a program gave; `tf.constant` does the same behind some more calls."""
    return constant_op.convert_to_eager_tensor(value, context.context(), dtype)


def written_inputs(func_graph: Any) -> frozenset[int]:
    """Positions of the inputs of a function whose resources it may write.

    Source: TensorFlow's automatic control dependencies keep for each function the inputs that it only reads.
    """
    read = auto_control_deps_utils.get_read_only_resource_input_indices_graph(func_graph)
    return frozenset(i for i, tensor in enumerate(func_graph.inputs) if tensor.dtype == dtypes.resource) - frozenset(read)
