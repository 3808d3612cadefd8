"""Cases of npu_runtime.kernels.depthwise: forward and both gradients of the same geometry."""

import numpy as np

from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.base import all_kernels
from tests.kernels.harness import Case, arr, case

GEOMETRY = [
    ((2, 7, 6, 3), (3, 3, 3, times), stride, padding) for times in (1, 2) for stride in (1, 2) for padding in ("SAME", "VALID")
] + [
    ((1, 5, 5, 4), (1, 1, 4, 1), 1, "SAME"),
    ((1, 5, 6, 4), (1, 1, 4, 3), 3, "SAME"),
    ((2, 3, 3, 2), (5, 4, 2, 2), 1, "SAME"),
    ((3, 40, 41, 32), (3, 3, 32, 1), 1, "SAME"),
    ((2, 50, 51, 24), (5, 3, 24, 2), 2, "VALID"),
    ((1, 60, 61, 96), (3, 3, 96, 1), 2, "SAME"),
    ((2, 9, 8, 130), (3, 3, 130, 1), 2, "SAME"),
    ((2, 5, 4, 6), (5, 4, 6, 2), 2, "SAME"),
    ((2, 7, 8, 3), (2, 2, 3, 2), 3, "SAME"),
    ((2, 30, 1, 40), (3, 1, 40, 1), 1, "SAME"),
    ((5, 28, 30, 144), (3, 1, 144, 1), 1, "SAME"),
    ((5, 28, 30, 144), (1, 3, 144, 1), 2, "SAME"),
    ((3, 57, 59, 72), (3, 3, 72, 1), 1, "SAME"),
]  # fmt: skip


def triple(
    x: tuple[int, ...], w: tuple[int, ...], stride: int, padding: str, dtype: str = "float32", **attrs: object
) -> list[Case]:
    """The op and its two gradients."""
    name = f"{dtype}-{x}-{w}-{stride}-{padding}".replace(" ", "")
    keywords = {"strides": [1, stride, stride, 1], "padding": padding, **attrs}
    op = "DepthwiseConv2dNative"
    shape = all_kernels()[op].infer([Spec(x), Spec(w)], keywords)[0] or ()
    image, weights = arr(*x, dtype=dtype), arr(*w, dtype=dtype, seed=1)
    dy = arr(*(n or 0 for n in shape), dtype=dtype, seed=2)
    return [
        case(op, image, weights, id=name, **keywords),
        case(f"{op}BackpropInput", np.array(x, np.int32), weights, dy, id=name, **keywords),
        case(f"{op}BackpropFilter", image, np.array(w, np.int32), dy, id=name, **keywords),
    ]


CASES = [
    *[one for geometry in GEOMETRY for one in triple(*geometry)],
    *[one for dtype in ("float16", "bfloat16") for one in triple((2, 7, 6, 3), (3, 3, 3, 2), 1, "SAME", dtype)],
    *triple((2, 7, 6, 3), (3, 3, 3, 2), 2, "EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0]),
    *triple((2, 4, 5, 6), (3, 3, 6, 1), 1, "EXPLICIT", explicit_paddings=[0, 0, 4, 1, 3, 4, 0, 0]),  # some outputs see nothing
    *triple((2, 5, 4, 3), (2, 3, 3, 2), 2, "EXPLICIT", explicit_paddings=[0, 0, 3, 4, 4, 3, 0, 0]),
]
