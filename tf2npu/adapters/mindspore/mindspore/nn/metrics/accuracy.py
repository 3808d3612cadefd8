"""Accuracy: the share of samples that were right."""

from __future__ import annotations

from typing import Any

from mindspore.nn.metrics._evaluation import EvaluationBase


class Accuracy(EvaluationBase):
    """The share of samples whose class, or whose every class, was right."""

    def __init__(self, eval_type: str = "classification") -> None:
        super().__init__(eval_type)
        self.clear()

    def clear(self) -> None:
        self._class_num = self._correct_num = self._total_num = 0

    def update(self, *inputs: Any) -> None:
        predictions, labels = self.batch(inputs)
        if self._type == "classification":
            right = (predictions.argmax(axis=1) == labels).reshape(-1)
        else:
            rows = (one.swapaxes(1, one.ndim - 1).reshape(-1, self._class_num) for one in (predictions, labels))
            right = (next(rows) == next(rows)).all(axis=1)
        self._correct_num += int(right.sum())
        self._total_num += right.size

    def eval(self) -> float:
        return self._correct_num / self.checked_count(self._total_num)
