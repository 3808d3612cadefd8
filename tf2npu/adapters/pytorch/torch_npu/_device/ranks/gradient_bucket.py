"""Gradients that are reduced together: a row of memory, and the place of each in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..tensor import NpuTensor


class Bucket:
    """parameters: of one type, on one device.  places: their numbers in the reducer's list.

    pending: gradients that are not there yet.  reduced: what gives the sum, when it is asked to wait.
    """

    def __init__(self, parameters: Sequence[torch.Tensor], places: Sequence[int]) -> None:
        self.parameters, self.places = list(parameters), list(places)
        first = parameters[0]
        self.buffer = torch.zeros(sum(one.numel() for one in parameters), dtype=first.dtype, device=first.device)
        self.views = self.views_of(self.buffer)
        self.pending = len(parameters)
        self.reduced: Any = None

    def views_of(self, row: torch.Tensor) -> list[torch.Tensor]:
        """The gradients in a row, each in the form of its parameter."""
        views, offset = [], 0
        for parameter in self.parameters:
            part = row[offset : offset + parameter.numel()]
            strides = parameter.stride() if _is_dense(parameter) else None
            views.append(part.view(parameter.size()) if strides is None else part.as_strided(parameter.size(), strides, offset))
            offset += parameter.numel()
        return views

    def begin(self) -> None:
        """Wait for all gradients again."""
        self.pending, self.reduced = len(self.parameters), None


def _is_dense(parameter: torch.Tensor) -> bool:
    """Whether the elements stand in memory without gaps, but not in the order of the dimensions."""
    forms = {4: torch.channels_last, 5: torch.channels_last_3d}
    form = forms.get(parameter.dim())
    return form is not None and not parameter.is_contiguous() and parameter.is_contiguous(memory_format=form)


def is_same_memory(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors of the device begin at the same place of one storage."""
    both = isinstance(one, NpuTensor) and isinstance(other, NpuTensor)
    return both and one.allocation is other.allocation and one.storage_offset() == other.storage_offset()


class GradBucket:
    """A bucket as communication hooks get it: torch.distributed.GradBucket in Python.  index: in the order of reduction."""

    def __init__(self, index: int, row: torch.Tensor, bucket: Bucket, is_last: bool) -> None:
        self._index, self._row, self._bucket, self._is_last = index, row, bucket, is_last

    def index(self) -> int:
        """The number of the bucket."""
        return self._index

    def buffer(self) -> torch.Tensor:
        """All gradients in one row."""
        return self._row

    def gradients(self) -> list[torch.Tensor]:
        """The gradients, each in the form of its parameter."""
        return self._bucket.views_of(self._row)

    def parameters(self) -> list[torch.Tensor]:
        """The parameters that they belong to."""
        return list(self._bucket.parameters)

    def is_last(self) -> bool:
        """Whether no bucket follows in this step."""
        return self._is_last

    def set_buffer(self, tensor: torch.Tensor) -> None:
        """Put other gradients in their place."""
        self._row = tensor
