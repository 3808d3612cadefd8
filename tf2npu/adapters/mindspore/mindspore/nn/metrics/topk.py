"""The share of samples whose class is among the likeliest."""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore.nn.metrics.metric import Metric


class TopKCategoricalAccuracy(Metric):
    """The share of samples whose class is among the `k` likeliest ones."""

    def __init__(self, k: int) -> None:
        if not isinstance(k, int):
            raise TypeError(f"TopKCategoricalAccuracy(k={k!r}): a whole number")
        if k < 1:
            raise ValueError(f"TopKCategoricalAccuracy(k={k}): 1 or more")
        self.k = k
        self.clear()

    def clear(self) -> None:
        self._correct_num = self._samples_num = 0

    def update(self, *inputs: Any) -> None:
        predictions, labels = self.pair(inputs)
        labels = self.class_numbers(predictions, labels)
        likeliest = np.argsort(-predictions, axis=1)[:, : self.k]
        self._correct_num += int((likeliest == labels.reshape(-1, 1)).sum())
        self._samples_num += labels.size

    def eval(self) -> float:
        return self._correct_num / self.checked_count(self._samples_num)


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """The share of samples whose class is the likeliest."""

    def __init__(self) -> None:
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """The share of samples whose class is among the five likeliest."""

    def __init__(self) -> None:
        super().__init__(5)
