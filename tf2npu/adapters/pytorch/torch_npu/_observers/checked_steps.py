"""The training steps of a script under `tf2npu check`, written down as they are made: losses, gradients and updates.

A step is that of an optimizer of torch.optim, of which PyTorch tells by a hook.
"""

from __future__ import annotations

import json
import os
import random
from functools import wraps
from typing import Any

import torch

from npu_formats.documents.written_steps import StepsFile, as_json, place_of
from npu_formats.environment import TF2NPU_CHECK
from npu_formats.user_frames import calling_line

from .._cuda import devices
from . import tensor_sketches
from .parameter_names import Names, modules_in_eval

SEED = 20210
"""Any number serves, as long as each run has the same."""
_HALVES = (torch.float16, torch.bfloat16)
_WITHOUT_EFFECT = ("params", "foreach", "fused", "capturable", "differentiable", "initial_lr")
"""Settings of a group that do not say what an update is, but how it is computed."""


def begin() -> None:
    """Take part in a process that runs a script for a check."""
    asked = os.environ.get(TF2NPU_CHECK)
    if asked:
        Recorder(StepsFile.of_request(json.loads(asked))).begin()


def is_reference() -> bool:
    """Whether this process runs a script for a check on the CPU, which stands for CUDA and for the NPU there."""
    asked = os.environ.get(TF2NPU_CHECK)
    return bool(asked) and json.loads(asked)["role"] != "device"


class Recorder:
    """file: into which the steps are written."""

    def __init__(self, file: StepsFile) -> None:
        self._file = file
        self._names = Names()
        self._begun: dict[str, Any] = {}
        self._scaled: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._loss: torch.Tensor | None = None
        self._n_backward = 0
        self._backward_line = ""
        self._is_half = False
        self._left_out = 0

    def begin(self) -> None:
        """Seed what the script may not seed, and watch backward, optimizers, autocast and the end from here on."""
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        _seed()
        register_optimizer_step_pre_hook(self._begins)
        register_optimizer_step_post_hook(self._stepped)
        torch.autograd.backward = self._watched(torch.autograd.backward)
        scaler, autocast = torch.amp.GradScaler, torch.amp.autocast_mode.autocast
        scaler.scale, scaler.step = self._scaling(scaler.scale), self._stepping(scaler.step)
        autocast.__enter__ = self._entering(autocast.__enter__)
        self._file.watch_failure()
        from npu_runtime.exit_handlers import at_process_end  # the runtime, which only a check needs here

        at_process_end(self._end)

    def _watched(self, backward: Any) -> Any:
        @wraps(backward)
        def watched(tensors: Any, *args: Any, **kwargs: Any) -> None:
            parts = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
            if len(parts) == 1 and parts[0].numel() == 1:
                known = self._scaled.get(id(parts[0]))
                self._loss = tensor_sketches.host_of(parts[0] if known is None else known[1])
            self._n_backward += 1
            self._backward_line = calling_line()
            backward(tensors, *args, **kwargs)

        return watched

    def _scaling(self, scale: Any) -> Any:
        """GradScaler.scale, which tells of which loss a scaled one is made. Both are kept, so that the number stays theirs."""

        @wraps(scale)
        def scaling(scaler: Any, outputs: Any) -> Any:
            made = scale(scaler, outputs)
            if isinstance(outputs, torch.Tensor):
                self._scaled[id(made)] = made, outputs
            return made

        return scaling

    def _stepping(self, step: Any) -> Any:
        """GradScaler.step, which leaves the step of the optimizer out where a gradient is infinite."""

        @wraps(step)
        def stepping(scaler: Any, *args: Any, **kwargs: Any) -> Any:
            n_before = self._file.n_left
            made = step(scaler, *args, **kwargs)
            self._left_out += self._file.n_left == n_before
            return made

        return stepping

    def _entering(self, enter: Any) -> Any:
        @wraps(enter)
        def entering(context: Any) -> Any:
            self._is_half = self._is_half or (context._enabled and context.fast_dtype in _HALVES)
            return enter(context)

        return entering

    def _begins(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self._file.is_of_this_process:
            return
        self._names.see(optimizer)
        self._begun = {
            "before": [tensor_sketches.sketch(parameter) for parameter in _parameters(optimizer)],
            "groups": [_settings(group) for group in optimizer.param_groups],
            "in_eval": modules_in_eval(self._names.modules_of(optimizer)),
            "line": calling_line(),
        }

    def _stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self._file.is_of_this_process or not self._begun:
            return
        step = self._step(optimizer)
        self._begun, self._scaled, self._loss = {}, {}, None
        self._n_backward, self._left_out, self._backward_line = 0, 0, ""
        self._file.put(step)

    def _step(self, optimizer: Any) -> dict[str, Any]:
        begun, parameters = self._begun, _parameters(optimizer)
        told = [
            {**_parameter(self._names.of(parameter), parameter), "before": before}
            for parameter, before in zip(parameters, begun["before"], strict=True)
        ]
        loss = as_json(None if self._loss is None else float(self._loss))
        is_half = self._is_half or any(parameter.dtype in _HALVES for parameter in parameters)
        (file, line), (backward_file, backward_line) = place_of(begun["line"]), place_of(self._backward_line)
        return {
            "optimizer": type(optimizer).__name__, "parameters": told, "groups": begun["groups"], "in_eval": begun["in_eval"],
            "loss": loss, "is_half": is_half, "asks_device": devices.has_asked(), "file": file, "line": line,
            "backward_file": backward_file, "backward_line": backward_line, "left_out": self._left_out,
        }  # fmt: skip

    def _end(self) -> None:
        self._file.end(n_backward=self._n_backward, left_out=self._left_out)


def _seed() -> None:
    """Seed Python, numpy and PyTorch, so that what a script does not seed itself is the same in each run."""
    random.seed(SEED)
    torch.manual_seed(SEED)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(SEED)


def _parameters(optimizer: Any) -> list[torch.Tensor]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def _settings(group: dict[str, Any]) -> dict[str, str]:
    """The settings of a group as Python writes them; a tensor as its number."""
    kept = {name: value for name, value in group.items() if name not in _WITHOUT_EFFECT}
    return {name: repr(float(value) if isinstance(value, torch.Tensor) else value)[:200] for name, value in kept.items()}


def _parameter(name: str, parameter: torch.Tensor) -> dict[str, Any]:
    """A parameter behind its update."""
    gradient = None if parameter.grad is None else tensor_sketches.sketch(parameter.grad)
    dtype, after = str(parameter.dtype).removeprefix("torch."), tensor_sketches.sketch(parameter)
    return {"name": name, "dtype": dtype, "device": parameter.device.type, "gradient": gradient, "after": after}
