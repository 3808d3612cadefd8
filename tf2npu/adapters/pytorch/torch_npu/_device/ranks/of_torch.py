"""Functions of torch.distributed that are in C++, which has no numbers of the devices' tensors: others in their places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist

from ..tensor import NpuTensor
from . import functional, started, sync_batch_norm
from .ddp_log import DdpLog
from .memory_views import HostsAllowed
from .process_group import NAME, HcclGroup, make_group
from .reducer import Reducer

_broadcast_coalesced = dist._broadcast_coalesced
_verify_params = dist._verify_params_across_processes
_Reducer, _Logger = dist.Reducer, dist.Logger
_register_comm_hook, _register_builtin_comm_hook = dist._register_comm_hook, dist._register_builtin_comm_hook


def _hosts(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return [tensor.host if isinstance(tensor, NpuTensor) else tensor for tensor in tensors]


def broadcast_coalesced(group: Any, tensors: Sequence[torch.Tensor], buffer_size: int, src: int = 0) -> None:
    """Bring a rank's tensors to all ranks, many in one operation.  buffer_size: bytes of one."""
    if not isinstance(group, HcclGroup):
        _broadcast_coalesced(group, tensors, buffer_size, src)
        return
    with HostsAllowed(), torch.no_grad():
        _broadcast_coalesced(group, _hosts(tensors), buffer_size, src)


def verify_params(group: Any, tensors: Sequence[torch.Tensor], logger: Any = None) -> None:
    """Compare the shapes of parameters between ranks.  Raises: RuntimeError of PyTorch's own where they differ."""
    if not isinstance(group, HcclGroup):
        _verify_params(group, tensors, logger)
        return
    with HostsAllowed():
        _verify_params(group, _hosts(tensors), None)


def make_reducer(params: Sequence[torch.Tensor], *args: Any, **kwargs: Any) -> Any:
    """The reducer of DistributedDataParallel."""
    kind = Reducer if any(isinstance(parameter, NpuTensor) for parameter in params) else _Reducer
    return kind(params, *args, **kwargs)


def make_logger(reducer: Any) -> Any:
    """The log of DistributedDataParallel."""
    return DdpLog() if isinstance(reducer, Reducer) else _Logger(reducer)


def register_comm_hook(reducer: Any, state: Any, hook: Any) -> None:
    """Have gradients reduced by a function of the user's."""
    if isinstance(reducer, Reducer):
        reducer.set_hook(state, hook)
    else:
        _register_comm_hook(reducer, state, hook)


def register_builtin_comm_hook(reducer: Any, kind: Any) -> None:
    """Have gradients reduced by a function of PyTorch's."""
    if not isinstance(reducer, Reducer):
        _register_builtin_comm_hook(reducer, kind)
        return
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

    is_narrow = kind == dist.BuiltinCommHookType.FP16_COMPRESS
    reducer.set_hook(reducer.group, default_hooks.fp16_compress_hook if is_narrow else default_hooks.allreduce_hook)


def install() -> None:
    """Register the backend, and put the functions in their places."""
    started.install()
    if not dist.is_available():
        return
    dist.Backend.register_backend(NAME, make_group, extended_api=True, devices=["npu"])
    dist._broadcast_coalesced = broadcast_coalesced
    dist._verify_params_across_processes = verify_params
    dist.Reducer, dist.Logger = make_reducer, make_logger
    dist._register_comm_hook = register_comm_hook
    dist._register_builtin_comm_hook = register_builtin_comm_hook
    dist.is_hccl_available = lambda: True
    sync_batch_norm.install()
    functional.install()
