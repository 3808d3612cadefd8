"""Memory of hosts' tensors, in one row, as collective operations take it."""

from __future__ import annotations

from collections.abc import Sequence
from threading import local
from typing import Any

import torch

from ..tensor import NpuTensor


class _Caller(local):
    """is_cpp: whether this thread is in C++ that was given the hosts' tensors in the place of the device's."""

    is_cpp = False


_caller = _Caller()


class HostsAllowed:
    """A block whose collective operations get the hosts' tensors, as C++ of PyTorch does below an operator of the device."""

    def __enter__(self) -> None:
        self._before, _caller.is_cpp = _caller.is_cpp, True

    def __exit__(self, *error: object) -> None:
        _caller.is_cpp = self._before


def host_of(tensor: torch.Tensor) -> torch.Tensor:
    """The host's tensor of one of the device.  Raises: RuntimeError for a tensor of the host, in PyTorch's words."""
    if isinstance(tensor, NpuTensor):
        return tensor.host.detach()
    if _caller.is_cpp:
        return tensor.detach()
    raise RuntimeError(
        f"No backend type associated with device type {tensor.device.type}: hccl takes tensors of the device npu, move this one "
        'there, or initialise with "cpu:gloo,npu:hccl"'
    )


def row_of(tensor: torch.Tensor) -> torch.Tensor:
    """The memory of a tensor of the device as one row.  Raises: RuntimeError for one with gaps, or that is sparse.

    Source: ProcessGroupHCCL.cpp of Ascend/pytorch takes tensors that are contiguous, or so in channels_last.
    """
    host = host_of(tensor)
    if host.layout is not torch.strided:
        raise RuntimeError("hccl: Tensors must be NPU and dense")
    if not any(host.is_contiguous(memory_format=form) for form in _forms(host.dim())):
        raise RuntimeError("hccl: Tensors must be contiguous: call .contiguous() before the collective operation")
    return host.as_strided((host.numel(),), (1,), host.storage_offset())


def sent_bytes(tensor: torch.Tensor) -> torch.Tensor:
    """The elements of a tensor of the device in their own order, as bytes.  Raises: as `row_of`."""
    row_of(tensor)
    return bytes_of_row(host_of(tensor).contiguous().view(-1))


def _forms(n_dimensions: int) -> Sequence[torch.memory_format]:
    last = {4: [torch.channels_last], 5: [torch.channels_last_3d]}.get(n_dimensions, [])
    return [torch.contiguous_format, *last]


def bytes_of_row(row: torch.Tensor) -> torch.Tensor:
    """A row as bytes, of the same memory."""
    return row.view(torch.uint8)


def listed(tensors: Any) -> list[torch.Tensor]:
    """One tensor or several as a list."""
    return [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)


def form_of(*tensors: torch.Tensor) -> str:
    """The type and the sizes of tensors, as messages say them: "float32[4]"."""
    if not tensors:
        return "nothing"
    kinds = [f"{str(tensor.dtype).removeprefix('torch.')}[{tensor.numel()}]" for tensor in tensors]
    return kinds[0] if len(kinds) == 1 else f"{' + '.join(kinds[:4])}{f' + {len(kinds) - 4} more' if len(kinds) > 4 else ''}"
