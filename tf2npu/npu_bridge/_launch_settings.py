"""What `tf2npu run` was told about the device, looked at before the script begins."""

from __future__ import annotations

from npu_bridge import _options

from npu_runtime.config import load_config
from npu_runtime.device.chip import load_chip
from npu_runtime.errors import DeviceError


def problem() -> str | None:
    """Why no session could run with the launcher's options; None when they are right."""
    try:
        config = load_config({})
        load_chip(config.soc)
    except DeviceError as error:
        return str(error.message)
    _options.note_launched(config.parameters)
    return None
