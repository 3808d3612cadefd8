"""Errors of numbers: their mean absolute and mean squared distance."""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore.nn.metrics.metric import Metric


class _MeanError(Metric):
    """The sum of an error over all elements, divided by the number of samples.  Source: nn/metrics/error.py of r1.1."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self._sum, self._samples_num = 0.0, 0

    def update(self, *inputs: Any) -> None:
        predictions, labels = self.pair(inputs)
        self._sum += self.error(labels.reshape(predictions.shape) - predictions).sum()
        self._samples_num += labels.shape[0]

    def eval(self) -> float:
        return self._sum / self.checked_count(self._samples_num)


class MAE(_MeanError):
    """The mean absolute error."""

    error = staticmethod(np.abs)


class MSE(_MeanError):
    """The mean squared error."""

    error = staticmethod(np.square)
