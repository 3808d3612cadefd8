"""Cases of npu_runtime.kernels.pool.dilation."""

import numpy as np

from tests.kernels.harness import arr, case

KINDS = [
    ((1, 1), (1, 1), "SAME"), ((2, 1), (1, 1), "SAME"), ((1, 1), (2, 2), "VALID"), ((2, 2), (1, 2), "SAME"),
    ((1, 1), (1, 1), "VALID"),
]  # fmt: skip


def extent(n: int, k: int, stride: int, rate: int, padding: str) -> int:
    return -(-n // stride) if padding == "SAME" else (n - (k - 1) * rate - 1) // stride + 1


CASES = []
for (s, t), (r, q), padding in KINDS:
    attrs = {"strides": [1, s, t, 1], "rates": [1, r, q, 1], "padding": padding}
    out = (2, extent(7, 3, s, r, padding), extent(6, 2, t, q, padding), 3)
    CASES += [case("Dilation2D", arr(2, 7, 6, 3), arr(3, 2, 3), **attrs)]
    CASES += [
        case(op, arr(2, 7, 6, 3), arr(3, 2, 3), arr(*out), **attrs)
        for op in ("Dilation2DBackpropInput", "Dilation2DBackpropFilter")
    ]
PLAIN = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME"}
CASES += [
    case("Dilation2D", arr(1, 4, 4, 2, dtype=d, low=-40, high=40), arr(2, 2, 2, dtype=d), **PLAIN)
    for d in ("float16", "bfloat16", "int32", "int8", "uint8", "int64", "int16")
]
CASES += [
    case(op, arr(1, 4, 4, 2, dtype=d, low=-40, high=40), arr(2, 2, 2, dtype=d), arr(1, 4, 4, 2, dtype=d), **PLAIN)
    for op in ("Dilation2DBackpropInput", "Dilation2DBackpropFilter") for d in ("float16", "int32")
]  # fmt: skip
WITH_NAN = np.where(arr(1, 6, 5, 2) > 1, np.float32(np.nan), arr(1, 6, 5, 2, seed=1))
CASES += [
    case(
        "Dilation2D",
        arr(2, 61, 70, 17),
        arr(3, 4, 17),
        strides=[1, s, s, 1],
        rates=[1, r, r, 1],
        padding="SAME",
        id=f"bands-{s}-{r}",
    )
    for s, r in ((1, 1), (2, 1), (1, 2))
]
CASES += [
    case("Dilation2D", x, arr(2, 3, 2), **PLAIN, id=name)
    for name, x in (("NaN", WITH_NAN), ("infinite", np.where(WITH_NAN > 0, np.inf, -np.inf).astype(np.float32)))
]
CASES += [case("Dilation2D", arr(*shape), arr(2, 3, shape[3]), **PLAIN) for shape in ((0, 4, 4, 2), (1, 4, 4, 0))]
