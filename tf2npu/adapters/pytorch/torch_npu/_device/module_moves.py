"""Moves of whole modules, as `model.to("npu")`: what they bring is no input of a step, and no part of its time."""

from __future__ import annotations

from functools import wraps
from typing import Any

import torch

_running = [0]


def is_moving() -> bool:
    """Whether a module is being moved, or cast."""
    return _running[0] > 0


def install() -> None:
    """See all moves from here on."""
    apply = torch.nn.Module._apply

    @wraps(apply)
    def seen(self: torch.nn.Module, *args: Any, **kwargs: Any) -> torch.nn.Module:
        _running[0] += 1
        try:
            return apply(self, *args, **kwargs)
        finally:
            _running[0] -= 1

    torch.nn.Module._apply = seen
