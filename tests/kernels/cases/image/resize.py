"""Cases of npu_runtime.kernels.image.resize."""

import numpy as np

from tests.kernels.harness import Case, arr, case, i32

MODES = [{}, {"align_corners": True}, {"half_pixel_centers": True}]
SIZES = [(8, 10), (2, 3), (5, 7), (1, 1), (13, 1), (9, 21), (4, 14)]


def mode_id(x: np.ndarray, size: tuple[int, ...], mode: dict[str, bool]) -> str:
    return f"{x.dtype}-{x.shape}-{size}-{next(iter(mode), 'legacy')}".replace(" ", "")


def forward(op: str, x: np.ndarray, size: tuple[int, int], mode: dict[str, bool]) -> Case:
    return case(op, x, i32(*size), id=mode_id(x, size, mode), **mode)


def backward(op: str, grads: np.ndarray, to: tuple[int, int], mode: dict[str, bool], dtype: str = "float32") -> Case:
    image = arr(len(grads), *to, grads.shape[3], dtype=dtype)
    second = image if op == "ResizeBilinearGrad" else i32(*to)
    return case(op, grads, second, id=f"{dtype}-{mode_id(grads, to, mode)}", **mode)


X = arr(2, 5, 7, 3)
FORWARD = [forward(op, X, size, mode) for op in ("ResizeBilinear", "ResizeNearestNeighbor") for size in SIZES for mode in MODES]
BACKWARD = [
    backward(op, arr(2, *size, 4), (5, 7), mode)
    for op in ("ResizeBilinearGrad", "ResizeNearestNeighborGrad") for size in SIZES for mode in MODES
]  # fmt: skip
TYPES = ("float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64")
BY_TYPE = [
    forward(op, arr(2, 5, 7, 2, dtype=dtype, low=-90, high=90), (7, 4), {})
    for op in ("ResizeBilinear", "ResizeNearestNeighbor") for dtype in TYPES
] + [backward("ResizeBilinearGrad", arr(2, 6, 9, 3), (4, 5), {}, dtype) for dtype in ("float16", "bfloat16")] + [
    backward("ResizeNearestNeighborGrad", arr(2, 6, 9, 3, dtype=dtype), (4, 5), {})
    for dtype in ("float16", "uint8", "int8", "int32")
]  # fmt: skip
MORE = [
    forward(op, arr(*shape), size, {}) for op in ("ResizeBilinear", "ResizeNearestNeighbor")
    for shape, size in (((0, 4, 4, 2), (3, 3)), ((1, 1, 1, 1), (4, 4)), ((2, 32, 32, 16), (64, 64)))
]  # fmt: skip
BANDS = [
    forward(op, arr(*shape), size, mode) for op in ("ResizeBilinear", "ResizeNearestNeighbor") for mode in MODES
    for shape, size in (((1, 40, 30, 96), (90, 61)), ((1, 200, 30, 96), (70, 50)))
] + [
    backward("ResizeNearestNeighborGrad", arr(1, *size, 96), (70, 50), mode)
    for size in ((140, 100), (150, 90), (60, 101)) for mode in MODES
]  # fmt: skip

SPOILT = X.copy()
SPOILT[0, 1, 2], SPOILT[1, 4, 6] = np.inf, np.nan
ODD = [  # an image that keeps its size is copied, so what is not finite stays where it is
    *[forward("ResizeBilinear", SPOILT, X.shape[1:3], mode) for mode in MODES],
    *[backward("ResizeBilinearGrad", np.zeros((n, 3, 3, c), np.float32), (5, 7), {}) for n, c in ((0, 2), (2, 0), (0, 0))],
]  # fmt: skip

CASES = FORWARD + BACKWARD + BY_TYPE + MORE + BANDS + ODD
