"""Cases of npu_runtime.kernels.sparse.sets and ctc_decoding."""

import numpy as np

from tests.kernels.harness import arr, case, i32

OPERATIONS = ("a-b", "b-a", "intersection", "union")


def long(*values: object) -> np.ndarray:
    return np.array(values, np.int64)


A, VALUES_A = long([0, 0], [0, 1], [1, 0], [3, 0], [3, 1]), long(4, 9, 4, 1, 7)
B, VALUES_B = long([0, 0], [1, 0], [1, 1], [2, 0]), long(9, 4, 6, 3)
SHAPE = long(4, 3)
LOGITS = arr(6, 3, 4, low=-3, high=3)

CASES = [
    *[case("DenseToDenseSetOperation", arr(*s, 4, dtype=d, low=0, high=6),
           arr(*s, 3, dtype=d, low=0, high=6, seed=1), set_operation=o)
      for s in ((3,), (2, 3)) for d in ("int64", "int32", "int8", "uint8", "int16") for o in OPERATIONS],
    *[case("DenseToSparseSetOperation", arr(4, 3, dtype="int64", low=0, high=9), B, VALUES_B, SHAPE, set_operation=o)
      for o in OPERATIONS],
    *[case("SparseToSparseSetOperation", A, VALUES_A, SHAPE, B, VALUES_B, SHAPE, set_operation=o) for o in OPERATIONS],
    case("SetSize", A, VALUES_A, SHAPE),
    case("SetSize", long([0, 0, 0], [0, 0, 1], [1, 1, 0]), i32(5, 5, 2), long(2, 2, 2)),
    *[case("CTCGreedyDecoder", LOGITS, i32(6, 0, 4), merge_repeated=m, blank_index=b) for m in (False, True) for b in (-1, 0, 2)],
    case("CTCGreedyDecoder", np.repeat(LOGITS, 2, axis=0), i32(12, 3, 5), merge_repeated=True, id="runs"),
]  # fmt: skip
