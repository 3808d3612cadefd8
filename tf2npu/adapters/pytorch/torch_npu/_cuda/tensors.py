"""Tensors and modules that a script brings to CUDA, and CUDA's old types of tensors."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.nn.utils.rnn import PackedSequence

from .._device import numbering, tensor_types
from .._device.tensor import NpuTensor
from .._observers import switched
from .frames import is_of_torch

OLD_TYPES = {**tensor_types.TYPES, "DoubleTensor": tensor_types.TYPES["FloatTensor"]}
"""torch.cuda.FloatTensor and so on. The vendor's module makes float32 of DoubleTensor."""


def _to_npu(self: Any, device: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
    """`cuda()` of a tensor, a module or a packed sequence, which goes to the NPU."""
    switched.note(".cuda", ".npu")
    target = numbering.device(numbering.index_of(device))
    return self.to(target, **({"non_blocking": True, **kwargs} if non_blocking else kwargs))


def _is_npu(self: Any) -> bool:
    if is_of_torch(sys._getframe(1)):
        return False
    found = isinstance(self.data if isinstance(self, PackedSequence) else self, NpuTensor)
    if found:
        switched.note(".is_cuda", ".is_npu")
    return found


def _old_type(text: str) -> Any:
    """The type that "torch.cuda.FloatTensor" names, None for another text."""
    module, _, name = text.rpartition(".")
    if module != "torch.cuda" or name not in OLD_TYPES:
        return None
    switched.note(f'"{text}"', f'"torch.npu.{name}"')
    return OLD_TYPES[name]


def install() -> None:
    """Put CUDA's methods and types into the places of PyTorch's."""
    for owner in (torch.Tensor, torch.nn.Module, PackedSequence):
        owner.cuda = _to_npu
    for owner in (torch.Tensor, PackedSequence):
        owner.is_cuda = property(_is_npu)
    tensor_types.BY_TEXT.append(_old_type)
