"""Cases of npu_runtime.kernels.linalg.matmul."""

import itertools

import numpy as np

from tests.kernels.harness import arr, case

BOTH = [False, True]


def _matrices(a: tuple[int, ...], b: tuple[int, ...], first: bool, second: bool, dtype: str = "float32") -> list[np.ndarray]:
    """Operands whose product is a times b once the flagged ones are transposed; the second differs from the first."""
    a = (*a[:-2], a[-1], a[-2]) if first else a
    b = (*b[:-2], b[-1], b[-2]) if second else b
    return [arr(*a, dtype=dtype), arr(*b, dtype=dtype, seed=1)]


MATRICES = [
    case("MatMul", *_matrices((m, k), (k, n), ta, tb, dtype), transpose_a=ta, transpose_b=tb)
    for ta, tb in itertools.product(BOTH, BOTH)
    for dtype in ("float32", "float16", "bfloat16")
    for m, k, n in ((5, 7, 3), (1, 33, 9))
] + [
    case("MatMul", *_matrices((150, 80), (80, 210), ta, tb), id=f"threads-{ta}-{tb}", transpose_a=ta, transpose_b=tb)
    for ta, tb in itertools.product(BOTH, BOTH)
] + [
    case("MatMul", *_matrices((20, 1100), (1100, 300), ta, tb), id=f"few-rows-{ta}-{tb}", transpose_a=ta, transpose_b=tb)
    for ta, tb in itertools.product(BOTH, BOTH)
] + [
    case("MatMul", *_matrices((4133, 30), (30, 40), ta, tb), id=f"stacks-{ta}-{tb}", transpose_a=ta, transpose_b=tb)
    for ta, tb in itertools.product(BOTH, BOTH)
] + [
    case("MatMul", arr(600, 60), arr(60, 70), id="rows", transpose_a=False, transpose_b=False),
    case("MatMul", arr(3, 500), arr(500, 1500), id="columns", transpose_a=False, transpose_b=False),
    case("MatMul", arr(9, 40), arr(40, 1), id="vector", transpose_a=False, transpose_b=False),
    case("MatMul", arr(4, 5, dtype="int32", low=-9, high=9), arr(5, 6, dtype="int32", low=-9, high=9)),
    case("MatMul", arr(4, 5, dtype="int64", low=-9, high=9), arr(5, 6, dtype="int64", low=-9, high=9), transpose_b=False),
    case("MatMul", np.array([[np.inf, 1], [np.nan, 2]], "f"), arr(2, 3), id="nan", transpose_a=False, transpose_b=False),
    *[
        case("MatMul", arr(m, k), arr(k, n), id=f"empty-{m}-{k}-{n}", transpose_a=False, transpose_b=False)
        for m, k, n in ((0, 3, 4), (3, 0, 4), (3, 4, 0))
    ],
]  # fmt: skip

STACKS = [
    case(op, *_matrices((2, 3, 4, 5), (2, 3, 5, 6), ax, ay, dtype), adj_x=ax, adj_y=ay)
    for op in ("BatchMatMul", "BatchMatMulV2")
    for ax, ay in itertools.product(BOTH, BOTH)
    for dtype in ("float32", "float16", "bfloat16")
] + [
    case("BatchMatMulV2", arr(*x), arr(*y, seed=1), id=f"broadcast-{x}-{y}", adj_x=False, adj_y=False)
    for x, y in (
        ((7, 1, 4, 5), (3, 5, 2)),
        ((4, 5), (2, 3, 5, 6)),
        ((2, 3, 4, 5), (5, 6)),
        ((2, 1, 3, 4, 5), (1, 6, 1, 5, 2)),
        ((4, 5), (5, 3)),
        ((1, 4, 5), (1, 5, 3)),
        ((0, 4, 5), (0, 5, 3)),
        ((2, 0, 5), (2, 5, 3)),
        ((2, 4, 0), (2, 0, 3)),
        ((30, 40, 64), (30, 64, 50)),
    )
] + [
    case("BatchMatMulV2", arr(3, 5, 4), arr(2, 3, 4, 6), id="adj_x-broadcast", adj_x=False, adj_y=False),
    case("BatchMatMulV2", arr(3, 4, 5), arr(4, 6), id="adj_x-shared", adj_x=True, adj_y=False),
    case("BatchMatMulV2", arr(2, 4, 5, dtype="int32", low=-9, high=9), arr(2, 5, 3, dtype="int32", low=-9, high=9)),
    case("BatchMatMulV2", arr(2, 4, 5, dtype="int64", low=-9, high=9), arr(2, 5, 3, dtype="int64", low=-9, high=9)),
]  # fmt: skip

MIXED = [
    case("BatchMatMulV3", arr(2, 4, 5, dtype=a, low=-90, high=90), arr(2, 5, 3, dtype=b, low=-90, high=90), Tout=out)
    for a, b, out in (
        ("float32", "float32", "float32"),
        ("bfloat16", "bfloat16", "bfloat16"),
        ("bfloat16", "int8", "bfloat16"),
        ("int8", "int8", "int32"),
        ("uint8", "int8", "int32"),
        ("int32", "int32", "int32"),
    )
]

CASES = MATRICES + STACKS + MIXED
