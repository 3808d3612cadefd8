"""Cases of npu_runtime.kernels.pooling_gradients: the geometry of every forward case again, ties above all."""

from typing import Any

import numpy as np

from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.pool.pooling import max_pool, pool_shape
from tests.kernels.cases.pool import pooling as forward
from tests.kernels.harness import Case, arr, case, i32


def max_grad(x: np.ndarray, id: str, **attrs: Any) -> Case:
    """A MaxPoolGrad whose forward result is ours, which the forward cases hold against TensorFlow's."""
    y = max_pool(x, **attrs)
    return case("MaxPoolGrad", x, y, arr(*y.shape, dtype=x.dtype.name, seed=3), id=id, **attrs)


def avg_grad(x: np.ndarray, id: str, **attrs: Any) -> Case:
    shape = pool_shape(Spec(x.shape), **attrs)
    dy = arr(*(n or 0 for n in shape or ()), dtype=x.dtype.name, seed=3)
    return case("AvgPoolGrad", np.array(x.shape, np.int32), dy, id=id, **attrs)


def of_forward(one: Case) -> Case:
    made = max_grad if one.op == "MaxPool" else avg_grad
    return made(one.inputs[0], one.id, **one.attrs)


def tied(one: Case) -> Case:
    """The same with values that are equal in most windows, as after a relu."""
    x = np.maximum(np.rint(one.inputs[0]), 0).astype(one.inputs[0].dtype)
    return max_grad(x, f"ties-{one.id}", **one.attrs)


def second(one: Case, op: str = "MaxPoolGradGrad") -> Case:
    """The second gradient for the input and result of a MaxPoolGrad, and a gradient of the input's shape."""
    x, y, _ = one.inputs
    attrs = {name: value for name, value in one.attrs.items() if name != "explicit_paddings"}
    return case(op, x, y, arr(*x.shape, dtype=x.dtype.name, seed=4), id=one.id, **attrs)


SAME = {"ksize": [1, 3, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
WITH_HARD_EDGES = arr(2, 5, 6, 3)
WITH_HARD_EDGES[0, :, 0] = np.nan
WITH_HARD_EDGES[1, 0] = -np.inf
WITH_HARD_EDGES[1, :, 4:] = -np.inf
WITH_HARD_EDGES[1, 2, 2] = np.inf


def _is_defined(one: Case) -> bool:
    """TensorFlow refuses the mean's gradient for an image without channels."""
    return one.op == "MaxPool" or one.inputs[0].shape[3] > 0


BY_SHAPE = [of_forward(one) for one in forward.BY_SHAPE + forward.BY_TYPE if _is_defined(one)]
TIES = [tied(one) for one in forward.BY_SHAPE + forward.BY_TYPE if one.op == "MaxPool"]
MORE = [
    max_grad(forward.HARD, "nan", ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"),
    max_grad(WITH_HARD_EDGES, "nan-at-edges", **SAME),
    max_grad(np.zeros((2, 5, 6, 3), "f"), "zeros", **SAME),
    case("MaxPoolGrad", arr(1, 2, 2, 1), arr(1, 2, 2, 1).max(axis=(1, 2), keepdims=True), np.full((1, 1, 1, 1), np.inf, "f"),
         id="infinite gradient", ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"),
    max_grad(arr(2, 7, 6, 3), "explicit", ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="EXPLICIT",
             explicit_paddings=[0, 0, 1, 0, 2, 1, 0, 0]),
    case("MaxPoolGradV2", *max_grad(arr(2, 7, 6, 3), "", **SAME).inputs, i32(1, 3, 2, 1), i32(1, 2, 2, 1), padding="SAME"),
]  # fmt: skip

HALVES = [
    tied(case("MaxPool", arr(2, 6, 8, channels, dtype=dtype), id=f"{dtype}-{channels}-{kernel}-{stride}",
              ksize=[1, kernel, kernel, 1], strides=[1, stride, stride, 1], padding="VALID"))
    for dtype in ("float16", "bfloat16") for channels in (1, 2, 4) for kernel, stride in ((2, 2), (3, 2), (3, 1))
]  # fmt: skip

SECOND = [second(one) for one in BY_SHAPE + TIES + MORE[:3] if one.op == "MaxPoolGrad" and one.attrs["padding"] != "EXPLICIT"] + [
    case("MaxPoolGradGrad", arr(2, 4, 4, 3), np.zeros((2, 2, 2, 3), "f"), arr(2, 4, 4, 3), id="no such result",
         ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"),
    case("MaxPoolGradGradV2", *max_grad(arr(2, 7, 6, 3), "", **SAME).inputs[:2], arr(2, 7, 6, 3, seed=4), i32(1, 3, 2, 1),
         i32(1, 2, 2, 1), padding="SAME"),
]  # fmt: skip

CASES = BY_SHAPE + TIES + MORE + HALVES + SECOND
