"""Cases of npu_runtime.kernels.conv.conv."""

from typing import Any

import numpy as np

from tests.kernels.harness import Case, arr, case


def conv(x: tuple[int, ...], w: tuple[int, ...], stride: tuple[int, int] = (1, 1), padding: str = "SAME",
         dilation: tuple[int, int] = (1, 1), dtype: str = "float32", **attrs: Any) -> Case:  # fmt: skip
    """A Conv2D of an image shape and a filter shape."""
    name = f"{dtype}-{x}-{w}-{stride}-{padding}-{dilation}".replace(" ", "")
    return case(
        "Conv2D", arr(*x, dtype=dtype), arr(*w, dtype=dtype, seed=1), id=name, strides=[1, *stride, 1],
        padding=padding, dilations=[1, *dilation, 1], **attrs,
    )  # fmt: skip


WINOGRAD = [
    ((15, 14, 15, 120), (3, 3, 120, 100)),
    ((2, 61, 47, 110), (3, 3, 110, 64)),
    ((30, 11, 12, 80), (3, 3, 80, 96)),
    ((1, 20, 300, 96), (3, 3, 96, 96)),
    ((9, 14, 13, 130), (3, 3, 130, 120)),
    ((3, 26, 25, 96), (5, 5, 96, 160)),
    ((3, 29, 30, 130), (2, 3, 130, 128)),
]
"""Images and filters for which Winograd's algorithm is taken: odd sizes, several images or parts of one in a block, chunks."""

FEW_CHANNELS = [
    ((3, 22, 22, 16), (3, 3, 16, 17)),
    ((1, 90, 70, 20), (2, 4, 20, 9)),
    ((5, 24, 25, 32), (5, 5, 32, 11)),
    ((15, 13, 15, 56), (3, 3, 56, 57)),
]
"""Images and filters for which Winograd's algorithm is taken along the rows only."""

SMALL_IMAGES = [((40, 5, 5, 90), (5, 5, 90, 60)), ((40, 5, 4, 90), (5, 4, 90, 60))]
"""Images and filters so that much of a window is padding, or of that of the gradient by the image."""

COLUMNS = [
    conv((33, 7, 7, 96), (5, 5, 96, 128)),
    conv((34, 14, 13, 64), (5, 4, 64, 128), (2, 2)),
    conv((9, 7, 7, 256), (5, 5, 256, 128)),
    conv((34, 15, 14, 80), (5, 5, 80, 64), (2, 1), "VALID"),
]
"""Convolutions of small images by minimal filtering along the rows and a product for each column: with and without a stride,
in two blocks or one."""

ONE_CHANNEL = [
    conv((3, 29, 34, 1), (5, 5, 1, 64), (2, 2)),
    conv((2, 28, 33, 2), (3, 4, 2, 70), (1, 1), "VALID"),
    conv((2, 28, 33, 1), (3, 2, 1, 70), (3, 1)),
    conv((2, 29, 30, 1), (3, 2, 1, 70), dilation=(2, 3)),
]
"""Images of so few channels that the gradient by them is scattered tap by tap."""

GEOMETRY = ONE_CHANNEL + COLUMNS + [
    conv((2, 7, 6, 3), (3, 3, 3, 4), stride, padding)
    for stride in ((1, 1), (2, 2), (1, 2), (3, 2))
    for padding in ("SAME", "VALID")
] + [
    conv((2, 9, 8, 3), (3, 2, 3, 4), (1, 1), padding, dilation)
    for dilation in ((2, 2), (1, 3), (2, 1))
    for padding in ("SAME", "VALID")
] + [
    conv((2, 8, 8, 5), (1, 1, 5, 6)),
    conv((2, 8, 9, 5), (1, 1, 5, 6), (2, 2)),
    conv((2, 8, 9, 5), (1, 1, 5, 6), (2, 3), "VALID"),
    conv((2, 5, 5, 1), (5, 5, 1, 2)),
    conv((1, 2, 2, 3), (5, 5, 3, 2)),
    conv((2, 5, 5, 3), (5, 5, 3, 2), (1, 1), "VALID"),
    conv((2, 4, 5, 3), (2, 4, 3, 1), (4, 4)),
    conv((1, 7, 6, 6), (3, 3, 2, 9)),
    conv((2, 8, 8, 4), (3, 3, 1, 8), (2, 2)),
    conv((40, 9, 9, 16), (3, 3, 16, 20)),
    conv((1, 70, 60, 8), (3, 3, 8, 5), (2, 2)),
    conv((3, 29, 30, 3), (7, 7, 3, 16), (2, 2)),
    conv((6, 28, 28, 1), (5, 5, 1, 32)),
    *[conv(x, w, (1, 1), padding) for padding in ("SAME", "VALID") for x, w in WINOGRAD + FEW_CHANNELS + SMALL_IMAGES],
]  # fmt: skip

EXPLICIT = [
    case("Conv2D", arr(2, 7, 6, 3), arr(3, 3, 3, 4), strides=[1, *stride, 1], padding="EXPLICIT", explicit_paddings=pads)
    for pads in ([0, 0, 1, 2, 3, 0, 0, 0], [0, 0, 0, 0, 0, 1, 0, 0])
    for stride in ((1, 1), (2, 2))
]

TYPES = [conv((2, 7, 6, 16), (3, 3, 16, 4), (1, 1), "SAME", (1, 1), t) for t in ("float16", "bfloat16", "int32")]

VALUES = [
    case("Conv2D", np.array([1, np.nan, 2, np.inf, 3, 4], "f").reshape(1, 1, 6, 1), arr(1, 2, 1, 1), id="nan",
         strides=[1, 1, 1, 1], padding="VALID"),
]  # fmt: skip

CASES = GEOMETRY + EXPLICIT + TYPES + VALUES
