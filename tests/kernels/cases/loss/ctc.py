"""Cases of npu_runtime.kernels.loss.ctc."""

from typing import Any

import numpy as np

from tests.kernels.harness import Case, arr, case, i32


def ctc(labels: list[list[int]], n_steps: int, n_classes: int, lengths: list[int], scale: float = 2.0, **attrs: Any) -> Case:
    places = [[row, place] for row, values in enumerate(labels) for place in range(len(values))]
    values = i32([v for row in labels for v in row])
    inputs = arr(n_steps, len(labels), n_classes, low=-scale, high=scale)
    # Sums of logarithms: an error of 1e-7 of the logarithm is one of the probability.
    return case("CTCLoss", inputs, np.array(places, np.int64), values, i32(lengths), rtol=2e-5, **attrs)


CASES = [
    ctc([[0, 1, 2], [1], [3, 3, 0, 1]], 9, 5, [9, 4, 7]),
    ctc([[0, 1, 2], [1], [3, 3, 0, 1]], 9, 5, [9, 4, 7], ctc_merge_repeated=False),
    ctc([[0, 1, 1, 2], [1, 1], [3, 3, 0, 1]], 9, 5, [9, 4, 7], preprocess_collapse_repeated=True),
    ctc([[0, 1, 1, 2], [1, 1], [3, 3, 0, 1]], 9, 5, [9, 4, 7], preprocess_collapse_repeated=True, ctc_merge_repeated=False),
    ctc([[0, 1, 2], [1], [3, 3, 0, 1]], 9, 5, [2, 4, 0], ignore_longer_outputs_than_inputs=True),
    ctc([[0, 1, 4, 4], [1, 4]], 6, 5, [6, 5], id="labels of the blank end a row"),
    ctc([[0]], 1, 2, [1]),
    ctc([[0, 0]], 2, 3, [2], id="impossible"),
    ctc([[1, 2, 0, 1, 3, 2, 1] * 3, [4] * 9], 60, 30, [60, 41], scale=6.0),
]
