"""TensorFlow's checks of a callable made from options, which graph-mode Keras uses, when it is made and when it is called.

Source: TensorFlow's core/common_runtime/direct_session.cc (MakeCallable, RunCallable) and graph/subgraph.cc; its words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from tensorflow.python.framework import dtypes, errors_impl

from npu_runtime.dtypes import tensorflow_name


def check_names(graph: Any, names: Iterable[str]) -> None:
    """Raises: InvalidArgument for a tensor of a node that is not there, OutOfRange for an output that a node has not."""
    for name in names:
        node, _, output = name.partition(":")
        try:
            operation = graph.get_operation_by_name(node)
        except KeyError:
            text = f"Tensor {name}, specified in either feed_devices or fetch_devices was not found in the Graph"
            raise errors_impl.InvalidArgumentError(None, None, text) from None
        n_outputs = len(operation.outputs)
        if int(output or 0) >= n_outputs:
            known = f"Node '{node}' (type: '{operation.type}', num of outputs: {n_outputs})"
            raise errors_impl.OutOfRangeError(None, None, f"{known} does not have output {output or 0}")


def arrays_of(values: Sequence[Any], expected: Sequence[Any]) -> list[np.ndarray]:
    """The values as arrays.  expected: a DType of each; nothing is cast.

    Raises: InvalidArgument for another number of values or another type, Internal for None.
    """
    if len(values) != len(expected):
        raise errors_impl.InvalidArgumentError(None, None, f"Expected {len(expected)} feed tensors, but got {len(values)}")
    return [_array_of(value, dtype) for value, dtype in zip(values, expected, strict=True)]


def _array_of(value: Any, expected: Any) -> np.ndarray:
    if value is None:
        raise errors_impl.InternalError(None, None, "Unsupported object type NoneType")
    array = np.asarray(value)
    actual = dtypes.string if array.dtype.kind in "OSU" else dtypes.as_dtype(array.dtype)
    if actual != expected.base_dtype:
        names = (tensorflow_name(dtype.base_dtype.name) for dtype in (actual, expected))
        raise errors_impl.InvalidArgumentError(None, None, "Type mismatch: actual {} vs. expect {}".format(*names))
    return array.astype(object) if expected == dtypes.string else array
