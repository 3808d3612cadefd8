"""Fbeta and F1: means of precision and recall."""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore.nn.metrics._evaluation import EvaluationBase, one_hot


class Fbeta(EvaluationBase):
    """The mean of precision and recall of each class, in which recall weighs `beta` times as much."""

    eps = float(np.finfo(np.float64).tiny)

    def __init__(self, beta: float) -> None:
        super().__init__("classification")
        if not beta > 0:
            raise ValueError(f"Fbeta(beta={beta}): above 0")
        self.beta = beta
        self.clear()

    def clear(self) -> None:
        self._class_num = 0
        self._right = self._labelled = self._predicted = np.zeros(())

    def update(self, *inputs: Any) -> None:
        predictions, labels = one_hot(*self.batch(inputs))
        self._right = self._right + (predictions * labels).sum(axis=0)
        self._labelled = self._labelled + labels.sum(axis=0)
        self._predicted = self._predicted + predictions.sum(axis=0)

    def eval(self, average: bool = False) -> Any:
        self.checked_count(self._class_num)
        if not isinstance(average, bool):
            raise TypeError(f"Fbeta.eval(average={average!r}): True or False")
        square = self.beta**2
        result = (1.0 + square) * self._right / (square * self._labelled + self._predicted + self.eps)
        return result.mean() if average else result


class F1(Fbeta):
    """The mean of precision and recall."""

    def __init__(self) -> None:
        super().__init__(1.0)
