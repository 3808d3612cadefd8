"""Cases of npu_runtime.kernels.pool.pooling."""

from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from tests.kernels.harness import Case, arr, case, i32


def pool(op: str, x: np.ndarray, ksize: tuple[int, int], stride: tuple[int, int], padding: str, **attrs: Any) -> Case:
    name = f"{x.dtype.name}-{x.shape}-{ksize}-{stride}-{padding}".replace(" ", "")
    attrs.setdefault("id", name)
    return case(op, x, ksize=[1, *ksize, 1], strides=[1, *stride, 1], padding=padding, **attrs)


SHAPES = [
    (shape, ksize, stride, padding)
    for shape in ((2, 7, 6, 3), (2, 8, 8, 16))
    for ksize, stride in (((2, 2), (2, 2)), ((3, 3), (2, 2)), ((3, 2), (1, 1)), ((2, 3), (3, 1)), ((1, 1), (2, 2)))
    for padding in ("SAME", "VALID")
] + [
    ((0, 7, 6, 3), (2, 2), (2, 2), "SAME"),
    ((2, 7, 6, 0), (2, 2), (2, 2), "SAME"),
    ((1, 5, 5, 1), (5, 5), (5, 5), "VALID"),
    ((3, 7, 7, 40), (7, 7), (1, 1), "VALID"),
    ((2, 20, 17, 600), (20, 17), (2, 2), "SAME"),
    ((2, 20, 17, 600), (20, 17), (2, 2), "VALID"),
    ((2, 1, 1, 5), (1, 1), (1, 1), "VALID"),
    ((0, 7, 6, 3), (7, 6), (1, 1), "VALID"),
    ((1, 3, 4, 2), (7, 7), (1, 1), "SAME"),
    ((1, 4, 9, 1), (3, 3), (4, 5), "SAME"),
    ((3, 70, 60, 40), (3, 3), (2, 2), "SAME"),
]  # fmt: skip

HARD = np.array(
    [[np.nan, 1, 2, 3], [1, np.nan, 2, 3], [3, np.nan, np.nan, 1], [np.nan] * 4, [-np.inf] * 4,
     [np.nan, -np.inf, -np.inf, -np.inf], [np.inf, np.nan, 1, np.inf], [0.0, -0.0, 0.0, -0.0]], "float32",
).reshape(-1, 2, 2, 1)  # fmt: skip

BY_SHAPE = [pool(op, arr(*shape), *rest) for op in ("MaxPool", "AvgPool") for shape, *rest in SHAPES]
BY_TYPE = [
    pool(op, arr(2, 7, 6, 3, dtype=dtype, low=-90, high=90), (3, 3), (2, 2), "SAME")
    for op, dtype in [
        *[("MaxPool", dtype) for dtype in ("float16", "bfloat16", "int32", "int64", "uint8", "int8")],
        *[("AvgPool", dtype) for dtype in ("float16", "bfloat16")],
    ]
]
MORE = [
    pool("MaxPool", HARD, (2, 2), (2, 2), "VALID", id="nan"),
    pool("AvgPool", HARD, (2, 2), (2, 2), "VALID", id="nan"),
    pool("MaxPool", arr(2, 7, 6, 3), (3, 3), (2, 2), "EXPLICIT", explicit_paddings=[0, 0, 1, 0, 2, 1, 0, 0], id="explicit"),
    case("MaxPoolV2", arr(2, 7, 6, 3), i32(1, 3, 2, 1), i32(1, 2, 2, 1), padding="SAME"),
    case("MaxPoolV2", arr(2, 7, 6, 3), i32(1, 3, 2, 1), i32(1, 1, 2, 1), padding="VALID"),
]

# Taps added in bfloat16 would be off by one in the last place; TensorFlow itself adds float16 in float16.
TAPS = np.array([1, 1 + 2**-7, 2**-7], "f").astype(dt.to_numpy("bfloat16")).reshape(1, 3, 1, 1)
SUMMED_WIDE = [case("AvgPool", TAPS, ksize=[1, 3, 1, 1], strides=[1, 1, 1, 1], padding="VALID", rtol=1e-6, id="wide")]

CASES = SUMMED_WIDE + BY_SHAPE + BY_TYPE + MORE
