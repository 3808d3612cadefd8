"""THOR, which is not simulated."""

from __future__ import annotations

from typing import Any


class THOR:
    """Refused: its operators exist on the card alone."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("nn.optim.THOR is not simulated: use Momentum or Lamb; docs/mindspore.md lists what runs")


__all__ = REFUSED = ["THOR"]
