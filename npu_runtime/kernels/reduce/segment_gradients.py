"""Gradients of sparse segment reductions as rows and their numbers, without the rows that got none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from npu_runtime.cost.work import per_input_element
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.reduce.segment import DIVISORS, SPARSE, _check_gradient, _check_vectors, entry_weights
from npu_runtime.kernels.threads import row_indexing

Array = np.ndarray


def _shapes(grad: Spec, indices: Spec, segment_ids: Spec, count: Spec, /, **attrs: Any) -> list[Shape]:
    return [None if grad.shape is None else (None, *grad.shape[1:]), (None,)]


def _register(name: str) -> None:
    def gradient(grad: Array, indices: Array, segment_ids: Array, dense_output_dim0: Array, /) -> tuple[Array, Array]:
        _check_vectors(indices, segment_ids)
        named, places = np.unique(indices, return_inverse=True)
        made = np.zeros((len(named), *grad.shape[1:]), grad.dtype)
        if indices.size:
            _check_gradient(grad, indices, segment_ids, int(dense_output_dim0))
            inner = math.prod(grad.shape[1:])
            weights = entry_weights(name, segment_ids, grad)
            source = grad.reshape(grad.shape[0], inner)
            row_indexing.combine_picked(np.add, made.reshape(len(named), inner), places, source, segment_ids, weights)
        return made, named

    gradient.__doc__ = f"""Gradient of SparseSegment{name} for the rows that it read: (n, ...), numbers (n,) rising.

    Raises: InvalidArgument for an index or a segment number outside its range.
    Source: TensorFlow op `SparseSegment{name}GradV2`.
    """
    op = f"SparseSegment{name}GradV2"
    ranks = {"dense_output_dim0": 0}
    kernel(op, unit="vector", shape=_shapes, dtypes=SPARSE, estimate=per_input_element(2), ranks=ranks)(gradient)


for _name in DIVISORS:
    _register(_name)
