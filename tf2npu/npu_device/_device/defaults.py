"""The meaning of TensorFlow's own ways to choose a device, a compiler or a type, once the NPU is the default."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any

from npu_device._log import once
from npu_device.utils.scope import keep_dtype_scope
from tensorflow.python.eager.polymorphic_function import polymorphic_function
from tensorflow.python.framework import ops

from npu_formats.user_frames import is_library

_JIT = "_jit_compile"
"""The attribute in which a function of TensorFlow keeps jit_compile, and looks it up whenever it traces or calls."""


def install() -> None:
    """Let `tf.device` do nothing, functions ignore jit_compile, also those that are there, and updates keep their types."""
    from keras.src.optimizers.optimizer import _BaseOptimizer  # which other versions have not

    ops.device = _device
    setattr(polymorphic_function.Function, _JIT, property(_is_compiled, _remember))
    _BaseOptimizer._update_step = _in_own_types(_BaseOptimizer._update_step)


def _in_own_types(update: Callable[..., Any]) -> Callable[..., Any]:
    """An update of a variable by one of Keras' optimizers since 2.11, in the types that it has.

    Legacy optimizers update by one operation of TensorFlow, which is never narrowed. The others compute with plain operations,
    and in fp16 the epsilon of Adam is 0, so that mixed precision would divide by 0.
    """

    @wraps(update)
    def in_own_types(*args: Any, **kwargs: Any) -> Any:
        with keep_dtype_scope():
            return update(*args, **kwargs)

    return in_own_types


def _device(device_name_or_function: Any = None) -> AbstractContextManager[None]:
    """A context that changes nothing: every function runs on the NPU, and every other operation on the host."""
    if device_name_or_function is not None and _is_called_by_script():
        once("tf.device does nothing: functions run on the NPU, and what runs outside of them on the host")
    return nullcontext()


def _is_called_by_script() -> bool:
    """Whether a device is chosen by the user's code; Keras and TensorFlow do so all the time."""
    frame = sys._getframe(2)
    is_tf_device = frame.f_code.co_name == "device_v2" and frame.f_back is not None
    return not is_library((frame.f_back if is_tf_device else frame).f_code.co_filename)


def _is_compiled(function: Any) -> bool | None:
    """False for True, which would compile with XLA."""
    asked = vars(function).get(_JIT)
    if asked and not is_library(function.python_function.__code__.co_filename):
        once(f"jit_compile of {function.python_function.__name__} is ignored: the graph compiler compiles every function")
    return False if asked else asked


def _remember(function: Any, is_asked: bool | None) -> None:
    vars(function)[_JIT] = is_asked
