"""The mean loss."""

from __future__ import annotations

from typing import Any

from mindspore.nn.metrics.metric import Metric


class Loss(Metric):
    """The mean over batches of their mean loss."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self._sum_loss, self._total_num = 0.0, 0

    def update(self, *inputs: Any) -> None:
        if len(inputs) != 1:
            raise ValueError(f"Loss.update takes 1 input, the loss, and got {len(inputs)}")
        loss = self._convert_data(inputs[0])
        if loss.ndim > 1:
            raise ValueError(f"Loss.update takes a number or a vector, not a loss of shape {loss.shape}")
        self._sum_loss += loss.mean()
        self._total_num += 1

    def eval(self) -> float:
        return self._sum_loss / self.checked_count(self._total_num)
