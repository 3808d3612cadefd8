"""The operators of one training step, for a prediction and for a profile.

A step ends where an optimizer has stepped: PyTorch tells of that by a hook of its own. Calls of an optimizer that follows another
without a backward pass between them, as the two of a GAN may, belong to steps of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from npu_runtime.importers.pytorch.operator_call import OperatorCall, TensorUse

from npu_formats.user_frames import calling_line

from . import dispatch
from .tensor import NpuTensor

_Tensor = torch.Tensor


class StepRecorder:
    """at_end: told of the calls of each step, in order."""

    def __init__(self, at_end: Callable[[list[OperatorCall]], None]) -> None:
        self.calls: list[OperatorCall] = []
        self._at_end = at_end

    def begin(self) -> None:
        """Take part in all operators and steps from here on."""
        from torch.optim.optimizer import register_optimizer_step_post_hook

        dispatch.OBSERVERS.append(self.observe)
        register_optimizer_step_post_hook(self._stepped)

    def observe(self, operator: Any, args: tuple, kwargs: dict[str, Any], result: Any, index: int) -> None:
        """Keep a call."""
        name, overload = (operator, "") if isinstance(operator, str) else (operator._schema.name, operator._schema.overload_name)
        file, _, line = calling_line().rpartition(":")
        results = tuple(_kept(part) for part in (result if isinstance(result, (tuple, list)) else (result,)))
        self.calls.append(
            OperatorCall(
                name, overload or "default", tuple(_kept(value) for value in args),
                {key: _kept(value) for key, value in kwargs.items()}, results, file, int(line or 0), index,
            )
        )  # fmt: skip

    def _stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        calls, self.calls = self.calls, []
        self._at_end(calls)


def _kept(value: Any) -> Any:
    """A value of a call as plain data: tensors by their form, types and devices by their names."""
    if isinstance(value, _Tensor):
        return _use(value)
    if isinstance(value, (list, tuple)):
        return tuple(_kept(part) for part in value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value).removeprefix("torch.")


def _use(tensor: _Tensor) -> TensorUse:
    number = tensor.allocation.number if isinstance(tensor, NpuTensor) else -tensor.untyped_storage()._cdata
    strides = tensor.stride() if tensor.layout is torch.strided else ()
    shape, dtype = tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
    return TensorUse(number, shape, dtype, strides, isinstance(tensor, torch.nn.Parameter))
