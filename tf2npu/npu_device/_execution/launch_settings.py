"""The options of the device that `tf2npu run` was given, checked before the script begins."""

from __future__ import annotations

import atexit
import os

from npu_device._execution import run_summary

from npu_formats.environment import watched_adapter
from npu_runtime.config import chip_of, load_config
from npu_runtime.errors import DeviceError


def problem() -> str | None:
    """The reason why no function could run with the launcher's options; None when they are right.

    From then on the process says at its end when nothing ran on the device, but for one at whose steps a command looks.
    """
    try:
        chip_of(load_config({}).soc)
    except DeviceError as error:
        return str(error.message)
    if not watched_adapter(os.environ):
        atexit.register(run_summary.print_unopened)
    return None
