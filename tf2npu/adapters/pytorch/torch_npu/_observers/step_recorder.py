"""The operators of one training step, for a prediction and for a profile.

A step ends where all optimizers have stepped that step in turn, as the two of a GAN do: PyTorch tells of each by a hook. So the
first step is known to be over when an optimizer comes again, and how many there are from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from npu_formats.user_frames import calling_line
from npu_runtime.importers.pytorch.operator_call import OperatorCall, TensorUse

from .._device import dispatch, module_moves, transfers
from .._device.tensor import NpuTensor

_Tensor = torch.Tensor


class StepRecorder:
    """at_end: told of the calls of each step, in order.  n_optimizers: that step in turn, 0 where that is to be found out.

    n_before_update: of the calls that at_end is told, those before the last optimizer stepped; None where none did.
    """

    def __init__(self, at_end: Callable[[list[OperatorCall]], None], n_optimizers: int = 0) -> None:
        self.calls: list[OperatorCall] = []
        self.n_before_update: int | None = None
        self._at_end = at_end
        self._n_optimizers = n_optimizers
        self._parts: list[tuple[int, list[OperatorCall], int]] = []
        self._n_before = 0

    def begin(self) -> None:
        """Take part in all operators and steps from here on."""
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        dispatch.OBSERVERS.append(self.observe)
        register_optimizer_step_pre_hook(self._begins_update)
        register_optimizer_step_post_hook(self._stepped)

    def observe(self, operator: Any, args: tuple, kwargs: dict[str, Any], result: Any, index: int) -> None:
        """Keep a call, unless it moves a model."""
        if module_moves.is_moving():
            return
        self.calls.append(call_of(operator, args, kwargs, result, index))

    def _begins_update(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self._n_before = len(self.calls)

    def _stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        calls, self.calls = self.calls, []
        if self._parts and self._parts[0][0] == id(optimizer):
            self._n_optimizers = len(self._parts)
            self._end()
        self._parts.append((id(optimizer), calls, self._n_before))
        if len(self._parts) == self._n_optimizers:
            self._end()

    def finish(self) -> None:
        """End the step at hand here, where no optimizer will."""
        self._end()
        calls, self.calls = self.calls, []
        if calls:
            self.n_before_update = None
            self._at_end(calls)

    def _end(self) -> None:
        parts, self._parts = self._parts, []
        if parts:
            self.n_before_update = sum(len(calls) for _, calls, _ in parts[:-1]) + parts[-1][2]
            self._at_end([call for _, calls, _ in parts for call in calls])


def call_of(operator: Any, args: tuple, kwargs: dict[str, Any], result: Any, index: int) -> OperatorCall:
    """A call as plain data: what an observer of `dispatch` is told, and the line of the script."""
    name, overload = _name(operator, args, result)
    file, _, line = calling_line().rpartition(":")
    results = tuple(_kept(part) for part in (result if isinstance(result, (tuple, list)) else (result,)))
    arguments, keywords = tuple(_kept(value) for value in args), {key: _kept(value) for key, value in kwargs.items()}
    return OperatorCall(name, overload or "default", arguments, keywords, results, file, int(line or 0), index)


def _name(operator: Any, args: tuple, result: Any) -> tuple[str, str]:
    """Name and overload; those of copies between host and device say which way they go."""
    if direction := transfers.direction_of(operator, args, result):
        return f"copy {direction}", ""
    if not isinstance(operator, str):
        return operator._schema.name, operator._schema.overload_name
    name, _, overload = operator.partition(".")
    return name, overload


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
