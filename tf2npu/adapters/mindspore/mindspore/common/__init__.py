"""Tensors, parameters, types, initial values, seeds, and functions that become graphs."""

from mindspore._device.absent_names import absent as _absent
from mindspore.common import dtype, tensor_operators
from mindspore.common.api import ms_function
from mindspore.common.dtype import *
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.seed import get_seed, set_seed
from mindspore.common.tensor import MetaTensor, Tensor

__all__ = [
    "MetaTensor", "Parameter", "ParameterTuple", "Tensor", "dtype", "get_seed", "ms_function",
    "set_seed", "tensor_operators",
    *dtype.__all__,
]  # fmt: skip

__getattr__ = _absent("mindspore.common", lambda: __all__)
