"""Stateless random ops by seed and by key and counter, counters that carry included."""

import numpy as np

from tests.kernels.harness import Case, arr, case, i32, scalar

SHAPES = (i32(3, 5), np.zeros(0, np.int32), i32(4, 0), np.array([70001], np.int64))
SEEDS = (i32(3, 4), np.array([-5, 1 << 40], np.int64))
KEY = np.array([0x0123456789ABCDEF], np.uint64)
COUNTERS = (np.array([7, 9], np.uint64), np.array([2**64 - 2, 2**64 - 1], np.uint64), np.array([2**64 - 3, 5], np.uint64))
FLOATS = ("float32", "float16", "bfloat16")
PHILOX, AUTO = scalar(1, "int32"), scalar(3, "int32")


def floats(op: str) -> list[Case]:
    by_seed = [case(op, shape, seed, dtype=d) for shape in SHAPES for seed in SEEDS for d in FLOATS]
    by_key = [case(f"{op}V2", i32(9, 3), KEY, c, a, dtype=d) for c in COUNTERS for a in (PHILOX, AUTO) for d in FLOATS]
    return by_seed + by_key + [case(f"{op}V2", shape, KEY, COUNTERS[0], PHILOX, dtype="float32") for shape in SHAPES]


CASES = [
    *floats("StatelessRandomUniform"),
    *floats("StatelessRandomNormal"),
    *floats("StatelessTruncatedNormal"),
    *[
        case("StatelessRandomUniformInt", i32(7, 3), seed, scalar(-7, d), scalar(1000, d), dtype=d)
        for seed in SEEDS
        for d in ("int32", "int64")
    ],
    *[
        case("StatelessRandomUniformIntV2", i32(7, 3), KEY, c, PHILOX, scalar(-7, d), scalar(1000, d), dtype=d)
        for c in COUNTERS
        for d in ("int32", "int64")
    ],
    *[case("StatelessRandomUniformFullInt", i32(11), seed, dtype=d) for seed in SEEDS for d in ("int32", "int64")],
    *[case("StatelessRandomUniformFullIntV2", i32(11), KEY, c, AUTO, dtype=d) for c in COUNTERS for d in ("int32", "int64")],
    *[case("StatelessMultinomial", arr(3, 4), scalar(n, "int32"), seed) for n in (0, 1, 6) for seed in SEEDS],
    case("StatelessMultinomial", arr(3, 4), scalar(5, "int32"), SEEDS[0], output_dtype="int32"),
    *[case("StatelessRandomGetKeyCounter", seed) for seed in SEEDS],
    *[case("StatelessRandomGetKeyCounterAlg", seed) for seed in SEEDS],
    case("StatelessRandomGetAlg"),
]
