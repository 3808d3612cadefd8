"""Training steps of a process: calls of optimizers."""

from __future__ import annotations

from typing import Any


class StepCount:
    """count: steps that any optimizer has made."""

    def __init__(self) -> None:
        self.count = 0

    def begin(self) -> None:
        """Count from here on."""
        from torch.optim.optimizer import register_optimizer_step_post_hook

        register_optimizer_step_post_hook(self._stepped)

    def _stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.count += 1
