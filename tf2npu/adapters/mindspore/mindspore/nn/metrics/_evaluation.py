"""Metrics of classes: one class a sample, or several."""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore.nn.metrics.metric import Metric

_KINDS = ("classification", "multilabel")


class EvaluationBase(Metric):
    """A metric of classes.

    eval_type: "classification", where a sample has one class, or "multilabel", where predictions and labels are zeros and ones.
    Raises: TypeError for another.
    """

    def __init__(self, eval_type: str) -> None:
        if eval_type not in _KINDS:
            raise TypeError(f"{type(self).__name__}(eval_type={eval_type!r}): one of {', '.join(_KINDS)}")
        self._type = eval_type
        self._class_num = 0

    def batch(self, inputs: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Predictions and labels, checked.  Raises: ValueError for shapes or values that do not fit."""
        predictions, labels = self.pair(inputs)
        if self._type == "classification":
            labels = self.class_numbers(predictions, labels)
        self._check_shape(predictions, labels)
        self._check_value(predictions, labels)
        self.check_classes(predictions.shape[1])
        return predictions, labels

    def check_classes(self, count: int) -> None:
        """Raises: ValueError where a batch has another number of classes than those before."""
        if self._class_num not in (0, count):
            raise ValueError(f"this batch has {count} classes, those before {self._class_num}")
        self._class_num = count

    def _check_shape(self, predictions: np.ndarray, labels: np.ndarray) -> None:
        wanted = predictions.shape
        if self._type == "classification":
            wanted = predictions.shape[:1] + predictions.shape[2:]
        if predictions.ndim < 2 or labels.shape != wanted:
            raise ValueError(
                f"{type(self).__name__} of {self._type}: predictions of shape {predictions.shape} and labels of shape "
                f"{labels.shape} do not fit"
            )

    def _check_value(self, predictions: np.ndarray, labels: np.ndarray) -> None:
        if self._type == "multilabel" and not (np.isin(predictions, (0, 1)).all() and np.isin(labels, (0, 1)).all()):
            raise ValueError(f"{type(self).__name__} of multilabel: predictions and labels are zeros and ones")


def one_hot(predictions: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The likeliest class of each sample, and its label, as rows of zeros and a one.  Raises: ValueError for an unknown class."""
    count = predictions.shape[1]
    if labels.max() + 1 > count:
        raise ValueError(f"a label is {labels.max()}, and the predictions have {count} classes")
    rows = np.eye(count)
    return rows[predictions.argmax(axis=1).reshape(-1)], rows[labels.reshape(-1).astype(np.int64)]


class OfEachClass(EvaluationBase):
    """The base of Precision and Recall: how many of those that count for a class were right.

    counted: which of (predictions, labels) those are that count.
    """

    counted = 0
    eps = float(np.finfo(np.float64).tiny)

    def __init__(self, eval_type: str = "classification") -> None:
        super().__init__(eval_type)
        self.clear()

    def clear(self) -> None:
        self._class_num = 0
        self._right: list[np.ndarray] = []
        self._all: list[np.ndarray] = []

    def update(self, *inputs: Any) -> None:
        predictions, labels = self.batch(inputs)
        if self._type == "classification":
            pair = one_hot(predictions, labels)
        else:
            pair = tuple(one.swapaxes(1, 0).reshape(self._class_num, -1) for one in (predictions, labels))
        self._right.append((pair[0] * pair[1]).sum(axis=0))
        self._all.append(pair[self.counted].sum(axis=0))

    def eval(self, average: bool = False) -> Any:
        self.checked_count(self._class_num)
        if not isinstance(average, bool):
            raise TypeError(f"{type(self).__name__}.eval(average={average!r}): True or False")
        join = np.concatenate if self._type == "multilabel" else sum
        result = join(self._right) / (join(self._all) + self.eps)
        return result.mean() if average else result
