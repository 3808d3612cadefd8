"""Gathering: axes, batch axes, scalar and matrix indices, empty ones, every dtype."""

import numpy as np

from tests.kernels.harness import Var, arr, case, i32, scalar


def index(*shape: int, below: int, dtype: str = "int32") -> np.ndarray:
    return arr(*shape, dtype=dtype, low=0, high=below)


AXES = [(0, ()), (1, (3,)), (2, (2, 3)), (-1, (2,)), (-2, (1, 4)), (0, (0,)), (3, (6,))]
DTYPES = ("float16", "bfloat16", "int32", "int64", "int8", "uint8", "bool")
BATCHED = [  # params, indices, axis, batch_dims, extent of the axis
    ((3, 4, 5), (3, 2), 1, 1, 4),
    ((3, 4, 5), (3, 2), 2, 1, 5),
    ((2, 3, 4, 5), (2, 3, 2), 2, 2, 4),
    ((2, 3, 4, 5), (2, 3), 3, -1, 5),
    ((2, 6), (2,), 1, 1, 6),
    ((2, 6), (2, 0), 1, 1, 6),
]

CASES = [
    *[case("GatherV2", arr(3, 4, 2, 5), index(*s, below=2), scalar(a, "int32")) for a, s in AXES],
    *[case("GatherV2", arr(*p), index(*i, below=n), scalar(a, "int32"), batch_dims=b) for p, i, a, b, n in BATCHED],
    *[case("GatherV2", arr(7, 3, dtype=d), index(4, below=7, dtype="int64"), scalar(0, "int64")) for d in DTYPES],
    case("GatherV2", arr(9), index(2, 3, below=9), scalar(0, "int32")),
    case("GatherV2", arr(0, 3), index(0, below=1), scalar(0, "int32")),
    case("GatherV2", arr(5, 0), index(4, below=5), scalar(0, "int32")),
    case("GatherV2", arr(500, 129), index(4096, below=500), scalar(0, "int32"), id="large"),
    case("GatherV2", arr(3, 200, 70), index(300, below=200), scalar(1, "int32"), id="large inner axis"),
    *[case("Gather", arr(5, 3), index(*s, below=5)) for s in ((), (2,), (2, 3), (0,))],
    case("Gather", arr(5, 3), index(2, below=5), validate_indices=False),
    *[case("ResourceGather", Var(arr(5, 3)), index(*s, below=5), dtype="float32") for s in ((), (2,), (2, 3), (0,))],
    case("ResourceGather", Var(arr(3, 5, 2)), index(3, 4, below=5), dtype="float32", batch_dims=1),
    case("ResourceGather", Var(arr(5, 3, dtype="float16")), index(2, below=5), dtype="float16"),
    case("GatherNd", arr(3, 4, 5), i32([[0, 1], [2, 3], [0, 1]])),
    case("GatherNd", arr(3, 4, 5), i32([[[0, 1, 2]], [[2, 3, 4]]])),
    case("GatherNd", arr(3, 4, 5), i32([2])),
    case("GatherNd", arr(3, 4), np.zeros((2, 0), np.int32)),
    case("GatherNd", arr(3, 4), np.zeros((0, 2), np.int64)),
    case("GatherNd", arr(3, 0), np.zeros((0, 1), np.int64)),
    *[case("GatherNd", arr(6, 4, dtype=d), i32([[5], [0], [3]])) for d in DTYPES],
    case("ResourceGatherNd", Var(arr(3, 4)), i32([[0, 1], [2, 3]]), dtype="float32"),
]
