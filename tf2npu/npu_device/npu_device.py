"""The device and its options, under the vendor's path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module as _import_module
from typing import Any

import tensorflow as tf
from npu_device._device import handle as _handle
from npu_device._device import loop_size as _loop_size
from npu_device._device.handle import NPU, NpuDeviceHandle
from npu_device._device.handle import default_device as global_npu_ctx
from npu_device._device.handle import open_device as open  # the vendor's name, which hides Python's
from npu_device._device.overflow_mode import is_inf_nan_enabled, set_device_sat_mode
from npu_device._log import once as _once
from npu_device._options import option_tree as _option_tree

__all__ = [
    "NPU", "NpuDeviceHandle", "global_npu_ctx", "global_options", "is_inf_nan_enabled", "npu_compat_function", "npu_run_context",
    "open", "set_device_sat_mode", "set_npu_loop_size",
]  # fmt: skip


def global_options() -> Any:
    """The options of the process, the same object whenever it is asked for; `open` reads them."""
    return _handle.options


def set_npu_loop_size(loop_size: int) -> None:
    """Note the turns that one call of a loop makes on a real device; here a loop makes the script's.

    Raises: TypeError for what is no int, ValueError below 1.
    """
    _loop_size.set_size(loop_size)
    _loop_size.say()


def npu_compat_function(func: Callable[..., Any] | None = None, *args: Any, **kwargs: Any) -> Any:
    """``tf.function`` as it is once the NPU is the default: without the compilers that jit_compile means."""
    kwargs.update({name: False for name in ("jit_compile", "experimental_compile") if kwargs.get(name)})
    return tf.function(func, *args, **kwargs)


@contextmanager
def npu_run_context(options: Any = None) -> Iterator[None]:
    """A context with options of the functions that are called in it; they are recorded.

    Raises: ValueError when they are no ``npu_device.configs.run_context_options``.
    """
    if options is not None and not isinstance(options, _option_tree.class_of("NpuRunContextOptions")):
        raise ValueError("options type must be NpuRunContextOptions")
    if options is not None and options.experimental.graph_memory_optimize_config.recompute.value is not None:
        _once("npu_run_context: recompute is recorded; the simulated device keeps what the backward pass needs")
    yield


def __getattr__(name: str) -> Any:
    """The library of operators is here, too; it is loaded when a script first asks for it."""
    if name == "gen_npu_ops":
        return _import_module("npu_device.gen_npu_ops")
    raise AttributeError(f"module 'npu_device.npu_device' has no attribute {name!r}")
