"""Calls that work here and fail on an Ascend host: warned about once, refused under ``tf2npu run --strict``."""

from __future__ import annotations

import os

from npu_bridge._log import once

STRICT_VARIABLE = "TF2NPU_STRICT"


def accept(call: str, on_a_host: Exception) -> None:
    """Let ``call`` pass with a warning that names the host's error; in strict mode raise that error."""
    if os.environ.get(STRICT_VARIABLE) == "1":
        raise on_a_host
    once(f"{call} works here; on a host it raises {type(on_a_host).__name__}: {on_a_host}")
