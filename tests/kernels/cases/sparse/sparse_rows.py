"""Cases of npu_runtime.kernels.sparse.sparse_rows."""

import numpy as np

from tests.kernels.harness import arr, case, scalar


def i64(*values: object) -> np.ndarray:
    return np.array(values[0] if len(values) == 1 and isinstance(values[0], list) else values, np.int64)


PLACES = i64([[0, 1], [0, 3], [2, 0], [3, 2]])
NONE = np.zeros((0, 2), np.int64)
VALUES = [arr(4, dtype=dtype) for dtype in ("float32", "float16", "bfloat16", "int32", "int64", "bool")]

CASES = [
    case("SparseReshape", PLACES, i64(4, 4), i64(2, 8)),
    case("SparseReshape", PLACES, i64(4, 4), i64(-1)),
    case("SparseReshape", PLACES, i64(4, 4), i64(2, -1, 2)),
    case("SparseReshape", PLACES, i64(4, 5), i64(5, 1, 4)),
    case("SparseReshape", NONE, i64(3, 4), i64(6, 2)),
    case("SparseReshape", NONE, i64(0, 4), i64(4, 0)),
    *[case("SparseFillEmptyRows", PLACES, v, i64(6, 4), scalar(1, v.dtype.name), id=v.dtype.name) for v in VALUES],
    case("SparseFillEmptyRows", PLACES, VALUES[0], i64(4, 4), scalar(7)),
    case("SparseFillEmptyRows", PLACES[[2, 0, 3, 1]], VALUES[0], i64(5, 4), scalar(7), id="unsorted"),
    case("SparseFillEmptyRows", NONE, arr(0), i64(3, 4), scalar(7), id="none"),
    case("SparseFillEmptyRows", NONE, arr(0), i64(0, 4), scalar(7), id="no rows"),
    *[case("SparseFillEmptyRowsGrad", i64(0, 3, 1), arr(6, dtype=dtype)) for dtype in ("float32", "int32", "float16")],
    case("SparseFillEmptyRowsGrad", i64([]), arr(0)),
]
