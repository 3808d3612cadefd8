"""Parameters and buffers of lazy layers, which have no size before the first batch.

They stay on the host, and remember the device that their layer was moved to: PyTorch makes them anew there in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.parameter import UninitializedTensorMixin

from . import numbering

_PLACE = "_npu_index"
_MOVES = ("to", "npu", "cpu")


def _wanted(name: str, args: tuple, kwargs: dict[str, Any]) -> torch.device | None:
    if name == "cpu":
        return torch.device("cpu")
    if name == "npu":
        return numbering.device(numbering.index_of(args[0] if args else kwargs.get("device")))
    return torch._C._nn._parse_to(*args, **kwargs)[0]


def _moving(name: str) -> Callable[..., Any]:
    """The method of a tensor, for one without a size: where it is to be, and its type."""
    of_torch = getattr(torch.Tensor, name)

    def move(self: Any, *args: Any, **kwargs: Any) -> Any:
        wanted = _wanted(name, args, kwargs)
        if wanted is None or (wanted.type not in numbering.TYPES and not hasattr(self, _PLACE)):
            return of_torch(self, *args, **kwargs)
        dtype = torch._C._nn._parse_to(*args, **kwargs)[1] if name == "to" else None
        result = self if dtype is None else torch.Tensor.to(self, dtype)
        if wanted.type in numbering.TYPES:
            setattr(result, _PLACE, numbering.index_of(wanted))
        else:
            vars(result).pop(_PLACE, None)
        return result

    return move


_materialize_of_torch = UninitializedTensorMixin.materialize


def _materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
    """Give it a size.  device: where, the device that it was moved to unless one is given."""
    index = vars(self).pop(_PLACE, None)
    wanted = torch.device(device) if device is not None else None if index is None else numbering.device(index)
    if wanted is None or wanted.type not in numbering.TYPES:
        _materialize_of_torch(self, shape, device, dtype)
        return
    _materialize_of_torch(self, shape, "cpu", dtype)
    made: torch.Tensor = self.detach().to(wanted)
    if isinstance(self, torch.nn.Parameter):
        made = torch.nn.Parameter(made, self.requires_grad)
    torch.utils.swap_tensors(self, made)


def install() -> None:
    """Let them move and be made on the devices."""
    for name in _MOVES:
        setattr(UninitializedTensorMixin, name, _moving(name))
    UninitializedTensorMixin.materialize = _materialize
