"""Cases of npu_runtime.kernels.image.crop."""

import numpy as np

from tests.kernels.harness import arr, case, i32

IMAGE = arr(2, 6, 8, 3)
BOXES = np.array(
    [[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], [0.8, 0.6, 0.2, 0.1], [-0.3, -0.1, 0.5, 1.4], [0.5, 0.5, 0.5, 0.5]], np.float32
)
WHOSE = i32(0, 1, 1, 0, 1)
CROPS = [(4, 5), (1, 1), (3, 1), (6, 8), (7, 2)]
TYPES = ("float16", "int8", "uint8", "int16", "int32", "int64")
NO_BOXES = np.zeros((0, 4), np.float32)

FORWARD = [case("CropAndResize", IMAGE, BOXES, WHOSE, i32(*crop), method=method, extrapolation_value=value)
           for crop in CROPS for method, value in (("bilinear", 0.0), ("nearest", 1.5))] + [
    case("CropAndResize", arr(2, 6, 8, 2, dtype=dtype, low=-90, high=90), BOXES, WHOSE, i32(3, 4), id=dtype) for dtype in TYPES
] + [
    case("CropAndResize", arr(3, 9, 8, 24), arr(40, 4, low=-0.1, high=1.2), np.arange(40, dtype=np.int32) % 3, i32(11, 13),
         method=method, id=f"blocks-{method}") for method in ("bilinear", "nearest")
] + [
    case("CropAndResize", IMAGE, NO_BOXES, i32([]), i32(3, 3), id="no boxes"),
    case("CropAndResize", arr(2, 6, 8, 0), BOXES, WHOSE, i32(3, 3), id="no channels"),
]  # fmt: skip
BY_IMAGE = [
    case("CropAndResizeGradImage", arr(5, *crop, 3), BOXES, WHOSE, i32(2, 6, 8, 3), T="float32", method=method)
    for crop in CROPS for method in ("bilinear", "nearest")
] + [
    case("CropAndResizeGradImage", arr(5, 3, 3, 2), BOXES, WHOSE, i32(2, 6, 8, 2), T="float16", id="float16"),
    case("CropAndResizeGradImage", arr(0, 3, 3, 2), NO_BOXES, i32([]), i32(2, 6, 8, 2), T="float32", id="no boxes"),
]  # fmt: skip
BY_BOXES = [case("CropAndResizeGradBoxes", arr(5, *crop, 3), IMAGE, BOXES, WHOSE, method="bilinear") for crop in CROPS] + [
    case("CropAndResizeGradBoxes", arr(5, 3, 3, 2), arr(2, 6, 8, 2, dtype=dtype, low=-90, high=90), BOXES, WHOSE,
         method="bilinear", id=dtype) for dtype in ("float16", "int32", "uint8")
] + [case("CropAndResizeGradBoxes", arr(0, 3, 3, 3), IMAGE, NO_BOXES, i32([]), method="bilinear", id="no boxes")]  # fmt: skip

CASES = FORWARD + BY_IMAGE + BY_BOXES
