"""Cases of npu_runtime.kernels.pool.pooling_argmax."""

import numpy as np

from tests.kernels.harness import arr, case

X = arr(2, 7, 6, 3)
TIES = np.round(arr(2, 6, 6, 2)).astype(np.float32)
WITH_NAN = np.where(arr(1, 5, 5, 2) > 1, np.float32(np.nan), arr(1, 5, 5, 2, seed=1))


def chosen(shape: tuple[int, ...], of: int, dtype: str = "int64") -> np.ndarray:
    return np.random.default_rng(1).integers(0, of, shape).astype(dtype)


CASES = [
    *[
        case("MaxPoolWithArgmax", X, ksize=[1, *k, 1], strides=[1, *s, 1], padding=p, include_batch_in_index=b)
        for k, s in (((2, 2), (2, 2)), ((3, 2), (1, 2)), ((1, 1), (1, 1))) for p in ("SAME", "VALID") for b in (False, True)
    ],
    *[case("MaxPoolWithArgmax", arr(2, 4, 4, 2, dtype=d), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME", Targmax=t)
      for d in ("float16", "bfloat16", "int32", "int8", "uint8", "int64", "int16") for t in ("int32", "int64")],
    *[case("MaxPoolWithArgmax", x, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME") for x in (TIES, WITH_NAN, -TIES)],
    *[case("MaxPoolGradWithArgmax", X, arr(2, 3, 3, 3), chosen((2, 3, 3, 3), 126 * (1 + b)), ksize=[1, 2, 2, 1],
           strides=[1, 2, 2, 1], padding="VALID", include_batch_in_index=bool(b)) for b in (0, 1)],
    *[case("MaxPoolGradWithArgmax", arr(2, 4, 4, 2, dtype=d), arr(2, 2, 2, 2, dtype=d), chosen((2, 2, 2, 2), 32),
           ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME") for d in ("float16", "int32")],
    case("MaxPoolGradWithArgmax", arr(0, 4, 4, 2), arr(0, 2, 2, 2), chosen((0, 2, 2, 2), 32), ksize=[1, 2, 2, 1],
         strides=[1, 2, 2, 1], padding="SAME"),
]  # fmt: skip
