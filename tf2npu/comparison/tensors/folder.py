"""The files of one step: which operator each belongs to, of a dump or of npy files.

A folder is one kind only.  What has no name of its kind is left out and told.  Source of the patterns: how msaccucmp behaves.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from npu_formats.files.bounded_read import MB, read_at_most
from tf2npu.comparison.unreadable import Unreadable

DUMP, NPY = "dump", "npy"
MAPPING = "mapping.csv"
MOST_MAPPING_BYTES = 100 * MB
"""The vendor's own limit: some 400,000 names of 255 characters."""
_DUMP_NAME = re.compile(
    r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[0-9]+(\.[0-9]+)?\.[0-9]{1,255}(\.[0-9]+\.[0-9]+\.[0-9]+)?(\.[0-9]+)?"
)
_NPY_NAME = re.compile(r"([.A-Za-z0-9_-]+\.[0-9]+)\.[0-9]{1,255}\.npy")
_NO_NAME = re.compile(r"[/\x00-\x1f\x7f-\x9f]")
"""Characters that lead to another folder, or that a terminal obeys."""
_TIMESTAMP_DIGITS = 16
"""A timestamp of any other length counts as 0."""
_OVERFLOW = "Opdebug.Node_OpDebug."
"""Files of this start say where an operator overflowed; they hold no tensor of it."""


@dataclass(frozen=True)
class TensorFile:
    """A file and what its name says.  key: of the operator, `/` and `.` as `_`; with `.output` behind it for npy."""

    path: Path
    op_type: str
    key: str
    timestamp: int

    def size_bytes(self) -> int:
        """0 where it has gone since."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0


@dataclass
class TensorFolder:
    """The files of a step by key, the latest of each last.  kind: DUMP or NPY.  left_out: (name, reason).

    full_names: by the digits that stand for them.  n_statistics: files of statistics, which hold no tensors.
    """

    path: Path
    kind: str
    files: dict[str, list[TensorFile]] = field(default_factory=dict)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    full_names: dict[str, str] = field(default_factory=dict)
    n_statistics: int = 0

    def latest(self, name: str, output: int | None = None) -> TensorFile | None:
        """The file of an operator, by its name in the graph; of its output, where the folder has npy files."""
        found = self.files.get(key_of(name) if output is None else f"{key_of(name)}.{output}")
        return found[-1] if found else None


def key_of(name: str) -> str:
    """An operator's name as it stands in file names."""
    return name.replace("/", "_").replace(".", "_")


def read_folder(path: Path) -> TensorFolder:
    """The tensor files of a folder.  Raises: Unreadable where it is none, or has files of both kinds."""
    try:
        names = [entry for entry in _entries(path) if not entry.name.startswith(".")]
    except OSError as error:
        raise Unreadable(path, error.strerror or str(error)) from None
    folder = TensorFolder(path.resolve(), "")
    folder.full_names = _mapping(path / MAPPING, folder.left_out)
    for entry in names:
        if entry.name != MAPPING:
            _put(folder, entry)
    for files in folder.files.values():
        files.sort(key=lambda file: file.timestamp)
    return folder


def operators_in(path: Path) -> set[str]:
    """The keys of the operators that have files in the folder of a step, without outputs.  Raises: OSError."""
    full_names = _mapping(path / MAPPING, [])
    files = [_named(path / name, full_names.get(name, name))[0] for name in os.listdir(path)]
    return {file.key.rpartition(".")[0] or file.key for file in files if file is not None}


def has_tensor_files(names: list[str]) -> bool:
    """Whether a folder with files of these names is that of a step."""
    return any(_DUMP_NAME.match(name) or _NPY_NAME.fullmatch(name) for name in names)


def _entries(path: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(path) as entries:
        yield from sorted((entry for entry in entries), key=lambda entry: entry.name)


def _put(folder: TensorFolder, entry: os.DirEntry[str]) -> None:
    name = entry.name
    if not entry.is_file(follow_symlinks=False):
        if not entry.is_dir(follow_symlinks=False):
            folder.left_out.append((name, "it is no regular file"))
        return
    if name.removesuffix(".npy").isdigit():
        name = folder.full_names.get(name, name)
    if _NO_NAME.search(name):
        folder.left_out.append((entry.name, f"{MAPPING if name != entry.name else 'it'} has characters that no file name should"))
        return
    file, kind = _named(Path(folder.path, entry.name), name)
    if file is None:
        if name.endswith(".csv") and _DUMP_NAME.match(name.removesuffix(".csv")):
            folder.n_statistics += 1
        elif not name.startswith(_OVERFLOW):
            folder.left_out.append((entry.name, "its name is not that of a dump file or of a tensor's npy file"))
        return
    if folder.kind and folder.kind != kind:
        raise Unreadable(folder.path, f"it holds dump files and npy files, such as {entry.name}; give a folder of one kind")
    folder.kind = kind
    folder.files.setdefault(file.key, []).append(file)


def _named(path: Path, name: str) -> tuple[TensorFile | None, str]:
    if name.endswith(".npy"):
        found = _NPY_NAME.fullmatch(name)
        return (TensorFile(path, "", found[1], _timestamp(name.split(".")[2])) if found else None), NPY
    found = None if name.startswith(_OVERFLOW) or name.endswith(".csv") else _DUMP_NAME.match(name)
    return (TensorFile(path, found[1], found[2], _timestamp(name.rpartition(".")[2])) if found else None), DUMP


def _timestamp(text: str) -> int:
    return int(text) if len(text) == _TIMESTAMP_DIGITS and text.isascii() and text.isdigit() else 0


def _mapping(path: Path, left_out: list[tuple[str, str]]) -> dict[str, str]:
    """Full names by the digits that stand for them; empty where there is no such file.  left_out: told of what is no line.

    A damaged line names no file, and the others are read.  Raises: Unreadable for a link.
    """
    if not os.path.lexists(path):
        return {}
    if path.is_symlink():
        raise Unreadable(path, "it is a link, and links are not followed")
    found: dict[str, str] = {}
    try:
        lines = read_at_most(path, MOST_MAPPING_BYTES).decode("utf-8", "replace").splitlines()
        found.update((row[0], row[1]) for row in csv.reader(lines) if len(row) == 2)
    except (OSError, csv.Error) as error:
        left_out.append((MAPPING, f"from some line on it cannot be read: {error}"))
    return found
