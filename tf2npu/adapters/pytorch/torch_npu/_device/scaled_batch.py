"""Inputs of another batch in a run of shapes alone: `tf2npu predict --batch B` of a script that has a batch of its own.

A tensor that the script brings from the host to a device gets another first extent where its own is the batch. Parameters
and buffers, which modules bring, keep theirs. What a script makes on the device with its batch as a number keeps it, too: such a
script ends with PyTorch's error about shapes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

from npu_formats.documents.prediction_request import read_request

from . import module_moves, shapes_only
from .tensor import NpuTensor

METHODS = ("to", "cuda", "npu")
"""Methods of tensors that bring them to a device."""


def install() -> None:
    """Take part where a prediction asks for another batch."""
    request = read_request(os.environ)
    if request is None or request.from_batch is None:
        return
    for name in METHODS:
        setattr(torch.Tensor, name, _scaled(getattr(torch.Tensor, name), request.from_batch, request.batch[0]))


def _scaled(move: Callable[..., torch.Tensor], own: int, wanted: int) -> Callable[..., torch.Tensor]:
    @wraps(move)
    def moved(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        result = move(self, *args, **kwargs)
        is_input = isinstance(result, NpuTensor) and not isinstance(self, NpuTensor) and not module_moves.is_moving()
        if not is_input or result.shape[:1] != (own,):
            return result
        shape = (wanted, *result.shape[1:])
        return NpuTensor(torch.empty(shape, dtype=result.dtype, device=shapes_only.HOST), result.index)

    return moved
