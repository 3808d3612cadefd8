"""``tf.contrib.rnn.python.ops.core_rnn_cell``: dense layers over several inputs, and the cells around a cell.

Source: tensorflow/contrib/rnn/python/ops/core_rnn_cell.py of TF 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from npu_bridge._contrib.rnn import *  # noqa: F403


class _Linear:
    """The sum of matrix products of some inputs (batch, depth), with a bias; its variables are made once.

    Raises: ValueError without inputs, or when one has another rank or unknown depth.
    """

    def __init__(
        self, args: Any, output_size: int, build_bias: bool, bias_initializer: Any = None, kernel_initializer: Any = None
    ) -> None:
        inputs = _as_list(args)
        depth = 0
        for shape in (value.shape for value in inputs):
            if shape.ndims != 2 or shape.dims[1].value is None:
                raise ValueError(f"linear expects inputs of rank 2 and known depth, got {[value.shape for value in inputs]}")
            depth += shape.dims[1].value
        dtype = inputs[0].dtype
        self._weights = tf.get_variable("kernel", [depth, output_size], dtype=dtype, initializer=kernel_initializer)
        self._biases = None
        if build_bias:
            initializer = bias_initializer or tf.constant_initializer(0.0, dtype=dtype)
            self._biases = tf.get_variable("bias", [output_size], dtype=dtype, initializer=initializer, partitioner=None)

    def __call__(self, args: Any) -> tf.Tensor:
        inputs = _as_list(args)
        product = tf.matmul(inputs[0] if len(inputs) == 1 else tf.concat(inputs, 1), self._weights)
        return product if self._biases is None else tf.nn.bias_add(product, self._biases)


def _as_list(args: Any) -> list[Any]:
    if args is None or (isinstance(args, list | tuple) and not args):
        raise ValueError("`args` must be specified")
    return list(args) if isinstance(args, list | tuple) else [args]


def _linear(args: Any, output_size: int, bias: bool, bias_initializer: Any = None, kernel_initializer: Any = None) -> tf.Tensor:
    """``_Linear`` made and applied."""
    return _Linear(args, output_size, bias, bias_initializer, kernel_initializer)(args)
