"""List what a source tree holds, without following symbolic links and without ever stopping at an odd entry."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from tf2npu.project.excludes import Excludes, excludes

REPORT_MARKER = ".tf2npu-report"
REPORT_FOLDER = "tf2npu-report"
STATE_FOLDER = ".tf2npu"
_SOURCE_SUFFIXES = frozenset({".py", ".pyw", ".ipynb"})
_SHEBANG = re.compile(rb"#![^\n]*\bpython[0-9.]*\b")


class Kind(Enum):
    """What an entry of the tree is."""

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


@dataclass
class Tree:
    """A walked tree. entries: sorted by path; left_out: folders that are never copied and worth naming."""

    root: Path
    entries: list[Entry] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def walk(root: Path, patterns: tuple[str, ...] = (), respect_gitignore: bool = False) -> Tree:
    """Walk `root`; an unreadable folder becomes an entry of its own and everything else is still listed.

    patterns: gitignore-style, of sources that are not to be converted.  Raises: BadPattern.
    """
    tree = Tree(root)
    pending = [("", excludes(root, patterns, respect_gitignore))]
    while pending:
        folder, outer = pending.pop()
        try:
            found = sorted(os.scandir(root / folder), key=lambda e: e.name)
        except OSError as error:
            tree.entries.append(Entry(folder or ".", Kind.UNREADABLE, note=error.strerror or str(error)))
            continue
        here = outer.inside(root, folder, outer.reason(folder, True) if folder else "")
        pending += [(below, here) for below in _take(found, f"{folder}/" if folder else "", here, tree)]
    tree.entries.sort(key=lambda e: e.path)
    tree.left_out.sort()
    return tree


def single(path: Path) -> Tree:
    """The tree of one file: its folder is the root."""
    info = path.stat()
    entry = Entry(path.name, Kind.SOURCE, stat.S_IMODE(info.st_mode) & 0o777, info.st_size)
    return Tree(path.parent, [entry])


def _take(found: list[os.DirEntry[str]], prefix: str, here: Excludes, tree: Tree) -> list[str]:
    """Add a folder's entries to the tree; return the folders to walk next."""
    below = []
    for item in found:
        path = prefix + item.name
        try:
            entry = _entry(item, path)
        except OSError as error:
            entry = Entry(path, Kind.UNREADABLE, note=error.strerror or str(error))
        reason = _never_copied(item, entry)
        if reason is not None:
            tree.left_out += [f"{path}/ ({reason})"] if reason else []
            continue
        if entry.kind is Kind.SOURCE and (excluded_by := here.reason(path, False)):
            entry = replace(entry, kind=Kind.DATA, note=excluded_by)
        tree.entries.append(entry)
        if entry.kind is Kind.FOLDER:
            below.append(path)
    return below


def _entry(item: os.DirEntry[str], path: str) -> Entry:
    info = item.stat(follow_symlinks=False)
    mode = stat.S_IMODE(info.st_mode) & 0o777
    if stat.S_ISLNK(info.st_mode):
        return Entry(path, Kind.LINK, mode, note=os.readlink(item.path))
    if stat.S_ISDIR(info.st_mode):
        return Entry(path, Kind.FOLDER, mode)
    if not stat.S_ISREG(info.st_mode):
        return Entry(path, Kind.SPECIAL, mode, note=_special(info.st_mode))
    kind = Kind.SOURCE if is_source(Path(item.path), info.st_size) else Kind.DATA
    return Entry(path, kind, mode, info.st_size)


def is_source(path: Path, size: int) -> bool:
    """True for Python files and notebooks by suffix in any case, and for extensionless scripts with a python shebang."""
    suffix = path.suffix.lower()
    if suffix or size == 0:
        return suffix in _SOURCE_SUFFIXES
    with open(path, "rb") as stream:
        return _SHEBANG.match(stream.read(256)) is not None


def _special(mode: int) -> str:
    names = ((stat.S_ISFIFO, "named pipe"), (stat.S_ISSOCK, "socket"), (stat.S_ISBLK, "block device"))
    return next((name for test, name in names if test(mode)), "character device")


def _never_copied(item: os.DirEntry[str], entry: Entry) -> str | None:
    """None to keep the entry, else why it stays behind ("" where the reason needs no words)."""
    if item.name in (".git", "__pycache__"):
        return ""
    if entry.kind is not Kind.FOLDER:
        return None
    if os.path.exists(os.path.join(item.path, "pyvenv.cfg")) or os.path.isdir(os.path.join(item.path, "conda-meta")):
        return "virtual environment"
    if item.name == REPORT_FOLDER or os.path.exists(os.path.join(item.path, REPORT_MARKER)):
        return "earlier report"
    if item.name == STATE_FOLDER:
        return "state of an earlier conversion"
    return None
