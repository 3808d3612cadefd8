"""Code that is compiled: refused, as the simulated device runs operators one by one.

PyTorch's compiler would trace into the Python of the device itself, and a C++ extension computes on the CPU or on CUDA.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn

import torch
from torch.utils._pytree import tree_leaves

from .tensor import NpuTensor

_EXTENSIONS = "torch.utils.cpp_extension"
_SWITCHES = ("TORCH_COMPILE_DISABLE", "TORCHDYNAMO_DISABLE")
_compile_of_torch = torch.compile


def _is_off(disable: bool) -> bool:
    return disable or any(os.environ.get(name) == "1" for name in _SWITCHES)


def _refuse(what: str) -> NoReturn:
    raise RuntimeError(
        f"torch.compile is not simulated on the NPU, which runs operators one by one here: leave it out for {what}, "
        "or set TORCH_COMPILE_DISABLE=1, which PyTorch reads"
    )


def compile(model: Any = None, *, disable: bool = False, **options: Any) -> Any:
    """torch.compile: as it is where it is switched off, an error where a tensor of a device comes to it.

    Raises: RuntimeError for a module, at once; the function that is made of one raises it when it is called.
    """
    if model is None:
        return lambda function: compile(function, disable=disable, **options)
    if _is_off(disable):
        return model
    module = model if isinstance(model, torch.nn.Module) else getattr(model, "__self__", None)
    if isinstance(module, torch.nn.Module):
        _refuse(f"the model {type(module).__name__}")
    made = _compile_of_torch(model, **options)

    @wraps(model)
    def compiled(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(value, NpuTensor) for value in tree_leaves((args, kwargs))):
            _refuse(f"the function {getattr(model, '__name__', model)}")
        return made(*args, **kwargs)

    return compiled


def _refuse_extension(*args: Any, **kwargs: Any) -> NoReturn:
    raise RuntimeError(
        f"{_EXTENSIONS} builds operators for the CPU or CUDA, which tensors of the NPU cannot come to: "
        "write the operator with PyTorch's own, or as one of the vendor's for the card"
    )


class _ExtensionFinder(importlib.abc.MetaPathFinder):
    """Finds the module that builds extensions, and takes its two entries away; the module itself is slow to import."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != _EXTENSIONS:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = _then_refusing(spec.loader.exec_module)
        return spec


def _then_refusing(execute: Callable[[Any], None]) -> Callable[[Any], None]:
    def executed(module: Any) -> None:
        execute(module)
        module.load = module.load_inline = _refuse_extension

    return executed


def install() -> None:
    """Put the refusals in their places."""
    torch.compile = compile
    if _EXTENSIONS in sys.modules:
        _then_refusing(lambda module: None)(sys.modules[_EXTENSIONS])
    else:
        sys.meta_path.insert(0, _ExtensionFinder())
