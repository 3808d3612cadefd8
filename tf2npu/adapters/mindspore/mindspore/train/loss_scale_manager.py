"""Scales of the loss.  Source: train/loss_scale_manager.py of r1.1, read."""

from __future__ import annotations

from typing import Any

from mindspore.nn.wrap.loss_scale import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell

__all__ = ["DynamicLossScaleManager", "FixedLossScaleManager", "LossScaleManager"]


class LossScaleManager:
    """The base of those who know the scale."""

    def get_loss_scale(self) -> Any:
        """The scale."""

    def update_loss_scale(self, overflow: bool) -> None:
        """Hears whether a step overflowed."""

    def get_update_cell(self) -> Any:
        """The cell that changes the scale within the graph; None where updates are not dropped."""


class FixedLossScaleManager(LossScaleManager):
    """One scale for all steps.

    drop_overflow_update: whether an update whose gradients overflow is dropped.
    """

    def __init__(self, loss_scale: float = 128.0, drop_overflow_update: bool = True) -> None:
        if loss_scale < 1:
            raise ValueError(f"FixedLossScaleManager(loss_scale={loss_scale}): 1 or more")
        self._loss_scale, self._drop_overflow_update = loss_scale, drop_overflow_update

    def get_loss_scale(self) -> float:
        """The scale."""
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Whether an update whose gradients overflow is dropped."""
        return self._drop_overflow_update

    def get_update_cell(self) -> FixedLossScaleUpdateCell | None:
        """The cell that leaves the scale as it is; None where updates are not dropped."""
        return FixedLossScaleUpdateCell(self._loss_scale) if self._drop_overflow_update else None


class DynamicLossScaleManager(LossScaleManager):
    """A scale that falls by a factor after an overflow, and rises by it after `scale_window` steps without one."""

    bad_step_max = 1000

    def __init__(self, init_loss_scale: float = 2**24, scale_factor: int = 2, scale_window: int = 2000) -> None:
        if init_loss_scale < 1.0:
            raise ValueError(f"DynamicLossScaleManager(init_loss_scale={init_loss_scale}): 1 or more")
        if not isinstance(scale_window, int) or isinstance(scale_window, bool) or scale_window < 1:
            raise ValueError(f"DynamicLossScaleManager(scale_window={scale_window!r}): a whole number above 0")
        if scale_factor <= 0:
            raise ValueError(f"DynamicLossScaleManager(scale_factor={scale_factor}): above 0")
        self.loss_scale, self.scale_factor, self.scale_window = init_loss_scale, scale_factor, scale_window
        self.increase_ratio, self.decrease_ratio = scale_factor, 1 / scale_factor
        self.cur_iter, self.last_overflow_iter, self.bad_step = 1, 0, 0

    def get_loss_scale(self) -> float:
        """The scale."""
        return self.loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Whether an update whose gradients overflow is dropped: always."""
        return True

    def update_loss_scale(self, overflow: bool) -> None:
        """Hears whether a step overflowed.  Raises: RuntimeError after 1000 overflows in a row."""
        if overflow:
            self.loss_scale = max(self.loss_scale * self.decrease_ratio, 1)
            self.last_overflow_iter = self.cur_iter
            self.bad_step += 1
        else:
            self.bad_step = 0
            if (self.cur_iter - self.last_overflow_iter) % self.scale_window == 0:
                self.loss_scale *= self.increase_ratio
        if self.bad_step > self.bad_step_max:
            raise RuntimeError(
                f"{self.bad_step} steps in a row overflowed, the scale is {self.loss_scale}: look for what grows in the network, "
                "or lower the learning rate"
            )
        self.cur_iter += 1

    def get_update_cell(self) -> DynamicLossScaleUpdateCell:
        """The cell that changes the scale within the graph."""
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)
