"""Collective operations as operators of PyTorch, as DTensor and torch.distributed._functional_collectives call them.

They are C++, which finds the group by its name and gives it the tensors of the hosts.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from .. import dispatch
from .memory_views import HostsAllowed

_NAMESPACE = "_c10d_functional::"


def _carry_out(operator: Any, *args: Any, **kwargs: Any) -> Any:
    """The group tells the observers."""
    with HostsAllowed():
        return dispatch.carried_out(operator, args, kwargs)[0]


def _wait(tensor: Any) -> Any:
    with HostsAllowed():
        torch.ops._c10d_functional.wait_tensor.default(tensor.host)
    return tensor


def install() -> None:
    """Have the operators carried out here."""
    for name in torch._C._dispatch_get_all_op_names():
        if name.startswith(_NAMESPACE):
            short, _, overload = name.removeprefix(_NAMESPACE).partition(".")
            operator = getattr(getattr(torch.ops._c10d_functional, short), overload or "default")
            dispatch.ON_WRAPPERS[operator] = partial(_carry_out, operator)
    dispatch.ON_WRAPPERS[torch.ops._c10d_functional.wait_tensor.default] = _wait
