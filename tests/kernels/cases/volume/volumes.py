"""Cases of npu_runtime.kernels.volume.volumes."""

from typing import Any

from tests.kernels.harness import Case, arr, case, i32

Shape = tuple[int, ...]


def out_shape(x: Shape, w: Shape, strides: Shape, padding: str) -> Shape:
    extents = [-(-n // s) if padding == "SAME" else (n - k + s) // s for n, k, s in zip(x[1:4], w[:3], strides, strict=True)]
    return (x[0], *extents, w[4])


def three(x: Shape, w: Shape, strides: Shape, padding: str, dtype: str = "float32") -> list[Case]:
    """The convolution and both gradients. Sums of many products: their rounding grows with their number."""
    attrs: dict[str, Any] = {"strides": [1, *strides, 1], "padding": padding}
    attrs["id"] = f"{dtype}-{x}-{w}-{strides}-{padding}".replace(" ", "")
    if dtype == "float32":
        attrs["rtol"] = 1e-5
    of_filter = {"rtol": 1e-2} if dtype == "float16" else {}  # TensorFlow adds up in fp16
    dy = arr(*out_shape(x, w, strides, padding), dtype=dtype)
    image, weights = arr(*x, dtype=dtype), arr(*w, dtype=dtype)
    return [
        case("Conv3D", image, weights, **attrs),
        case("Conv3DBackpropInputV2", i32(*x), weights, dy, **attrs),
        case("Conv3DBackpropFilterV2", image, i32(*w), dy, **attrs | of_filter),
    ]


SHAPES = [
    ((2, 5, 6, 7, 3), (3, 3, 3, 3, 4), (1, 1, 1), "SAME"),
    ((2, 5, 6, 7, 3), (3, 3, 3, 3, 4), (1, 1, 1), "VALID"),
    ((2, 5, 6, 7, 3), (3, 2, 1, 3, 4), (2, 2, 2), "SAME"),
    ((2, 5, 6, 7, 3), (2, 3, 2, 3, 4), (2, 1, 3), "VALID"),
    ((1, 4, 4, 4, 2), (1, 1, 1, 2, 5), (1, 1, 1), "SAME"),
    ((1, 4, 4, 4, 2), (1, 3, 3, 2, 5), (1, 1, 1), "SAME"),
    ((1, 6, 3, 3, 2), (4, 1, 1, 2, 2), (2, 1, 1), "SAME"),
    ((1, 3, 3, 3, 1), (3, 3, 3, 1, 1), (1, 1, 1), "VALID"),
]
CASES = [
    *[one for shape in SHAPES for one in three(*shape)],
    *[one for dtype in ("float16", "bfloat16") for one in three(*SHAPES[0], dtype)],
]
