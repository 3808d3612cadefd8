"""Cases of npu_runtime.kernels.image.nms."""

import numpy as np

from tests.kernels.harness import arr, case, scalar

BOXES, SCORES = arr(30, 4, low=0, high=1), arr(30, low=0, high=1)
EMPTY = (np.zeros((0, 4), np.float32), np.zeros(0, np.float32))


def n(value: int) -> np.ndarray:
    return scalar(value, "int32")


OVERLAPS = arr(12, 12, low=0, high=1)
CASES = [
    *[case("NonMaxSuppressionV4", BOXES, SCORES, n(k), scalar(t), scalar(0.1), pad_to_max_output_size=p)
      for k in (0, 5, 50) for t in (0.3, 0.8) for p in (False, True)],
    *[case("NonMaxSuppressionV5", BOXES, SCORES, n(k), scalar(t), scalar(s), scalar(g), pad_to_max_output_size=p)
      for k in (4, 40) for t in (0.3, 0.9) for s in (0.0, 0.3) for g in (0.0, 0.2, 1.0) for p in (False, True)],
    case("NonMaxSuppressionV5", *EMPTY, n(3), scalar(0.5), scalar(0.0), scalar(0.5)),
    case("NonMaxSuppressionV4", *EMPTY, n(3), scalar(0.5), scalar(0.0)),
    *[case("NonMaxSuppressionWithOverlaps", OVERLAPS, arr(12, low=0, high=1), n(k), scalar(t), scalar(s))
      for k in (0, 3, 12) for t in (0.2, 0.7) for s in (0.0, 0.5)],
    *[case("CombinedNonMaxSuppression", arr(2, 9, q, 4, low=-0.2, high=1.2), arr(2, 9, 3, low=0, high=1), n(k), n(m), scalar(0.4),
           scalar(0.2), pad_per_class=p, clip_boxes=c)
      for q in (1, 3) for k, m in ((2, 5), (4, 30)) for p in (False, True) for c in (False, True)],
]  # fmt: skip
