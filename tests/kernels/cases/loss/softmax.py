"""Cases of npu_runtime.kernels.loss.softmax."""

import numpy as np

from tests.kernels.harness import arr, case

FLOATS = ("float32", "float16", "bfloat16")
HARD = np.array(
    [[1, np.nan, 2], [np.inf, 1, 2], [-np.inf, 1, 2], [-np.inf] * 3, [200, -200, 0], [88.5, 88.6, -1e30], [0, 0, 0]], "float32"
)
ONE_HOT = np.eye(3, dtype="float32")[[0, 1, 2, 0, 1, 2, 0]]

MASKED = np.where(arr(6, 9) > 0.3, arr(6, 9, seed=2), np.float32(-1e4))
MASKED[:, 2] = 1.0
FAR_APART = arr(40, 5) + np.linspace(-30, 20, 40, dtype="float32")[:, None]

ROWS = [
    *[
        case("Softmax", values, id=name)
        for name, values in (
            ("low", arr(30, 20, low=-40, high=-20)),
            ("high", arr(30, 20, low=50, high=90)),
            ("masked", MASKED),
            ("masked with infinity", np.where(MASKED < -1e3, np.float32(-np.inf), MASKED)),
            ("rows far apart", FAR_APART),
            ("sums at the bound", np.array([[1, -7.0, -9], [2, -7.9, -8.0], [-6.95, -90, -95]], "f")),
            ("wide", arr(3, 1025)),
        )
    ],
    *[case(op, arr(4, 7, dtype=t, low=-5, high=5), id=t) for op in ("Softmax", "LogSoftmax") for t in FLOATS],
    *[
        case(op, arr(*shape, low=-9, high=9), id=str(shape))
        for op in ("Softmax", "LogSoftmax")
        for shape in ((5,), (2, 3, 4), (2, 3, 4, 5), (0, 4), (3, 0), (1, 1), (300, 401), (5000, 10), (2, 70000))
    ],
    case("Softmax", arr(50, 1) * 3, id="one class", rtol=0.0, atol=0.0),
    case("Softmax", HARD[2:], id="hard"),  # a NaN spoils its whole row; oneDNN's kernel zeroes that row's other values
    case("LogSoftmax", HARD, id="hard"),
]


def distribution(*shape: int, dtype: str = "float32") -> np.ndarray:
    """Rows that sum to one."""
    p = arr(*shape, low=0, high=1, seed=4)
    return (p / np.maximum(p.sum(axis=-1, keepdims=True), 1e-6)).astype(arr(1, dtype=dtype).dtype)


DENSE = [
    *[
        case("SoftmaxCrossEntropyWithLogits", arr(6, 7, dtype=t, low=-5, high=5), distribution(6, 7, dtype=t), id=t)
        for t in FLOATS
    ],
    *[
        case("SoftmaxCrossEntropyWithLogits", arr(*x, low=-5, high=5), distribution(*y), id=f"{x}-{y}")
        for x, y in (
            ((4, 5), (1, 5)), ((1, 5), (4, 5)), ((4, 5), (4, 1)), ((4, 1), (4, 5)), ((4, 5), (5,)), ((0, 5), (0, 5)),
            ((3, 0), (3, 0)), ((1, 1), (1, 1)), ((300, 401), (300, 401)), ((5000, 10), (5000, 10)),
        )
    ],
    case("SoftmaxCrossEntropyWithLogits", arr(4, 5), 3 * arr(4, 5, low=0, seed=2), id="labels that are no distribution"),
    case("SoftmaxCrossEntropyWithLogits", HARD, ONE_HOT, id="hard"),
]  # fmt: skip

SPARSE = [
    case("SparseSoftmaxCrossEntropyWithLogits", arr(n, c, dtype=t, low=-5, high=5), arr(n, dtype=labels, low=0, high=c),
         id=f"{t}-{labels}-{n}-{c}")
    for n, c in ((6, 7), (1, 1), (0, 5), (300, 401), (5000, 10))
    for t in FLOATS
    for labels in ("int32", "int64")
] + [case("SparseSoftmaxCrossEntropyWithLogits", HARD, np.array([0, 1, 2, 0, 1, 2, 0]), id="hard")]  # fmt: skip

CASES = ROWS + DENSE + SPARSE
