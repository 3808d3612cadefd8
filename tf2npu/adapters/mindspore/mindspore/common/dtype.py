"""MindSpore's types of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

_NAMES = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
)  # fmt: skip
"""The narrower of two types stands first: an operator on both works in the wider one.  Source: MindSpore's page on tensors."""


class Type:
    """A type of numbers, of which there is one object."""

    def __init__(self, name: str, rank: int) -> None:
        self.name, self.rank = name, rank
        self.nptype = np.dtype(name)

    @property
    def is_floating(self) -> bool:
        """Whether its numbers are not whole."""
        return self.nptype.kind == "f"

    def __repr__(self) -> str:
        return {"u": "UInt" + self.name[4:]}.get(self.nptype.kind, self.name.capitalize())

    def __reduce__(self) -> tuple[Any, ...]:
        return dtype_of, (self.name,)


_TYPES = {name: Type(name, rank) for rank, name in enumerate(_NAMES)}
bool_ = _TYPES["bool"]
int8, uint8, int16, uint16 = (_TYPES[name] for name in ("int8", "uint8", "int16", "uint16"))
int32, uint32, int64, uint64 = (_TYPES[name] for name in ("int32", "uint32", "int64", "uint64"))
float16, float32, float64 = (_TYPES[name] for name in ("float16", "float32", "float64"))
byte, short, intc, intp, ubyte, ushort, uintc, uintp, half, single, double = (
    int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64,
)  # fmt: skip
int_, uint, float_ = int64, uint64, float64
int_type, uint_type = (int8, int16, int32, int64), (uint8, uint16, uint32, uint64)
float_type = (float16, float32, float64)
number = number_type = (*int_type, *uint_type, *float_type)

__all__ = [
    "bool_",
    "byte",
    "double",
    "dtype_to_nptype",
    "dtype_to_pytype",
    "float16",
    "float32",
    "float64",
    "float_",
    "float_type",
    "half",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "int_type",
    "intc",
    "intp",
    "number",
    "number_type",
    "pytype_to_dtype",
    "short",
    "single",
    "ubyte",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uint_type",
    "uintc",
    "uintp",
    "ushort",
]  # fmt: skip


def np_type(kind: Any) -> np.dtype[Any]:
    """numpy's type for MindSpore's, numpy's or Python's."""
    return kind.nptype if isinstance(kind, Type) else dtype_of(kind).nptype


def dtype_of(kind: Any) -> Type:
    """MindSpore's type for numpy's, Python's, or one of TensorFlow.  Raises: TypeError for one that MindSpore has not."""
    if isinstance(kind, Type):
        return kind
    if kind is float:
        return float32
    name = np.dtype(getattr(kind, "as_numpy_dtype", kind)).name
    if name not in _TYPES:
        raise TypeError(f"{kind} is none of MindSpore's types: {', '.join(_NAMES)}")
    return _TYPES[name]


def dtype_to_nptype(type_: Type) -> Any:
    """numpy's class for a type."""
    return type_.nptype.type


def dtype_to_pytype(type_: Type) -> type:
    """Python's class for a type."""
    return {"b": bool, "f": float}.get(type_.nptype.kind, int)


def pytype_to_dtype(obj: Any) -> Type:
    """A type for Python's class.  Source: r1.1's table has int as int64 and float as float64."""
    return {bool: bool_, int: int64, float: float64}.get(obj) or dtype_of(obj)
