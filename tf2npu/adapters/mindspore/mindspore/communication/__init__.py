"""Ranks of a job."""

from mindspore._device.absent_names import absent as _absent
from mindspore.communication import management
from mindspore.communication.management import *

__all__ = list(management.__all__)

__getattr__ = _absent("mindspore.communication", lambda: __all__)
