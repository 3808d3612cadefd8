"""Unfit inputs raise TensorFlow's error in TensorFlow's words: both sides run the same op on the same bad inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import op_def_registry

from npu_runtime.errors import InvalidArgument
from npu_runtime.kernels.base import all_kernels
from tests.kernels.harness import arr, i32

SAME: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": "SAME"}
POOL: dict[str, Any] = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
XENT, SPARSE = "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"

# Not here: where a oneDNN kernel fails in its own words, or takes the process with it (an image of rank 3).
BAD: list[tuple[str, list[np.ndarray], dict[str, Any], str]] = [
    ("MatMul", [arr(8, 3), arr(4, 2)], {}, "Matrix size-incompatible: In[0]: [8,3], In[1]: [4,2]"),
    ("BatchMatMulV2", [arr(2, 8, 3), arr(2, 4, 2)], {}, "Matrix size-incompatible: In[0]: [2,8,3], In[1]: [2,4,2]"),
    ("BatchMatMulV2", [arr(2, 3, 4), arr(3, 4, 2)], {},
     "In[0] and In[1] must have compatible batch dimensions: [2,3,4] vs. [3,4,2]"),
    ("BatchMatMul", [arr(2, 3, 4), arr(3, 4)], {}, "In[0] and In[1] has different ndims: [2,3,4] vs. [3,4]"),
    ("BatchMatMul", [arr(2, 3, 4), arr(3, 4, 2)], {}, "In[0].dim(0) and In[1].dim(0) must be the same: [2,3,4] vs [3,4,2]"),
    ("Conv3D", [arr(1, 5, 5, 5, 3), arr(2, 2, 3, 2)], {"strides": [1] * 5, "padding": "SAME"},
     "filter must be 5-dimensional: [2,2,3,2]"),
    ("SpaceToDepth", [arr(2, 2, 1)], {"block_size": 2}, "Input rank should be 4 instead of 3"),
    ("DepthToSpace", [arr(2, 2, 4)], {"block_size": 2}, "Input rank should be: 4 instead of: 3"),
    ("BiasAdd", [arr(2, 3), arr(4)], {}, "Must provide as many biases as the last dimension of the input tensor: [4] vs. "),
    ("BiasAdd", [arr(2, 3), arr(3, 1)], {}, "Biases must be 1D: [3,1]"),
    ("BiasAdd", [arr(3), arr(3)], {}, "Input tensor must be at least 2D: [3]"),
    ("BiasAddGrad", [arr(3)], {}, "Input tensor must be at least 2D: [3]"),
    ("Conv2D", [arr(1, 5, 5, 3), arr(3, 3, 2, 4)], SAME, "input depth must be evenly divisible by filter depth: 3 vs 2"),
    ("MaxPoolGrad", [arr(1, 4, 4, 1), arr(1, 2, 2, 1), arr(1, 2, 3, 1)], POOL, "Expected grad shape to be "),
    ("FusedBatchNormV3", [arr(2, 2, 2), *[arr(2)] * 4], {"is_training": False}, "input must be 4-dimensional"),
    (XENT, [arr(2, 3), arr(2, 4)], {}, "logits and labels must be broadcastable: logits_size=[2,3] labels_size=[2,4]"),
    (SPARSE, [arr(2, 3), i32(1, 7)], {},
     "Received a label value of 7 which is outside the valid range of [0, 3).  Label values: 1 7"),
    (SPARSE, [arr(2, 3), i32(7, -1)], {},
     "Received a label value of -1 which is outside the valid range of [0, 3).  Label values: 7 -1"),
    (SPARSE, [arr(2, 3), i32(1, 1, 1)], {},
     "logits and labels must have the same first dimension, got logits shape [2,3] and labels shape [3]"),
    (SPARSE, [arr(2, 0), i32(0, 0)], {}, "Must have at least one class, but got logits shape [2,0]"),
    ("LRN", [arr(2, 3, 4)], {}, "in must be 4-dimensional"),
]  # fmt: skip


@pytest.mark.parametrize(("op", "inputs", "attrs", "message"), BAD, ids=[f"{op}-{n}" for n, (op, *_) in enumerate(BAD)])
def test_same_words(op: str, inputs: list[np.ndarray], attrs: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument) as mine:
        all_kernels()[op].function(*inputs, **attrs)
    assert message in str(mine.value)
    with pytest.raises(tf.errors.InvalidArgumentError) as theirs:
        run_with_unknown_shapes(op, inputs, attrs)
    assert message in str(theirs.value)


def run_with_unknown_shapes(op: str, inputs: list[np.ndarray], attrs: dict[str, Any]) -> None:
    """By TensorFlow, whose shape inference must not see the mistake before the kernel does."""
    with tf.Graph().as_default(), tf.Session() as sess:
        fed = [tf.placeholder(value.dtype) for value in inputs]
        names = [arg.name for arg in op_def_registry.get(op).input_arg]
        made = getattr(tf.raw_ops, op)(**dict(zip(names, fed, strict=True)), **attrs)
        sess.run(tf.nest.flatten(made)[0].op, dict(zip(fed, inputs, strict=True)))
