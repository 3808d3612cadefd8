"""Cases of npu_runtime.kernels.image.image_color."""

import numpy as np

from tests.kernels.harness import arr, case, scalar

X = arr(2, 5, 6, 3, low=0, high=1)
CORNERS = np.array([[[a, b, c] for b in (0, 0.5, 1) for c in (0, 0.5, 1)] for a in (0, 0.5, 1)], np.float32)
BLOCKS = arr(1, 150, 131, 3, low=0, high=1)

CASES = [
    *[case("AdjustContrastv2", x, scalar(1.5)) for x in (arr(2, 150, 131, 3), arr(1, 90, 77, 7), arr(1, 5, 6, 0))],
    *[case(op, BLOCKS, id="blocks") for op in ("RGBToHSV", "HSVToRGB")],
    *[case("AdjustHue", x, scalar(f), id=f"turn-{f}-{x.shape[1]}") for x in (BLOCKS, arr(2, 9, 7, 3)) for f in (-1.0, 0.3)],
    *[case("AdjustSaturation", x, scalar(f), id=f"times-{f}-{x.shape[1]}") for x in (BLOCKS, X * 9) for f in (1.2, -0.5)],
    *[
        case("AdjustContrastv2", x, scalar(f))
        for x in (X, arr(5, 6, 2), arr(0, 4, 4, 3), arr(2, 2, 3, 4, 1))
        for f in (0.0, 0.5, 3.0)
    ],
    *[case(op, x) for op in ("RGBToHSV", "HSVToRGB") for x in (X, CORNERS, arr(7, 3, low=0, high=1), arr(0, 3))],
    *[case(op, arr(2, 4, 3, low=0, high=1, dtype=d)) for op in ("RGBToHSV", "HSVToRGB") for d in ("float16", "bfloat16")],
    *[case("AdjustHue", x, scalar(f)) for x in (X, CORNERS, arr(1, 0, 4, 3)) for f in (-0.7, 0.0, 0.1, 1.0)],
    *[case("AdjustSaturation", x, scalar(f)) for x in (X, CORNERS, arr(1, 0, 4, 3)) for f in (0.0, 0.5, 2.0)],
]
