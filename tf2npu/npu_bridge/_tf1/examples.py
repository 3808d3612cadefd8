"""``tensorflow.examples.tutorials.mnist``, which the wheel of TF 1.15 carried: ``input_data`` and the model ``mnist``."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

ROOT = "tensorflow.examples"
_MNIST = f"{ROOT}.tutorials.mnist"
_MODULES = {f"{_MNIST}.input_data": "npu_bridge._contrib._mnist", f"{_MNIST}.mnist": "npu_bridge._contrib._mnist_model"}


def build(name: str) -> ModuleType | None:
    """The module at that path, None when TF 1.15 had none there."""
    if name in _MODULES:
        return import_module(_MODULES[name])
    if not f"{_MNIST}.".startswith(name + "."):
        return None
    package = ModuleType(name)
    package.__path__ = []
    if name == _MNIST:  # its own __init__ imports both
        package.__dict__["__getattr__"] = _part
    return package


def _part(name: str) -> ModuleType:
    """A module of the package, as ``mnist.input_data`` names it."""
    if f"{_MNIST}.{name}" not in _MODULES:
        raise AttributeError(f"module '{_MNIST}' has no attribute '{name}'")
    return import_module(f"{_MNIST}.{name}")
