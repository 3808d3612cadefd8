"""PyTorch's old types of tensors for the NPU, torch.npu.FloatTensor and so on: constructors, and what `type()` takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .tensor import NpuTensor

DTYPES = {
    "BFloat16Tensor": torch.bfloat16,
    "BoolTensor": torch.bool,
    "ByteTensor": torch.uint8,
    "CharTensor": torch.int8,
    "DoubleTensor": torch.float64,
    "FloatTensor": torch.float32,
    "HalfTensor": torch.float16,
    "IntTensor": torch.int32,
    "LongTensor": torch.int64,
    "ShortTensor": torch.int16,
}

_set_default_of_torch = torch.set_default_tensor_type


class _TypeMeta(type):
    dtype: torch.dtype

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, NpuTensor) and value.dtype is cls.dtype

    def __call__(cls, *args: Any) -> torch.Tensor:
        """Numbers are sizes, anything else is data, as in PyTorch's old constructors."""
        if not args or isinstance(args[0], (int, torch.Size)):
            size = args[0] if args and isinstance(args[0], torch.Size) else args
            return torch.empty(size or (0,), dtype=cls.dtype, device="npu")
        return torch.as_tensor(args[0]).to("npu", cls.dtype)


def _made(name: str) -> _TypeMeta:
    return _TypeMeta(name, (), {"dtype": DTYPES[name], "is_npu": True, "is_cuda": False, "__module__": "torch.npu"})


TYPES = {name: _made(name) for name in DTYPES}
"""The types by their names."""


def _named(text: str) -> Any:
    module, _, name = text.rpartition(".")
    return TYPES.get(name) if module == "torch.npu" else None


BY_TEXT: list[Callable[[str], Any]] = [_named]
"""A function that tells the type that a text names, or None."""


def _type_of(value: Any) -> Any:
    if isinstance(value, str):
        return next(filter(None, (named(value) for named in BY_TEXT)), None)
    return value if isinstance(value, _TypeMeta) else None


def _converting(function: Callable[..., Any]) -> Callable[..., Any]:
    def converted(self: Any, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        found = _type_of(dtype)
        return function(self, dtype, non_blocking, **kwargs) if found is None else self.to("npu", found.dtype)

    return converted


def _set_default(wanted: Any) -> None:
    """torch.set_default_tensor_type: one of the NPU is a default device and a default type."""
    found = _type_of(wanted)
    if found is None:
        if torch.get_default_device().type == "npu":
            torch.set_default_device(None)
        _set_default_of_torch(wanted)
        return
    torch.set_default_dtype(found.dtype)
    torch.set_default_device("npu")


def install() -> None:
    """Let PyTorch take the types."""
    for kind in (torch.Tensor, NpuTensor):
        kind.type = _converting(kind.type)
    torch.set_default_tensor_type = _set_default
