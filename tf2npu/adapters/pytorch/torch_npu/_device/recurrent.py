"""Recurrent layers: one operator each, as the device has them; the CPU's layer computes its numbers and its gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from . import dispatch
from .tensor import NpuTensor, unwrapped

LAYERS = ("lstm", "gru", "rnn_tanh", "rnn_relu")
"""The layers' functions in torch._VF."""


class _Layer(torch.autograd.Function):
    """name: of the layer.  given: its arguments, of which `tensors` are all tensors, flat."""

    @staticmethod
    def forward(ctx: Any, name: str, given: tuple, *tensors: Any) -> tuple[NpuTensor, ...]:
        ctx.set_materialize_grads(False)
        index = next(tensor.index for tensor in tensors if isinstance(tensor, NpuTensor))
        hosts = [unwrapped(tensor).detach().requires_grad_(tensor.requires_grad) for tensor in tensors]
        with torch.enable_grad():
            out = getattr(torch._C._VariableFunctions, name)(*_arranged(given, hosts))
        ctx.hosts, ctx.out, ctx.index, ctx.name, ctx.given = hosts, out, index, name, given
        result = tuple(NpuTensor(part.detach(), index) for part in out)
        dispatch.tell(f"aten::{name}{_overload(given)}", given, {}, result, index)
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        wanted = [host for host in ctx.hosts if host.requires_grad]
        given = [(out, part.host) for out, part in zip(ctx.out, gradients, strict=True) if part is not None and out.requires_grad]
        made = torch.autograd.grad([out for out, _ in given], wanted, [part for _, part in given], True, allow_unused=True)
        found = iter(made)
        parts = [next(found) if host.requires_grad else None for host in ctx.hosts]
        result = tuple(None if part is None else NpuTensor(part, ctx.index) for part in parts)
        first = next(part for part in gradients if part is not None)
        name = f"aten::{ctx.name}_backward{_overload(ctx.given)}"
        dispatch.tell(name, (first, *ctx.given), {}, result, ctx.index)
        return (None, None, *result)


def _overload(given: tuple) -> str:
    """ ".data" for the form of packed sequences, whose third argument is the list of states."""
    return ".data" if isinstance(given[1], torch.Tensor) and not given[1].is_floating_point() else ""


def _flat(args: Sequence[Any]) -> list[torch.Tensor]:
    return [part for value in args for part in (value if isinstance(value, (list, tuple)) else (value,)) if _is_tensor(part)]


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def _arranged(args: Sequence[Any], tensors: Sequence[torch.Tensor]) -> list[Any]:
    """args with their tensors replaced by others, in order."""
    rest = iter(tensors)
    return [
        [next(rest) for _ in value] if isinstance(value, (list, tuple)) and value and _is_tensor(value[0])
        else next(rest) if _is_tensor(value) else value
        for value in args
    ]  # fmt: skip


def _layer(name: str) -> Callable[..., Any]:
    of_torch = getattr(torch._VF, name)

    def layer(*args: Any) -> Any:
        tensors = _flat(args)
        if not any(isinstance(tensor, NpuTensor) for tensor in tensors):
            return of_torch(*args)
        devices = {str(tensor.device) for tensor in tensors if isinstance(tensor, NpuTensor) or tensor.dim() > 1}
        if len(devices) > 1:
            raise RuntimeError("Input and parameter tensors are not at the same device, found " + " and ".join(sorted(devices)))
        if torch.is_autocast_enabled("npu"):
            lower = torch.get_autocast_dtype("npu")
            args = tuple(_arranged(args, [tensor.to(lower) if tensor.is_floating_point() else tensor for tensor in tensors]))
            tensors = _flat(args)
        return _Layer.apply(name, args, *tensors)

    return layer


def install() -> None:
    """Put the layers in the place of PyTorch's, which serve all other tensors."""
    for name in LAYERS:
        setattr(torch._VF, name, _layer(name))
