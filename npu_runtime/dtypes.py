"""Element types by TensorFlow's names, and which of them the device has."""

from __future__ import annotations

import ml_dtypes
import numpy as np

FLOATS = frozenset({"float16", "bfloat16", "float32"})
INTEGERS = frozenset({"int8", "uint8", "int16", "int32", "int64"})
INDICES = frozenset({"int32", "int64"})
NUMBERS = FLOATS | INTEGERS
ALL = NUMBERS | {"bool"}
"""Every element type of the device; float64 and complex have no unit on an Ascend 910."""
KEYS = frozenset({"uint64"})
"""Element types of keys and counters of random streams, which the device moves and draws from, and does not calculate with."""
MOVED = ALL | KEYS

_NUMPY = {name: np.dtype(name) for name in ALL - {"bfloat16"}} | {
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float64": np.dtype("float64"),
    "complex64": np.dtype("complex64"),
    "complex128": np.dtype("complex128"),
    "uint16": np.dtype("uint16"),
    "uint32": np.dtype("uint32"),
    "uint64": np.dtype("uint64"),
    "string": np.dtype(object),
}


def to_numpy(name: str) -> np.dtype:
    """The numpy dtype of a TensorFlow type name; KeyError for types without elements (resource, variant)."""
    return _NUMPY[name]


_IN_MESSAGES = {"float32": "float", "float64": "double", "float16": "half"}


def tensorflow_name(name: str) -> str:
    """The name of a type in TensorFlow's messages.  Source: DataTypeString in core/framework/types.cc."""
    return _IN_MESSAGES.get(name, name)


def itemsize_bytes(name: str) -> int:
    """Bytes of one element on the device; 0 for handles and strings, which have no device memory."""
    dtype = _NUMPY.get(name)
    return 0 if dtype is None or dtype.kind == "O" else dtype.itemsize
