"""Cases of npu_runtime.kernels.image.resampling."""

import numpy as np

from npu_runtime.kernels.image.resampling import FILTERS
from tests.kernels.harness import arr, case, i32

X = arr(2, 5, 7, 3)
SIZES = ((8, 10), (2, 3), (5, 7), (1, 1), (13, 1), (4, 14))


def pair(a: float, b: float) -> np.ndarray:
    return np.array([a, b], np.float32)


SUMS = {"rtol": 2e-5}  # TensorFlow adds the weighted pixels in another order
MODES = [{}, {"align_corners": True}, {"half_pixel_centers": True}]
CASES = [
    case("ResizeArea", arr(1, 1, 3, 2), i32(4, 2), align_corners=True, id="one row"),
    *[case("ResizeArea", X, i32(*size), align_corners=c, **SUMS) for size in SIZES for c in (False, True)],
    *[case("ResizeBicubic", X, i32(*size), **mode, **SUMS) for size in SIZES for mode in MODES],
    *[case("ResizeBicubicGrad", arr(2, *size, 3), X, **mode, **SUMS) for size in SIZES for mode in MODES],
    *[case(op, arr(1, 4, 4, 2, dtype=d, low=-90, high=90), i32(7, 3), **SUMS)
      for op in ("ResizeArea", "ResizeBicubic") for d in ("float16", "int32", "uint8", "int64", "int16", "int8", "bfloat16")],
    *[case("ScaleAndTranslate", X, i32(8, 10), pair(1.6, 1.4), pair(0, 0), kernel_type=k, antialias=a, **SUMS)
      for k in FILTERS for a in (False, True)],
    *[case("ScaleAndTranslate", X, i32(3, 4), pair(0.6, 0.5), pair(0.3, -0.7), kernel_type=k, antialias=a, **SUMS)
      for k in FILTERS for a in (False, True)],
    *[case("ScaleAndTranslateGrad", arr(2, 3, 4, 3), X, pair(0.6, 0.5), pair(0.3, -0.7), kernel_type=k, antialias=a, **SUMS)
      for k in ("lanczos3", "keyscubic", "triangle") for a in (False, True)],
    case("ScaleAndTranslate", arr(1, 4, 4, 2, dtype="uint8", low=0, high=255), i32(7, 3), pair(1.75, 0.75), pair(0, 0), **SUMS),
]  # fmt: skip
