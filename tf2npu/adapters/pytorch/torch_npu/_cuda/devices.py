"""Devices that a script calls cuda, as the NPU's."""

from __future__ import annotations

import re
from typing import Any

import torch

from .._device import numbering
from .._observers import switched

_device = torch.device
_TEXT = re.compile(r"cuda(:\d+)?\Z")
_ANY_TEXT = re.compile(r"(cuda|npu)(:\d+)?\Z")
_is_reference = False
_has_asked = False


def is_cuda(value: Any) -> bool:
    """Whether a text or a torch.device names a device of CUDA."""
    return (type(value) is str and _TEXT.match(value) is not None) or (type(value) is _device and value.type == "cuda")


def of_npu(value: Any) -> Any:
    """The NPU's device of a text or a torch.device of CUDA; anything else as it is.

    A text is recorded as switched. A torch.device is not: the line that made it is. In the reference of a check the CPU stands
    for both.
    """
    if _is_reference:
        return _of_cpu(value)
    if type(value) is str:
        if _TEXT.match(value) is None:
            return value
        made = value.replace("cuda", "npu")
        switched.note(f'"{value}"', f'"{made}"')
        return made
    if type(value) is _device and value.type == "cuda":
        return _device("npu") if value.index is None else _device("npu", value.index)
    return value


def _of_cpu(value: Any) -> Any:
    if type(value) is str:
        return value if _ANY_TEXT.match(value) is None else cpu().type
    return cpu() if type(value) is _device and value.type in ("cuda", "npu") else value


def cpu() -> torch.device:
    """The CPU in the place of a device that a script has asked for."""
    global _has_asked
    _has_asked = True
    return _device("cpu")


def has_asked() -> bool:
    """Whether the script of a reference has asked for a device that the CPU stands for."""
    return _has_asked


def of_keyword(value: Any) -> Any:
    """The device of an argument that takes nothing else, where a number is one, too."""
    return cpu() if _is_reference and type(value) is int else of_npu(value)


def take_cpu() -> None:
    """Let the CPU stand for CUDA's devices and for the NPU's, from here on."""
    global _is_reference
    _is_reference = True


class _DeviceMeta(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, _device)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, _device)


class device(metaclass=_DeviceMeta):
    """torch.device, which records the places that make devices of CUDA.

    Those stay devices of CUDA, as under the vendor's module: a script that asks for their type goes on as on a GPU.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = _device(*args, **kwargs)
        if made.type == "cuda":
            text = "cuda" if made.index is None or "index" in kwargs or len(args) > 1 else str(made)
            switched.note(f'"{text}"', f'"{text.replace("cuda", "npu")}"')
        return made


def install() -> None:
    """Record where devices of CUDA are made, and let torch.npu take them."""
    device.__module__, device.__qualname__ = "torch", "device"  # pickle looks torch.device up by them
    torch.device = device
    numbering.TYPES.add("cuda")
