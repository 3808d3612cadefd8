"""The data pipelines of MindSpore r1.1 on the host: sources, operations and transforms, row by row in numpy.

Rows, types and the values of transforms that draw nothing are MindSpore's; orders and values that are drawn come from numpy's
generators. Formats of their own (MindRecord, TFRecord) and caches are refused by name.
"""

from mindspore._device.absent_names import absent as _absent

from .core import config
from .engine import *
from .engine import REFUSED
from .engine import __all__ as _engine

__all__ = [*_engine, "REFUSED", "config"]

__getattr__ = _absent("mindspore.dataset", lambda: __all__)
