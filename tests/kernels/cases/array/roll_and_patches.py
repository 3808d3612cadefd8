"""Cases of npu_runtime.kernels.array.roll_and_patches."""

import numpy as np

from tests.kernels.harness import arr, case, i32, scalar

X = arr(4, 3)
CASES = [
    *[case("Roll", arr(4, 5, dtype=d), scalar(s, "int32"), scalar(a, "int32")) for d in ("float32", "bool", "int64", "bfloat16")
      for s in (0, 2, -7) for a in (0, -1)],
    case("Roll", arr(3, 4, 5), i32(1, -2, 3), i32(0, 2, 0)),
    case("Roll", arr(0, 4), i32(1), i32(1)),
    *[case("Bitcast", arr(3, 4, dtype=a), type=b) for a, b in (("float32", "int32"), ("float32", "int16"),
                                                              ("int64", "float32"), ("int32", "uint8"), ("float16", "bfloat16"))],
    *[case("Bitcast", arr(3, n, dtype=a), type=b)
      for n, a, b in ((2, "float16", "float32"), (4, "int8", "int32"), (2, "int32", "int64"))],
    *[case("Bitcast", arr(3, 2, dtype=a, low=-9, high=9), type=b) for a, b in (("uint64", "int64"), ("int64", "uint64"))],
    *[case("Bitcast", arr(3, 2, dtype=a), type=b) for a, b in (("uint64", "int32"), ("int32", "uint64"), ("float32", "uint64"))],
    case("UnravelIndex", i32(5, 3, 11), i32(3, 4)),
    case("UnravelIndex", scalar(7, "int64"), np.array([2, 2, 2], np.int64)),
    *[case("Empty", i32(2, 3), dtype=d, init=True) for d in ("float32", "int32", "bool")],
    *[case(op, X.copy(), i32(0, 3), arr(2, 3)) for op in ("InplaceUpdate", "InplaceAdd", "InplaceSub")],
    case("ParallelConcat", [arr(1, 3), arr(1, 3, seed=1)], shape=[2, 3]),
    *[case("ExtractVolumePatches", arr(2, 4, 5, 3, 2, dtype=d), ksizes=[1, 2, 3, 2, 1], strides=[1, *s, 1], padding=p)
      for d in ("float32", "int32") for s in ((1, 1, 1), (2, 1, 2)) for p in ("SAME", "VALID")],
]  # fmt: skip
