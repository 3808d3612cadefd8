"""Random ops with seeds: the first numbers; test_random compares bits, later runs and whole graphs."""

import numpy as np

from tests.kernels.harness import arr, case, i32, scalar

SEEDS = {"seed": 7, "seed2": 11}
SHAPES = (i32(3, 5), i32(7), np.zeros(0, np.int32), i32(4, 0), i32(1), np.array([2, 3, 4, 5], np.int64), i32(70001))
FLOATS = ("float32", "float16", "bfloat16")
UNUSUAL = np.array([[0, np.inf, -np.inf, 1], [np.nan, 0, 0, 0], [-1e30, 5, 5, -1e30]], np.float32)

CASES = [
    *[case("RandomUniform", s, dtype=d, **SEEDS) for s in SHAPES for d in FLOATS],
    *[case("RandomStandardNormal", s, dtype=d, **SEEDS) for s in SHAPES for d in FLOATS],
    *[case("TruncatedNormal", s, dtype=d, **SEEDS) for s in SHAPES for d in FLOATS],
    *[case("RandomUniformInt", s, scalar(-3, d), scalar(40, d), **SEEDS) for s in SHAPES for d in ("int32", "int64")],
    case("RandomUniformInt", i32(9), scalar(-(2**31), "int32"), scalar(2**31 - 1, "int32"), **SEEDS),
    case("RandomUniformInt", i32(9), scalar(-(2**63), "int64"), scalar(2**63 - 1, "int64"), **SEEDS),
    *[case("RandomShuffle", arr(*s), **SEEDS) for s in ((10,), (9, 2), (1, 3), (0,), (0, 2), (1001,), (4, 0))],
    case("RandomShuffle", scalar(3), **SEEDS),
    *[case("RandomShuffle", arr(5, dtype=d), **SEEDS) for d in ("int32", "bool", "float16")],
    *[case("Multinomial", arr(3, 4), scalar(n, "int32"), **SEEDS) for n in (1, 5, 0, 6)],
    *[case("Multinomial", arr(3, 4, dtype=d), scalar(5, "int32"), output_dtype="int32", **SEEDS) for d in FLOATS],
    case("Multinomial", UNUSUAL, scalar(20, "int32"), **SEEDS),
    case("Multinomial", arr(0, 4), scalar(5, "int32"), **SEEDS),
]
