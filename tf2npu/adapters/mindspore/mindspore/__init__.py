"""`mindspore` with the names of r1.0 and r1.1, on a simulated Ascend device."""

import sys as _sys

from mindspore import common, communication, context, log, nn, ops, parallel, train
from mindspore._device.absent_names import AbsentModules as _AbsentModules
from mindspore._device.absent_names import absent as _absent
from mindspore._device.checked_steps import begin as _begin_check
from mindspore.common import *
from mindspore.common import dtype
from mindspore.log import *
from mindspore.train import *

__version__ = "1.1.1+tf2npu"
__all__ = [
    *common.__all__, *log.__all__, *train.__all__, "common", "communication", "context", "dtype", "log", "nn", "ops", "parallel",
    "train",
]  # fmt: skip

__getattr__ = _absent("mindspore", lambda: __all__)
_sys.meta_path.append(_AbsentModules())

_begin_check()
print("mindspore: tf2npu's package for a simulated Ascend device, with the names of r1.0 and r1.1", file=_sys.stderr)
