"""Tensors from device to device, with their gradients on the way back.

PyTorch's own `to` is told of the device npu, and C++ has another name for where the tensor is (the module `tensor`): so the
moves are functions of autograd, which also bring the gradient back to where the tensor came from.
"""

from __future__ import annotations

from typing import Any

import torch

from . import dispatch, numbering, shapes_only
from .tensor import BEHAVIOUR, NpuTensor

HOST_TO_DEVICE = "host to device"
DEVICE_TO_HOST = "device to host"
DEVICE_TO_DEVICE = "device to device"
"""Texts that observers are told of copies, in place of an operator."""
_DIRECTIONS = frozenset((HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE))


class _ToDevice(torch.autograd.Function):
    """From one simulated device to another."""

    @staticmethod
    def forward(ctx: Any, source: NpuTensor, target: int) -> torch.Tensor:
        ctx.source = source.index
        result = NpuTensor(source.host.detach().clone(), target)
        dispatch.tell(DEVICE_TO_DEVICE, (source,), {}, result, target)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> tuple[torch.Tensor, None]:
        return NpuTensor(gradient.host.detach().clone(), ctx.source), None


class _ToHost(torch.autograd.Function):
    """From a simulated device to the host."""

    @staticmethod
    def forward(ctx: Any, source: NpuTensor, dtype: torch.dtype | None) -> torch.Tensor:
        ctx.source, ctx.dtype = source.index, source.dtype
        result = shapes_only.on_host(source.host, dtype)
        dispatch.tell(DEVICE_TO_HOST, (source,), {}, result, source.index)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        result = NpuTensor(gradient.detach().to(shapes_only.HOST, ctx.dtype, copy=True), ctx.source)
        dispatch.tell(HOST_TO_DEVICE, (gradient,), {}, result, ctx.source)
        return result, None


def to(source: NpuTensor, args: tuple, kwargs: dict[str, Any]) -> torch.Tensor:
    """`Tensor.to` of a tensor of a simulated device, with the arguments that PyTorch's takes."""
    if (args and isinstance(args[0], torch.Tensor)) or "other" in kwargs:
        other = args[0] if args else kwargs["other"]
        return to(source, (other.device, other.dtype, *args[1:]), {key: value for key, value in kwargs.items() if key != "other"})
    before_copy = 2 if args and isinstance(args[0], torch.dtype) else 3
    copies = bool(kwargs.get("copy")) or (len(args) > before_copy and bool(args[before_copy]))
    kwargs = {name: value for name, value in kwargs.items() if name != "copy"}
    wanted, dtype, _, memory_format = torch._C._nn._parse_to(*args[:before_copy], **kwargs)
    result: torch.Tensor = source
    if wanted is not None and wanted.type == "meta":
        return torch.empty_like(source.host, dtype=dtype, device="meta")
    if wanted is not None and wanted.type not in numbering.TYPES:
        result = _ToHost.apply(source, dtype)
    elif wanted is not None and numbering.index_of(wanted) != source.index:
        result = _ToDevice.apply(source, numbering.index_of(wanted))
    moved = result is not source
    return torch.Tensor.to(
        result, dtype=dtype or result.dtype, copy=copies and not moved, memory_format=memory_format or torch.preserve_format
    )


def direction_of(operator: Any, args: tuple, result: Any) -> str:
    """The kind of copy that observers are told of, "" for one within a device and for any other operator."""
    if operator in _DIRECTIONS:
        return operator
    if operator not in dispatch.COPIES:
        return ""
    if operator is torch.ops.aten._to_copy.default:
        source, target = args[0], result
    else:
        source, target = (args[1], args[0]) if operator is torch.ops.aten.copy_.default else args[:2]
    if isinstance(source, NpuTensor) and isinstance(target, NpuTensor):
        return "" if source.index == target.index else DEVICE_TO_DEVICE
    return DEVICE_TO_HOST if isinstance(source, NpuTensor) else HOST_TO_DEVICE


def install() -> None:
    """Let tensors move by this module."""
    BEHAVIOUR.to = to
