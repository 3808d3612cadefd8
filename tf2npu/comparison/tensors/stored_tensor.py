"""Tensors in files: those of a dump file, and that of an npy file, read one at a time."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from tokenize import TokenError
from typing import BinaryIO

import numpy as np

from npu_formats.vendor.dump_file import DumpedTensor, DumpFormatError, fits_array, read_elements, read_header
from tf2npu.comparison.unreadable import Unreadable

NPY_FORMAT = 40
"""The format of a tensor that says nothing of its layout (RESERVED)."""
_OF_A_DAMAGED_HEADER = (ValueError, EOFError, SyntaxError, TokenError, TypeError, RecursionError, MemoryError)
"""Errors of numpy for a damaged header of an npy file. The header is a Python literal: it is parsed and never run."""

_PLAIN_START = re.compile(
    rb"\x93NUMPY\x01\x00(..)\{'descr': '([<|][biufc]\d{1,2})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,9},)?(?: \d{1,9},?)*)\), \} *\n",
    re.DOTALL,
)
"""The beginning of an npy file of plain numbers, as numpy writes it; any other is left to numpy.  Parsing a literal of Python's
takes longer than reading a small tensor."""
_SHOWN = 100
"""Characters of a damaged shape that a message shows."""
_LENGTH_END = 10
"""Bytes up to the end of the header's length."""
_MOST_START_BYTES = 512
"""Bytes that are looked at: headers of numpy have 128 unless a tensor has dozens of axes."""


@dataclass(frozen=True)
class StoredTensor:
    """A tensor that lies in a file.

    shape: as it lies.  original_shape: of the operator.  format: the number of its layout.  address: on the device, 0 for none.
    load: its elements, of one dimension; raises Unreadable.
    """

    path: Path
    dtype: np.dtype
    shape: tuple[int, ...]
    original_shape: tuple[int, ...]
    format: int
    address: int
    load: Callable[[], np.ndarray]

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class StoredOperator:
    """The tensors of a dump file.  name: with its slashes.  time_us: of the dump, since 1970."""

    name: str
    version: str
    time_us: int
    inputs: tuple[StoredTensor, ...]
    outputs: tuple[StoredTensor, ...]

    @property
    def when(self) -> str:
        """The time of the dump, in UTC."""
        return _when(self.time_us)


def read_dump_file(path: Path) -> StoredOperator:
    """The operator in a dump file, with its tensors.  Raises: Unreadable."""
    try:
        header = read_header(path)
    except DumpFormatError as error:
        raise Unreadable(path, str(error).removeprefix(f"{path}: ")) from None
    except OSError as error:
        raise Unreadable(path, error.strerror or str(error)) from None
    sides = [tuple(_of_dump(tensor) for tensor in tensors) for tensors in (header.inputs, header.outputs)]
    return StoredOperator(header.op_name, header.version, header.time_us, *sides)


def _when(time_us: int) -> str:
    """A header may say any number."""
    try:
        return f"{datetime.fromtimestamp(time_us / 1e6, timezone.utc):%Y-%m-%d %H:%M:%S}"
    except (OverflowError, ValueError, OSError):
        return f"time {time_us}"


def _of_dump(tensor: DumpedTensor) -> StoredTensor:
    def load() -> np.ndarray:
        try:
            return tensor.read().reshape(-1)
        except DumpFormatError as error:
            raise Unreadable(tensor.path, str(error).removeprefix(f"{tensor.path}: ")) from None
        except OSError as error:
            raise Unreadable(tensor.path, error.strerror or str(error)) from None

    return StoredTensor(
        tensor.path, tensor.dtype, tensor.shape, tensor.original_shape, tensor.format, tensor.address, load
    )  # fmt: skip


def read_npy(path: Path) -> StoredTensor:
    """The tensor of an npy file.  Raises: Unreadable, also for one of Python objects: those are never loaded."""
    try:
        with path.open("rb") as stream:
            shape, is_fortran, dtype = _npy_header(stream)
            offset, n_bytes = stream.tell(), path.stat().st_size
    except _OF_A_DAMAGED_HEADER as error:
        raise Unreadable(
            path, f"this is no npy file, or a damaged one: {str(error).splitlines()[0] if str(error) else ''}"
        ) from None
    except OSError as error:
        raise Unreadable(path, error.strerror or str(error)) from None
    _check_npy(path, shape, dtype, n_bytes - offset)

    def load() -> np.ndarray:
        try:
            flat = read_elements(path, dtype, math.prod(shape), offset)
            if flat.size != math.prod(shape):
                raise Unreadable(path, "it is cut short")
            return flat.reshape(shape, order="F").reshape(-1) if is_fortran else flat
        except (OSError, ValueError, MemoryError) as error:
            raise Unreadable(path, str(error).removeprefix(f"{path}: ") or "there is not enough memory for it") from None

    return StoredTensor(path, dtype, shape, shape, NPY_FORMAT, 0, load)


def _npy_header(stream: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype]:
    start = stream.read(_MOST_START_BYTES)
    plain = _PLAIN_START.match(start)
    if plain is not None and int.from_bytes(plain[1], "little") == plain.end() - _LENGTH_END:
        stream.seek(plain.end())
        return tuple(map(int, plain[4].decode().replace(",", " ").split())), plain[3] == b"True", np.dtype(plain[2].decode())
    stream.seek(0)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"its version is {version[0]}.{version[1]}")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, is_fortran, dtype = read(stream)
    return shape, bool(is_fortran), dtype


def _check_npy(path: Path, shape: tuple[int, ...], dtype: np.dtype, n_bytes: int) -> None:
    if dtype.kind not in "biufc":
        raise Unreadable(path, f"its elements are of type {dtype}: only numbers and booleans are compared")
    if any(type(extent) is not int or extent < 0 for extent in shape) or not fits_array(shape, dtype):
        raise Unreadable(path, f"its shape {str(shape)[:_SHOWN]} is none")
    if math.prod(shape) * dtype.itemsize > n_bytes:
        raise Unreadable(path, f"its header promises {math.prod(shape) * dtype.itemsize} bytes of data, and it has {n_bytes}")
