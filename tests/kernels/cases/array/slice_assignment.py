"""Cases of npu_runtime.kernels.array.slice_assignment and segment_gradients."""

import numpy as np

from tests.kernels.harness import Var, arr, case, i32

CASES = [
    *[case(op, Var(arr(4, 6), kind), i32(1, 0), i32(3, 6), i32(1, 2), value, end_mask=2)
      for op, kind in (("ResourceStridedSliceAssign", "resource"), ("StridedSliceAssign", "ref"))
      for value in (arr(2, 3, seed=1),)],
    *[case(op, Var(arr(4, 6), kind), i32(1), i32(2), i32(1), arr(6, seed=1), shrink_axis_mask=1)
      for op, kind in (("ResourceStridedSliceAssign", "resource"), ("StridedSliceAssign", "ref"))],
    *[case(op, Var(arr(4, 6), kind), i32(1), i32(end), i32(1), arr(*shape, seed=1))
      for op, kind in (("ResourceStridedSliceAssign", "resource"), ("StridedSliceAssign", "ref"))
      for end, shape in ((3, ()), (3, (6,)), (3, (1,)), (3, (2, 1)), (3, (1, 1, 1, 6)), (1, (2, 6)))],
    *[case(op, Var(arr(4, 6), kind), i32(1, 2), i32(2, 3), i32(1, 1), arr(1, seed=1), shrink_axis_mask=3)
      for op, kind in (("ResourceStridedSliceAssign", "resource"), ("StridedSliceAssign", "ref"))],
    *[case(f"SparseSegment{name}GradV2", arr(3, 2, dtype=d), i32(0, 4, 2, 4), i32(0, 0, 1, 2), np.array(6, np.int32))
      for name in ("Sum", "Mean", "SqrtN") for d in ("float32", "float16", "bfloat16")],
    case("SparseSegmentMeanGradV2", arr(3, 2), i32([]), i32([]), np.array(6, np.int32)),
]  # fmt: skip
