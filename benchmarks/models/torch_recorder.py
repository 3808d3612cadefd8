"""Writes down the calls of PyTorch's operators in a step, as npu_runtime.importers.pytorch reads them.

On the meta device nothing is computed and no tensor has memory, so a step of any batch size takes seconds.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from npu_runtime.importers.pytorch.operator_call import OperatorCall, TensorUse

_TORCH = str(Path(torch.__file__).parent)


class CallRecorder(TorchDispatchMode):
    """calls: so far.  parameters: tensors whose uses are marked as such."""

    def __init__(self, parameters: Iterable[torch.Tensor] = ()) -> None:
        super().__init__()
        self.calls: list[OperatorCall] = []
        self._storages: dict[int, int] = {}
        self._kept: list[torch.UntypedStorage] = []  # while it lives, no other storage has its address
        self._parameters = {self._number(tensor) for tensor in parameters}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """The call, written down with what it gave; arguments are read before it may change them."""
        arguments, keywords = self._plain(args), {name: self._plain(value) for name, value in (kwargs or {}).items()}
        out = func(*args, **(kwargs or {}))
        results = self._plain(out if isinstance(out, (tuple, list)) else (out,))
        if not _is_on_device((args, kwargs, out)):
            return out  # the host's own tensors, such as the steps that an optimizer counts
        name, overload = func._schema.name, func._overloadname
        self.calls.append(OperatorCall(name, overload, arguments, keywords, results, *_place(), 0))
        return out

    def _plain(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            number, dtype = self._number(value), str(value.dtype).removeprefix("torch.")
            return TensorUse(number, tuple(value.shape), dtype, tuple(value.stride()), number in self._parameters)
        if isinstance(value, (tuple, list)):
            return tuple(map(self._plain, value))
        return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)

    def _number(self, tensor: torch.Tensor) -> int:
        storage = tensor.untyped_storage()
        if storage._cdata not in self._storages:
            self._storages[storage._cdata] = len(self._storages)
            self._kept.append(storage)
        return self._storages[storage._cdata]


def recorded(step: Callable[[], object], parameters: Iterable[torch.Tensor]) -> list[OperatorCall]:
    """The calls of a step."""
    with CallRecorder(parameters) as recorder:
        step()
    return recorder.calls


def counted_flops(step: Callable[[], object]) -> dict[str, int]:
    """Floating-point operations of the convolutions and products of a step by operator, as torch counts them."""
    with FlopCounterMode(display=False) as counter:
        step()
    return {
        str(op): int(flops) for op, flops in sorted(counter.get_flop_counts()["Global"].items(), key=lambda pair: str(pair[0]))
    }


def write_calls(path: Path, calls: Sequence[OperatorCall], flops: dict[str, int]) -> None:
    """Calls and flops as a compressed JSON file; tensors and calls of the same text are written once."""
    uses: dict[TensorUse, int] = {}
    rows = [[name, overload, *(_packed(value, uses) for value in (arguments, keywords, results)), file, line, device]
            for name, overload, arguments, keywords, results, file, line, device in calls]  # fmt: skip
    text = json.dumps({"uses": list(uses), "calls": rows, "flops": flops}, separators=(",", ":"))
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def _is_on_device(value: Any) -> bool:
    """Whether there is a tensor of the meta device in it."""
    if isinstance(value, torch.Tensor):
        return value.device.type == "meta"
    if isinstance(value, dict):
        return any(map(_is_on_device, value.values()))
    return isinstance(value, (tuple, list)) and any(map(_is_on_device, value))


def _packed(value: Any, uses: dict[TensorUse, int]) -> Any:
    """The value as JSON has it: {"t": n} stands for the n-th tensor."""
    if isinstance(value, TensorUse):
        return {"t": uses.setdefault(value, len(uses))}
    if isinstance(value, tuple):
        return [_packed(one, uses) for one in value]
    return {name: _packed(one, uses) for name, one in value.items()} if isinstance(value, dict) else value


def _place() -> tuple[str, int]:
    """File and line of the first frame outside of torch and of this module."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith((_TORCH, __file__, "<")):
        frame = frame.f_back
    return (Path(frame.f_code.co_filename).name, frame.f_lineno) if frame is not None else ("", 0)
