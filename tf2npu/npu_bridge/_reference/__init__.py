"""The reference of a comparison: what an unconverted script computes on TensorFlow's CPU, written step by step.

Only in processes that `tf2npu dump reference` starts. TensorFlow's debugger copies the tensors out of each step.
"""

from __future__ import annotations

import atexit
import json
import os
from pathlib import Path

from npu_formats.environment import TF2NPU_REFERENCE

_is_installed = False


def is_asked() -> bool:
    """Whether the process was started to write a reference: it is no host with a device."""
    return bool(os.environ.get(TF2NPU_REFERENCE))


def install() -> bool:
    """Watch every later session, where the process was started for that; False in all others."""
    global _is_installed
    if not is_asked() or _is_installed:
        return is_asked()
    from npu_bridge._reference import session_hooks
    from npu_bridge._reference.recorder import Recorder

    request = json.loads(os.environ[TF2NPU_REFERENCE])
    recorder = Recorder(Path(request["out"]), Path(request["scratch"]), request["steps"])
    session_hooks.install(recorder)
    atexit.register(recorder.close)
    _is_installed = True
    return True
