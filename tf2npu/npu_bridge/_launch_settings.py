"""The options on the device that `tf2npu run` was given, checked before the script begins."""

from __future__ import annotations

from npu_bridge import _options

from npu_runtime.config import chip_of, load_config
from npu_runtime.errors import DeviceError


def problem() -> str | None:
    """The reason why no session could run with the launcher's options; None when they are right, and then they are noted."""
    try:
        config = load_config({})
        chip_of(config.soc)
    except DeviceError as error:
        return str(error.message)
    _options.note_launched(config.parameters)
    return None
