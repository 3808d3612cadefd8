"""Sketches of tensors: a few numbers by which two tensors of different processes are compared.

Each is a sum over a part of the elements, with signs that are drawn once for a size, in float64 (the "count sketch" of Charikar,
Chen and Farach-Colton, 2002): equal tensors have equal sketches, and the distance of two sketches is about that of their tensors.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from npu_formats.documents.training_steps import BUCKETS
from npu_formats.documents.written_steps import as_json

from .._device.tensor import NpuTensor


def host_of(tensor: torch.Tensor) -> torch.Tensor:
    """The numbers of a tensor of the CPU or of a device, as they are now, without a copy."""
    return tensor.host.detach() if isinstance(tensor, NpuTensor) else tensor.detach()


@cache
def _signs(length: int) -> torch.Tensor:
    generator = torch.Generator("cpu").manual_seed(length)
    return torch.randint(0, 2, (length,), generator=generator, dtype=torch.int8, device="cpu").mul_(2).sub_(1)


def sketch(tensor: torch.Tensor) -> list[Any]:
    """The sketch of a tensor's numbers, as JSON holds it."""
    with torch.no_grad():
        numbers = host_of(tensor)
        numbers = numbers.to_dense() if numbers.layout is not torch.strided else numbers
        numbers = torch.view_as_real(numbers.resolve_conj()) if numbers.is_complex() else numbers
        flat = numbers.reshape(-1).to(torch.float64)
        signed = flat * _signs(flat.numel())
        whole = signed.numel() - signed.numel() % BUCKETS
        sums = signed[:whole].view(-1, BUCKETS).sum(0)
        sums[: signed.numel() - whole] += signed[whole:]
        return [as_json(value) for value in sums.tolist()]
