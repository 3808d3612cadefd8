"""``npu_device`` for a simulated Ascend device: TensorFlow 2's functions run on it once it is the default.

Importing it changes nothing of TensorFlow but names of older releases, which come back: ``open().as_default()`` does.
"""

if __name__ != "npu_device":
    raise ImportError(f"import npu_device, not {__name__}: a second copy would change TensorFlow twice")

import importlib as _importlib
import importlib.util as _importlib_util
import os as _os
import sys as _sys

if _importlib_util.find_spec("tensorflow") is None:
    raise ImportError(
        "npu_device needs TensorFlow 2.15, which this Python "
        f"{_sys.version_info[0]}.{_sys.version_info[1]} does not have; use Python 3.10 or 3.11"
    )

from npu_device import _old_names
from npu_device.npu_device import (
    global_options,
    is_inf_nan_enabled,
    npu_compat_function,
    npu_run_context,
    open,
    set_device_sat_mode,
    set_npu_loop_size,
)
from npu_device.utils.scope import keep_dtype_scope, npu_recompute_scope

from npu_formats.environment import watched_adapter as _watched_adapter

_old_names.install()
if _watched_adapter(_os.environ) == "npu_device":
    from npu_device import _call_steps

    _call_steps.install()
_LATER = ("compat", "configs", "distribute", "gen_npu_ops", "ops", "train")
"""Parts that are loaded when a script first uses them: they read more of TensorFlow than `open`, which refuses other versions."""

__all__ = [
    "global_options", "is_inf_nan_enabled", "keep_dtype_scope", "npu_compat_function", "npu_recompute_scope", "npu_run_context",
    "open", "set_device_sat_mode", "set_npu_loop_size", *_LATER,
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name in _LATER:
        return _importlib.import_module(f"npu_device.{name}")
    raise AttributeError(f"module 'npu_device' has no attribute {name!r}")
