"""A dump file: eight bytes with the length of the header, the header, then the data of inputs, outputs, buffers and work spaces.

Numbers are little endian; data follows data without a gap.  Source: the vendor's comparison program and its documents.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import ml_dtypes
import numpy as np
from google.protobuf.message import DecodeError

from npu_formats.vendor.dump_messages import DumpData

VERSION = "2.0"
ND, NHWC = 2, 1
"""Formats of a tensor: as it lies, and of images."""
MOST_HEADER_BYTES = 1 << 22
"""Bytes that a header may have: 4 MB hold 30,000 tensors. Of such a text, parsing makes fifty times as many bytes at most."""
_MOST_TENSORS = 100_000
"""Tensors of a header: fused optimizers have some hundred, and an empty one takes two bytes of the file."""
_MOST_AXES = 32
"""Axes of a tensor: numpy has no more, and the device's layouts eight."""
_MOST_BYTES = 2**63 - 1
"""Bytes of a tensor that an address can count, extents of 0 left out: numpy counts so."""
_LENGTH = struct.Struct("<Q")

NUMBER_OF_TYPE = {
    "float32": 1, "float16": 2, "int8": 3, "uint8": 4, "int16": 5, "uint16": 6, "int32": 7, "int64": 8, "uint32": 9, "uint64": 10,
    "bool": 11, "float64": 12, "complex64": 16, "complex128": 17, "bfloat16": 27,
}  # fmt: skip
"""The data_type of each element type that has bytes."""
_RESOURCE = 23
_DTYPES = {
    **{number: np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name) for name, number in NUMBER_OF_TYPE.items()},
    _RESOURCE: np.dtype("int64"),  # what the vendor's program takes a handle for
}


class DumpFormatError(ValueError):
    """A file that is no dump file, or a damaged one."""


@dataclass(frozen=True)
class DumpedTensor:
    """The description of a tensor in a header, and the place of its data.

    shape: as it lies in the file.  original_shape: of the operator, empty where the header has none.  offset_bytes: from the
    beginning of the file.  size_bytes: of its data, which may be padded.  address: on the device, 0 where none is said.
    """

    dtype: np.dtype
    format: int
    shape: tuple[int, ...]
    original_shape: tuple[int, ...]
    offset_bytes: int
    size_bytes: int
    path: Path
    address: int = 0

    def read(self) -> np.ndarray:
        """The elements.  Raises: DumpFormatError where they are not all there; OSError."""
        n_elements = _n_elements(self.shape)
        array = read_elements(self.path, self.dtype, n_elements, self.offset_bytes)
        if array.size != n_elements:
            raise DumpFormatError(f"{self.path}: the data of a tensor of shape {list(self.shape)} is cut short")
        return array.reshape(self.shape)


@dataclass(frozen=True)
class DumpHeader:
    """op_name: with its slashes.  time_us: since 1970."""

    op_name: str
    time_us: int
    version: str
    inputs: tuple[DumpedTensor, ...]
    outputs: tuple[DumpedTensor, ...]


def header_bytes(
    op_name: str, time_us: int, inputs: Sequence[tuple[np.ndarray, int]], outputs: Sequence[tuple[np.ndarray, int]]
) -> bytes:
    """The length and header before the data.  inputs, outputs: arrays with their formats, none of strings or handles."""
    header = DumpData(version=VERSION, dump_time=time_us, op_name=op_name)
    for entries, tensors in ((header.input, inputs), (header.output, outputs)):
        for array, number in tensors:
            entry = entries.add(data_type=NUMBER_OF_TYPE[array.dtype.name], format=number, size=array.nbytes)
            entry.shape.dim.extend(array.shape)
            entry.original_shape.dim.extend(array.shape)
    data = header.SerializeToString(deterministic=True)
    return _LENGTH.pack(len(data)) + data


def read_header(path: Path) -> DumpHeader:
    """The header of a dump file.  Raises: DumpFormatError with the path for what is none or is damaged; OSError."""
    with path.open("rb") as stream:
        n_file_bytes = path.stat().st_size
        header = _header(stream, path, n_file_bytes)
        offset = stream.tell()
    inputs, offset = _tensors(header.input, offset, path)
    outputs, offset = _tensors(header.output, offset, path)
    offset += sum(part.size for part in (*header.buffer, *header.space))
    if offset > n_file_bytes:
        raise DumpFormatError(f"{path}: its header promises {offset} bytes, and the file has {n_file_bytes}")
    return DumpHeader(header.op_name, header.dump_time, header.version, inputs, outputs)


def _header(stream: BinaryIO, path: Path, n_file_bytes: int) -> Any:
    start = stream.read(_LENGTH.size)
    n_bytes = _LENGTH.unpack(start)[0] if len(start) == _LENGTH.size else -1
    if not 0 <= n_bytes <= min(MOST_HEADER_BYTES, n_file_bytes - _LENGTH.size):
        raise DumpFormatError(f"{path}: this is no dump file: its first eight bytes are not the length of a header")
    try:
        header = DumpData.FromString(stream.read(n_bytes))
    except (DecodeError, UnicodeDecodeError, MemoryError) as error:
        raise DumpFormatError(f"{path}: its header cannot be read: {error}") from None
    n_tensors = sum(len(part) for part in (header.input, header.output, header.buffer, header.space))
    if n_tensors > _MOST_TENSORS:
        raise DumpFormatError(f"{path}: its header names {n_tensors} tensors, and no operator has more than {_MOST_TENSORS}")
    return header


def _tensors(entries: Sequence[Any], offset: int, path: Path) -> tuple[tuple[DumpedTensor, ...], int]:
    """The tensors of one side, and where the next one begins."""
    found = []
    for entry in entries:
        tensor = _tensor(entry, offset, path)
        found.append(tensor)
        offset += tensor.size_bytes
    return tuple(found), offset


def _tensor(entry: Any, offset: int, path: Path) -> DumpedTensor:
    dtype, shape = _DTYPES.get(entry.data_type), tuple(entry.shape.dim)
    if dtype is None:
        raise DumpFormatError(f"{path}: nobody can read elements of data_type {entry.data_type}")
    for extents in (shape, tuple(entry.original_shape.dim)):
        if not fits_array(extents, dtype):
            raise DumpFormatError(
                f"{path}: no tensor can have a shape of {len(extents)} axes that begins with {list(extents[:4])}"
            )
    if _n_elements(shape) * dtype.itemsize > entry.size:
        raise DumpFormatError(f"{path}: a tensor of shape {list(shape)} and type {dtype} does not fit into {entry.size} bytes")
    return DumpedTensor(dtype, entry.format, shape, tuple(entry.original_shape.dim), offset, entry.size, path, entry.address)


def fits_array(shape: Sequence[int], dtype: np.dtype) -> bool:
    """Whether an array can have this shape, whatever memory there is."""
    n_bytes = _n_elements([extent for extent in shape[:_MOST_AXES] if extent]) * dtype.itemsize
    return len(shape) <= _MOST_AXES and min(shape, default=0) >= 0 and n_bytes <= _MOST_BYTES


def _n_elements(shape: Sequence[int]) -> int:
    """Number of elements, of any size: a damaged header may have absurd extents."""
    count = 1
    for extent in shape:
        count *= extent
    return count


def read_elements(path: Path, dtype: np.dtype, n_elements: int, offset_bytes: int) -> np.ndarray:
    """Elements of a file, fewer where it ends before.  As numpy.fromfile, in a third of its time for small tensors.

    Raises: DumpFormatError with the path for more than this machine has memory for, as a sparse file may promise; OSError.
    """
    n_bytes = n_elements * dtype.itemsize
    try:
        if n_bytes > most_tensor_bytes():
            raise MemoryError
        array = np.empty(n_elements, dtype)
    except MemoryError:
        raise DumpFormatError(f"{path}: a tensor of {n_bytes >> 20} MB is more than this machine has memory for") from None
    data = array.view(np.uint8)
    n_read = 0
    with path.open("rb", buffering=0) as stream:
        stream.seek(offset_bytes)
        while n_read < data.size and (n_bytes := stream.readinto(data[n_read:].data)):
            n_read += n_bytes
    return array[: n_read // dtype.itemsize]


@cache
def most_tensor_bytes() -> int:
    """A third of the memory: comparisons make copies, and without a limit the machine would swap before anything fails."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 3


def pieces(arrays: Sequence[np.ndarray]) -> Iterator[memoryview]:
    """The bytes of each array, not copied where it lies in one piece."""
    for array in arrays:
        yield np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
