"""The tensors of a step as npy files, out of what TensorFlow's debugger has written: {op}.{output}.{timestamp}.npy.

Names, long names and timestamps are those that comparison programs read.  Source: the vendor's documents of reference files, and
TensorFlow's debug_io_utils.cc for what its debugger writes.
"""

from __future__ import annotations

import errno
import os
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from tensorflow.python.debug.lib import debug_data

from npu_formats.files.directory import Directory
from npu_formats.files.draft import replacing

LEAST_FREE_BYTES = 1 << 20
"""Bytes that a disk must have left beside a step's files: TensorFlow ends the process where its debugger finds no room."""
LONGEST_NAME = 254
"""Characters of a file's name; what is longer is called by a number, which mapping.csv has beside the name."""
MAPPING = "mapping.csv"
_FED = re.compile(r"_arg_(?P<name>.+)_(?P<output>\d+)_\d+")
"""The debugger's name for a fed tensor: its own, its output, and a number of the debugger."""
_FETCHED = "_retval_"
"""Begins the debugger's name for a fetched tensor, which is there under its own name too."""


@dataclass
class Counts:
    """Counts of all steps of one graph.  left_out: tensors by the reason why they have no file."""

    n_files: int = 0
    n_bytes: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def document(self) -> dict[str, Any]:
        return {"files": self.n_files, "bytes": self.n_bytes, "left_out": dict(self.left_out)}


def write_step(dumped: Path, folder: Directory, counts: Counts) -> None:
    """Write the tensors that the debugger left below `dumped` into an empty folder.  Raises: OSError."""
    step = _Step(folder, counts)
    for above, _, names in os.walk(dumped):
        for name in sorted(names):
            if not name.startswith("_tfdbg_"):
                step.add(_Datum(dumped, os.path.relpath(os.path.join(above, name), dumped)))
    step.put_mapping()


def require_room(folder: Path, n_bytes: int) -> None:
    """Raises: OSError where the disk of a folder has no room for so many bytes from the debugger and as many of ours."""
    disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize < 2 * n_bytes + LEAST_FREE_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


class _Datum:
    """A tensor of the debugger's: name and output of its node, and when it was computed, in microseconds since 1970."""

    def __init__(self, root: Path, path: str) -> None:
        found = debug_data.DebugTensorDatum(str(root), path)
        fed = _FED.fullmatch(found.node_name)
        self.name = fed["name"] if fed else found.node_name
        self.output = int(fed["output"]) if fed else found.output_slot
        self.is_fetched = found.node_name.startswith(_FETCHED)
        self.timestamp = found.timestamp
        self._load = found.get_tensor

    def array(self) -> Any:
        """Raises: OSError where the debugger could not write it whole, which it does not tell."""
        try:
            return self._load()
        except (DecodeError, IndexError) as error:
            raise OSError(errno.EIO, f"the debugger's file of {self.name}:{self.output} is damaged: {error}") from None


class _Step:
    def __init__(self, folder: Directory, counts: Counts) -> None:
        self._folder, self._counts = folder, counts
        self._names: set[str] = set()
        self._long: list[tuple[str, str]] = []

    def add(self, datum: _Datum) -> None:
        if datum.is_fetched:
            return
        array = datum.array()
        reason = _why_not(array)
        if reason:
            self._counts.left_out[reason] += 1
            return
        if array.dtype.name == "bfloat16":
            array = array.astype(np.float32)  # npy files have no such type, and each of its values is one of float32
        with replacing(self._folder, self._name(datum)) as stream:
            np.save(stream, array, allow_pickle=False)
        self._counts.n_files += 1
        self._counts.n_bytes += array.nbytes

    def _name(self, datum: _Datum) -> str:
        """A name that no other tensor of the step has; turns of a loop may be computed in one microsecond."""
        plain, timestamp = re.sub(r"[/.\\ ]", "_", datum.name), datum.timestamp
        while (name := f"{plain}.{datum.output}.{timestamp:016d}.npy") in self._names:
            timestamp += 1
        self._names.add(name)
        if len(name) <= LONGEST_NAME:
            return name
        short = f"{datum.timestamp:016d}{len(self._long):06d}.npy"
        self._long.append((short, name))
        return short

    def put_mapping(self) -> None:
        if self._long:
            with replacing(self._folder, MAPPING) as stream:
                stream.write("".join(f"{short},{name}\n" for short, name in self._long).encode())


def _why_not(array: Any) -> str:
    """The reason why a tensor has no file; empty where it has one."""
    if not isinstance(array, np.ndarray):
        return "handles and variants, or not initialised"
    if array.dtype.name == "bfloat16" or (array.dtype.kind in "fiub" and not array.dtype.fields):
        return ""
    return "strings" if array.dtype.kind in "OSU" else f"of type {array.dtype.name}"
