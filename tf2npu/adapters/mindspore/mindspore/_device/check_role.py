"""The part that this process has in `tf2npu check`: none, the reference on TensorFlow's own kernels, or the device."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

from npu_formats.environment import MINDSPORE, TF2NPU_CHECK, watched_adapter

DEVICE = "device"
"""The role of the process whose graphs run on the device; those of all others run on TensorFlow's CPU."""


@cache
def request() -> dict[str, Any] | None:
    """The request of the check: role, folder, steps and more; None where none runs this program."""
    return json.loads(os.environ[TF2NPU_CHECK]) if watched_adapter(os.environ) == MINDSPORE else None


def is_asked() -> bool:
    """Whether the steps of this process are written down."""
    return request() is not None


def is_reference() -> bool:
    """Whether graphs run on TensorFlow's own kernels."""
    asked = request()
    return asked is not None and asked["role"] != DEVICE
