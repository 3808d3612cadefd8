"""Attention as one operator, as the device has it; the CPU's computes its numbers and its gradients.

PyTorch's C++ would take the plain composition of operators, whose last digits are others than those of the CPU's one operator.
"""

from __future__ import annotations

from typing import Any

import torch

from . import dispatch
from .tensor import NpuTensor

_of_torch = torch.nn.functional.scaled_dot_product_attention
_FORWARD = "aten::_scaled_dot_product_flash_attention_for_cpu"
_BACKWARD = "aten::_scaled_dot_product_flash_attention_for_cpu_backward"


class _Attention(torch.autograd.Function):
    """query, key, value: (..., heads, length, width).  mask: bool or float, broadcast to (..., length, length), or None."""

    @staticmethod
    def forward(ctx: Any, settings: dict[str, Any], *tensors: Any) -> NpuTensor:
        hosts = [None if part is None else part.host.detach().requires_grad_(part.requires_grad) for part in tensors]
        with torch.enable_grad():
            out = _of_torch(*hosts, **settings)
        ctx.hosts, ctx.out, ctx.index = hosts, out, tensors[0].index
        result = NpuTensor(out.detach(), ctx.index)
        dispatch.tell(_FORWARD, tensors, settings, result, ctx.index)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> tuple[Any, ...]:
        wanted = [host for host in ctx.hosts if host is not None and host.requires_grad]
        found = iter(torch.autograd.grad(ctx.out, wanted, gradient.host, True))
        parts = [NpuTensor(next(found), ctx.index) if host is not None and host.requires_grad else None for host in ctx.hosts]
        told = [NpuTensor(host.detach(), ctx.index) for host in ctx.hosts if host is not None]
        dispatch.tell(_BACKWARD, (gradient, *told), {}, tuple(parts), ctx.index)
        return (None, *parts)


def attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attn_mask: torch.Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> torch.Tensor:  # fmt: skip
    """`torch.nn.functional.scaled_dot_product_attention`, of any device."""
    settings = {"dropout_p": dropout_p, "is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
    if not isinstance(query, NpuTensor):
        return _of_torch(query, key, value, attn_mask, **settings)
    tensors = [query, key, value] + ([] if attn_mask is None else [attn_mask])
    if any(not isinstance(part, NpuTensor) or part.index != query.index for part in tensors):
        devices = sorted({str(part.device) for part in tensors})
        raise RuntimeError(
            f"Expected query, key, value and attn_mask to be on the same device, but found {' and '.join(devices)}"
        )
    if torch.is_autocast_enabled("npu"):
        lower = torch.get_autocast_dtype("npu")
        tensors = [part.to(lower) if part.is_floating_point() else part for part in tensors]
    return _Attention.apply(settings, *tensors, *([None] if attn_mask is None else []))


def install() -> None:
    """Put it in the place of PyTorch's, which serves all other tensors."""
    torch.nn.functional.scaled_dot_product_attention = attention
    torch._C._nn.scaled_dot_product_attention = attention
