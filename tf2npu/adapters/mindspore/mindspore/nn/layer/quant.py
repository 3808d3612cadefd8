"""Cells of quantisation-aware training, none of which is simulated: each name says so when it is called."""

from __future__ import annotations

from typing import Any, NoReturn

from mindspore.nn.cell import Cell


class _NotSimulated(Cell):
    def __init__(self, *_: Any, **__: Any) -> None:
        _refuse(type(self).__name__)


def _refuse(name: str) -> NoReturn:
    raise RuntimeError(
        f"nn.{name}: quantisation-aware training is not simulated: train without it; docs/mindspore.md lists what runs"
    )


REFUSED = (
    "FakeQuantWithMinMaxObserver", "Conv2dBnFoldQuantOneConv", "Conv2dBnFoldQuant", "Conv2dBnWithoutFoldQuant", "Conv2dQuant",
    "DenseQuant", "ActQuant", "TensorAddQuant", "MulQuant",
)  # fmt: skip
for _name in REFUSED:
    globals()[_name] = type(_name, (_NotSimulated,), {"__module__": __name__, "__doc__": f"{_name} is refused."})

__all__ = [*REFUSED]
