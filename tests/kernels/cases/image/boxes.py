"""Suppression: thresholds, limits, equal scores, flipped corners, boxes without area, none at all."""

import numpy as np

from tests.kernels.harness import arr, case, scalar

BOXES = arr(60, 4, low=0, high=1)
SCORES = np.round(arr(60, low=0, high=1), 1).astype(np.float32)
MANY = np.concatenate([CENTERS := arr(400, 2, low=0, high=3), CENTERS + arr(400, 2, low=-0.2, high=1, seed=1)], axis=1)
MANY_SCORES = np.round(arr(400, low=0, high=1, seed=2), 1).astype(np.float32)
SIX = np.array(
    [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [1, 0.9, 0, -0.1], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 10, 0, 11]], np.float32
)
SIX_SCORES = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], np.float32)


def limit(n: int) -> np.ndarray:
    return scalar(n, "int32")


CASES = [
    *[case("NonMaxSuppression", SIX, SIX_SCORES, limit(n), iou_threshold=t) for n in (0, 2, 30) for t in (0.5, 0.9)],
    *[case("NonMaxSuppressionV2", BOXES, SCORES, limit(n), scalar(t)) for n in (5, 60) for t in (0.0, 0.3, 1.0)],
    *[case("NonMaxSuppressionV3", BOXES, SCORES, limit(30), scalar(0.3), scalar(s)) for s in (0.0, 0.5, 2.0)],
    *[
        case("NonMaxSuppressionV3", MANY, MANY_SCORES, limit(n), scalar(t), scalar(0.05), id=f"many-{n}-{t}")
        for n in (50, 400)
        for t in (0.0, 0.2, 0.7)
    ],
    case("NonMaxSuppressionV3", np.zeros((0, 4), np.float32), np.zeros(0, np.float32), limit(3), scalar(0.5), scalar(0.0)),
]
