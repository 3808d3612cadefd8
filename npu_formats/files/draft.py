"""New versions of files: made whole under a name of their own in the same folder, then moved into place in one step."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from npu_formats.files.directory import Directory

_NAME = re.compile(r"\.tf2npu-draft-[0-9a-f]{16}")
_BLOCK_BYTES = 1 << 20
"""Bytes that a copy holds in memory at a time. Larger blocks are no faster."""


def new_name() -> str:
    """A name that nobody can have guessed, so that nothing stands there."""
    return f".tf2npu-draft-{secrets.token_hex(8)}"


def is_name(name: str) -> bool:
    """Whether a name is one that we give to drafts."""
    return _NAME.fullmatch(name) is not None


def beside(path: str, name: str) -> str:
    """The path of the draft for `path`: the same folder, so that it is moved within one file system."""
    folder = path.rpartition("/")[0]
    return f"{folder}/{name}" if folder else name


@contextmanager
def discarding(folder: Directory, draft: str) -> Iterator[None]:
    """Leave no draft behind where the block that makes and moves it fails."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            folder.remove(draft)
        raise


@contextmanager
def replacing(folder: Directory, path: str, mode: int | None = None) -> Iterator[BinaryIO]:
    """Write a file whole or not at all: at any moment it is the old one or the new one.

    mode: of the new file, else what the umask leaves of 0o666.  Raises: OSError, and leaves no draft behind.
    """
    draft = beside(path, new_name())
    with discarding(folder, draft):
        with folder.new_file(draft, 0o666 if mode is None else 0o600) as stream:
            yield stream
            if mode is not None:
                os.fchmod(stream.fileno(), mode)
        folder.rename(draft, path)


def put_whole(folder: Directory, path: str, pieces: Iterable[str | bytes]) -> bool:
    """Put a text, or bytes, into a file as `replacing` does; True when it held something else before.

    A file that holds the same already stays as it is, so that what watches or copies a folder sees what has changed.
    """
    draft = staged(folder, path, pieces)
    if draft:
        with discarding(folder, draft):
            folder.rename(draft, path)
    return bool(draft)


def staged(folder: Directory, path: str, pieces: Iterable[str | bytes]) -> str:
    """Write what a file shall hold into a draft beside it, to be moved into its place together with others.

    Returns: the draft's path; "" where the file holds the same already.  Raises: OSError, and leaves no draft behind.
    """
    draft = beside(path, new_name())
    with discarding(folder, draft):
        with folder.new_file(draft) as stream:
            for piece in pieces:
                stream.write(piece if isinstance(piece, bytes) else piece.encode("utf-8", "backslashreplace"))
        if not _same(folder, path, draft):
            return draft
        folder.remove(draft)
    return ""


def _same(folder: Directory, path: str, other: str) -> bool:
    try:
        with folder.reader(path) as one, folder.reader(other) as two:
            if os.fstat(one.fileno()).st_size != os.fstat(two.fileno()).st_size:
                return False
            while block := one.read(_BLOCK_BYTES):
                if block != two.read(_BLOCK_BYTES):
                    return False
            return True
    except OSError:
        return False


def sweep(folder: Directory, path: str = "") -> None:
    """Remove the drafts that killed processes left in a folder that is ours alone at the moment."""
    with suppress(OSError):
        for name in folder.names(path):
            if is_name(name):
                folder.remove(f"{path}/{name}" if path else name)


def copy(source: BinaryIO, target: BinaryIO, n_bytes: int | None = None) -> None:
    """Copy the rest of a file, or so many bytes of it."""
    left = n_bytes
    while block := source.read(_BLOCK_BYTES if left is None else min(left, _BLOCK_BYTES)):
        target.write(block)
        left = None if left is None else left - len(block)
