"""Indices and values of `tensor[...]`, brought into tensors of the host.

PyTorch's C++ makes tensors of lists and numbers on the device of the tensor that is indexed, with all dispatch to Python switched
off: their numbers would be lost.
"""

from __future__ import annotations

from typing import Any

import torch


def index_of_host(index: Any) -> Any:
    """An index without lists, arrays and truth values, which become tensors of the host; None, slices and numbers stay."""
    if isinstance(index, tuple):
        return tuple(index_of_host(part) for part in index)
    if index is True:
        return None
    if index is False:
        raise IndexError("a tensor of a simulated device cannot be indexed by False: take an empty slice, as in tensor[None][:0]")
    if _is_array(index):
        return torch.as_tensor(index)
    if isinstance(index, (list, range)):
        return _of_sequence(list(index))
    return index


def _is_array(index: Any) -> bool:
    return hasattr(index, "__array_interface__") and not isinstance(index, torch.Tensor) and getattr(index, "ndim", 0) > 0


def _of_sequence(parts: list[Any]) -> Any:
    """A list of numbers is one index; of lists, tensors or slices, an index for each dimension, as PyTorch takes it."""
    if any(part is None or part is Ellipsis or isinstance(part, (slice, torch.Tensor, list, tuple, range)) for part in parts):
        return tuple(index_of_host(part) for part in parts)
    made = torch.tensor(parts)
    return made if made.dtype is torch.bool else made.long()
