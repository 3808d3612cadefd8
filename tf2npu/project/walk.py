"""List what a source tree holds, without following symbolic links and without ever stopping at an odd entry."""

from __future__ import annotations

import math
import os
import re
import stat
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path, PurePosixPath

from npu_formats.files.bounded_read import MOST_SOURCE_BYTES, size_in_words
from npu_formats.files.directory import Directory
from tf2npu.project.excludes import Excludes, excludes
from tf2npu.project.manifest import recorded_paths

LARGE_BYTES = 10 << 20
"""Bytes from which on a file is large."""
REPORT_MARKER = ".tf2npu-report"
REPORT_FOLDER = "tf2npu-report"
_NEVER_COPIED = (".git", "__pycache__")
_AUTOSAVES = {".ipynb_checkpoints": "autosaves of Jupyter", ".virtual_documents": "copies that Jupyter makes for its editor"}
"""Folders in which an editor keeps earlier or other versions of what the user's folder has: nobody runs or mends these."""
_SOURCE_SUFFIXES = frozenset({".py", ".pyw", ".ipynb"})
_PROFILE = re.compile(r"(PROF_|JOB)\w+\Z")
_OF_PROFILE = re.compile(r"device_\d+|host|mindstudio_profiler_output|mindstudio_profiler_log")
"""Folders in one that a profiler writes."""
Found = list[tuple[str, os.stat_result | OSError]]  # what a folder holds: name and status, or why it has none
_SHEBANG = re.compile(rb"#![^\n]*\bpython[0-9.]*\b")


class Kind(Enum):
    """The kind of an entry of the tree."""

    SOURCE = "source"
    DATA = "data"
    LINK = "link"
    FOLDER = "folder"
    SPECIAL = "special"  # named pipe, socket, device: cannot be copied
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Entry:
    """One entry. path: POSIX, relative to the root; note: link target, kind of special file, the error, or of a source
    that is excluded and so counts as data: by what."""

    path: str
    kind: Kind
    mode: int = 0o644
    size: int = 0
    note: str = ""

    @property
    def is_large(self) -> bool:
        """Whether data is linked or left out unless `--data copy`, and a source is not converted."""
        return self.size > LARGE_BYTES


@dataclass
class Tree:
    """A walked tree. files: the way to its content; entries: sorted by path; left_out: folders that are never copied and
    worth naming; recorded: folders that a conversion has written into, with the paths that it wrote there."""

    files: Directory
    entries: list[Entry] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    recorded: dict[str, frozenset[str]] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        """The real path of the tree's folder."""
        return self.files.path


class TooManyEntries(Exception):
    """A tree holds more than was to be listed."""


def walk(
    files: Directory, patterns: tuple[str, ...] = (), respect_gitignore: bool = False, most_entries: float = math.inf
) -> Tree:  # fmt: skip
    """Walk a folder; an unreadable one in it becomes an entry of its own and everything else is still listed.

    patterns: gitignore-style, of sources that are not to be converted.  most_entries: without those of recorded folders.
    Raises: BadPattern; OSError where the folder itself cannot be read; TooManyEntries.
    """
    tree = Tree(files)
    pending = [(Entry("", Kind.FOLDER), excludes(tree.root, patterns, respect_gitignore))]
    n_counted = 0
    while pending:
        folder, outer = pending.pop()
        try:
            found = tree.files.entries(folder.path)
        except OSError as error:
            if not folder.path:
                raise
            tree.entries += [folder, Entry(folder.path, Kind.UNREADABLE, note=error.strerror or str(error))]
            continue
        reason = _never_copied(folder.path, found)
        if reason:
            tree.left_out.append(f"{folder.path}/ ({reason})")
            continue
        tree.entries += [folder] if folder.path else []
        n_counted += 0 if _note_recorded(tree, folder.path) else len(found)
        if n_counted > most_entries:
            raise TooManyEntries
        here = outer.inside(tree.files, folder.path, outer.reason(folder.path, True) if folder.path else "")
        pending += [(below, here) for below in _take(found, folder.path, here, tree)]
    tree.entries.sort(key=lambda e: e.path)
    tree.left_out.sort()
    return tree


def _note_recorded(tree: Tree, path: str) -> bool:
    """Whether a conversion has written into this folder of the tree, or into one above it in the tree."""
    if any(path.startswith(f"{folder}/") for folder in tree.recorded):
        return True
    written = recorded_paths(tree.root / path) if path else None
    if written is None:
        return False
    tree.recorded[path] = written
    return True


def single(files: Directory, name: str) -> Tree:
    """The tree of one file in a folder, which is the root.  Raises: OSError."""
    info = os.stat(name, dir_fd=files.fileno(), follow_symlinks=False)
    return Tree(files, [_bounded(Entry(name, Kind.SOURCE, stat.S_IMODE(info.st_mode) & 0o777, info.st_size))])


def _take(found: Found, folder: str, here: Excludes, tree: Tree) -> list[Entry]:
    """Add a folder's entries to the tree; return the folders to walk next, which are added then."""
    below = []
    for name, info in found:
        if name in _NEVER_COPIED:
            continue
        path = f"{folder}/{name}" if folder else name
        try:
            entry = _bounded(_entry(tree.files, path, info))
        except OSError as error:
            entry = Entry(path, Kind.UNREADABLE, note=error.strerror or str(error))
        if entry.kind is Kind.FOLDER:
            below.append(entry)
            continue
        if entry.kind is Kind.SOURCE and (excluded_by := here.reason(path, False)):
            entry = replace(entry, kind=Kind.DATA, note=excluded_by)
        tree.entries.append(entry)
    return below


def _entry(files: Directory, path: str, info: os.stat_result | OSError) -> Entry:
    if isinstance(info, OSError):
        raise info
    mode = stat.S_IMODE(info.st_mode) & 0o777
    if stat.S_ISLNK(info.st_mode):
        return Entry(path, Kind.LINK, mode, note=files.readlink(path))
    if stat.S_ISDIR(info.st_mode):
        return Entry(path, Kind.FOLDER, mode)
    if not stat.S_ISREG(info.st_mode):
        return Entry(path, Kind.SPECIAL, mode, note=_special(info.st_mode))
    kind = Kind.SOURCE if is_source(files, path, info.st_size) else Kind.DATA
    return Entry(path, kind, mode, info.st_size)


def _bounded(entry: Entry) -> Entry:
    """A source that is too large to be read whole is data."""
    if entry.kind is not Kind.SOURCE or entry.size <= MOST_SOURCE_BYTES:
        return entry
    return replace(entry, kind=Kind.DATA, note=f"larger than {size_in_words(MOST_SOURCE_BYTES)}")


def is_source(files: Directory, path: str, size: int) -> bool:
    """True for Python files and notebooks by suffix in any case, and for extensionless scripts with a python shebang."""
    suffix = PurePosixPath(path).suffix.lower()
    if suffix or size == 0:
        return suffix in _SOURCE_SUFFIXES
    return _SHEBANG.match(files.read(path, 256)) is not None


def _special(mode: int) -> str:
    names = ((stat.S_ISFIFO, "named pipe"), (stat.S_ISSOCK, "socket"), (stat.S_ISBLK, "block device"))
    return next((name for test, name in names if test(mode)), "character device")


def _never_copied(path: str, found: Found) -> str:
    """The reason that a folder with this content stays behind; "" to keep it."""
    if not path:
        return ""
    names = dict(found)
    conda = names.get("conda-meta")
    if "pyvenv.cfg" in names or (isinstance(conda, os.stat_result) and stat.S_ISDIR(conda.st_mode)):
        return "virtual environment"
    if PurePosixPath(path).name in _AUTOSAVES:
        return _AUTOSAVES[PurePosixPath(path).name]
    if _PROFILE.match(PurePosixPath(path).name) and any(map(_OF_PROFILE.fullmatch, names)):
        return "profile of a run"
    if PurePosixPath(path).name == REPORT_FOLDER or REPORT_MARKER in names:
        return "earlier report"
    return ""
