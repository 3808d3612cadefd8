"""Ranks of a job."""

from mindspore._device.absent_names import absent as _absent
from mindspore.communication.management import GlobalComm, get_group_size, get_rank, init

__all__ = ["GlobalComm", "get_group_size", "get_rank", "init"]

__getattr__ = _absent("mindspore.communication", lambda: __all__)
