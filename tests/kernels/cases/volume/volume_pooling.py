"""Cases of npu_runtime.kernels.volume.volume_pooling."""

from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from tests.kernels.cases.volume.volumes import out_shape
from tests.kernels.harness import Case, arr, call, case, i32

Shape = tuple[int, ...]


def pools(x: np.ndarray, window: Shape, strides: Shape, padding: str) -> list[Case]:
    """Both pools and their gradients."""
    attrs: dict[str, Any] = {"ksize": [1, *window, 1], "strides": [1, *strides, 1], "padding": padding}
    attrs["id"] = f"{x.dtype}-{x.shape}-{window}-{strides}-{padding}".replace(" ", "")
    largest = case("MaxPool3D", x, **attrs)
    dy = arr(*out_shape(x.shape, (*window, 1, x.shape[4]), strides, padding), dtype=x.dtype.name)
    return [
        largest,
        case("AvgPool3D", x, **attrs),
        case("MaxPool3DGrad", x, call(largest, largest.flat())[0], dy, **attrs),
        case("AvgPool3DGrad", i32(*x.shape), dy, **attrs),
    ]


SHAPES = [
    ((2, 5, 6, 7, 3), (2, 2, 2), (2, 2, 2), "SAME"),
    ((2, 5, 6, 7, 3), (2, 2, 2), (2, 2, 2), "VALID"),
    ((2, 5, 6, 7, 3), (3, 2, 1), (1, 2, 3), "SAME"),
    ((2, 5, 6, 7, 3), (3, 3, 3), (1, 1, 1), "VALID"),
    ((1, 1, 4, 4, 2), (1, 2, 2), (1, 2, 2), "VALID"),
    ((1, 4, 4, 4, 1), (4, 4, 4), (1, 1, 1), "SAME"),
]
# Alone, TensorFlow's gradient goes to all equal elements, behind its MaxPool3D to the first: tests/kernels/test_volumes.py.
TIED = arr(1, 4, 4, 4, 2, dtype="int32", low=0, high=3).astype(np.float32)
DISTINCT = np.argsort(arr(1, 4, 4, 4, 2).reshape(-1)).reshape(1, 4, 4, 4, 2).astype(dt.to_numpy("bfloat16"))

CASES = [
    *[one for shape, *rest in SHAPES for one in pools(arr(*shape), *rest)],
    *pools(DISTINCT, *SHAPES[0][1:]),  # TensorFlow's CPU has no fp16 here
    *pools(TIED, (2, 2, 2), (1, 1, 1), "VALID")[:2],
]
