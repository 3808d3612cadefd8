"""A copy of a project that a smoke run may write into, and that goes with all that the script makes there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from npu_formats.files.bounded_read import MB
from tf2npu.refused_request import RefusedRequest

MOST_ENTRIES = 20_000
"""Files and folders of a project that is copied: more is a home folder or a data set, which is named by its own path."""
_MOST_BYTES = 10 * MB
"""Largest file that is copied; larger ones are data, which stand as links and are only read."""
_LEFT_OUT = frozenset((".git", ".hg", ".svn", "node_modules", "__pycache__", ".ipynb_checkpoints", "tf2npu-report"))


def copy_project(root: Path, place: Path) -> None:
    """Copy a project into a new folder.  Raises: RefusedRequest for one of too many files, or that cannot be copied."""
    n_entries = 0
    try:
        for folder, inner in _folders(root, place):
            inner.mkdir(parents=True)
            for entry in os.scandir(folder):
                n_entries += 1
                if n_entries > MOST_ENTRIES:
                    raise RefusedRequest(f"{root}: more than {MOST_ENTRIES} files, too many to copy for a smoke run")
                if not entry.is_dir(follow_symlinks=False):
                    _copy(entry, inner / entry.name)
    except OSError as error:
        raise RefusedRequest(f"{root} cannot be copied for a smoke run: {error}") from None


def _folders(root: Path, place: Path) -> Iterator[tuple[Path, Path]]:
    """The folders of a project with those of the copy, but for what no script reads."""
    todo = [(root, place)]
    while todo:
        folder, inner = todo.pop()
        yield folder, inner
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False) and entry.name not in _LEFT_OUT and not _is_environment(Path(entry.path)):
                todo.append((Path(entry.path), inner / entry.name))


def _is_environment(folder: Path) -> bool:
    return (folder / "pyvenv.cfg").is_file() or (folder / "conda-meta").is_dir()


def _copy(entry: os.DirEntry[str], place: Path) -> None:
    if entry.is_symlink() or (entry.is_file() and entry.stat().st_size > _MOST_BYTES):
        place.symlink_to(os.path.realpath(entry.path))
    elif entry.is_file():
        shutil.copyfile(entry.path, place)
