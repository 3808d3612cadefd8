"""The base of metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from mindspore.common.tensor import Tensor


class Metric(ABC):
    """A number that is gathered over batches: clear(), update() with each batch, eval()."""

    @abstractmethod
    def clear(self) -> None:
        """Begins anew."""

    @abstractmethod
    def update(self, *inputs: Any) -> None:
        """Takes a batch."""

    @abstractmethod
    def eval(self) -> Any:
        """The number for all batches since clear()."""

    def __call__(self, *inputs: Any) -> Any:
        self.clear()
        self.update(*inputs)
        return self.eval()

    def _convert_data(self, data: Any) -> np.ndarray:
        """A tensor or list as an array.  Raises: TypeError for anything else."""
        if isinstance(data, np.ndarray):
            return data
        if not isinstance(data, (Tensor, list)):
            raise TypeError(f"{type(self).__name__}.update takes tensors, lists and arrays, not {type(data).__name__}")
        return data.asnumpy() if isinstance(data, Tensor) else np.array(data)

    def _check_onehot_data(self, data: Any) -> bool:
        """Whether an array has a 1 in each row, and else zeros."""
        return data.ndim > 1 and bool(np.isin(data, (0, 1)).all()) and bool((data.sum(axis=1) == 1).all())

    def pair(self, inputs: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Predictions and labels.  Raises: ValueError for another number of arguments."""
        if len(inputs) != 2:
            raise ValueError(f"{type(self).__name__}.update takes 2 inputs, (y_pred, y), and got {len(inputs)}")
        return self._convert_data(inputs[0]), self._convert_data(inputs[1])

    def class_numbers(self, predictions: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The labels as numbers of classes where they are rows of zeros and a one."""
        return labels.argmax(axis=1) if predictions.ndim == labels.ndim and self._check_onehot_data(labels) else labels

    def checked_count(self, count: int) -> int:
        """The number of samples.  Raises: RuntimeError for none."""
        if count == 0:
            raise RuntimeError(f"{type(self).__name__}.eval: there was no sample: call update() first")
        return count
