"""Primitives."""

from mindspore._device.absent_names import absent as _absent
from mindspore.ops.operations import (
    array_ops,
    comm_ops,
    debug_ops,
    inner_ops,
    math_ops,
    nn_ops,
    other_ops,
    random_ops,
)  # fmt: skip
from mindspore.ops.operations.array_ops import *
from mindspore.ops.operations.comm_ops import *
from mindspore.ops.operations.debug_ops import *
from mindspore.ops.operations.inner_ops import *
from mindspore.ops.operations.math_ops import *
from mindspore.ops.operations.nn_ops import *
from mindspore.ops.operations.other_ops import *
from mindspore.ops.operations.random_ops import *

__all__ = [
    *array_ops.__all__, *comm_ops.__all__, *debug_ops.__all__, *inner_ops.__all__, *math_ops.__all__, *nn_ops.__all__,
    *other_ops.__all__, *random_ops.__all__,
]  # fmt: skip

__getattr__ = _absent("mindspore.ops", lambda: __all__)
