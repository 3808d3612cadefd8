"""The signature of what stands at a path, as a text to store and compare: "sha256:HEX:BYTES", "link:TARGET", or "folder"."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import BinaryIO

from npu_formats.files.directory import Directory

FOLDER = "folder"
LONGEST_NAME_BYTES = 255
"""The most bytes of a name in a folder: NAME_MAX of the usual file systems."""
_BLOCK_BYTES = 1 << 20
"""Bytes that are hashed at a time. Larger blocks are no faster."""


def signature_of_bytes(data: bytes) -> str:
    """Signature of a file with this content."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}:{len(data)}"


def signature_of_link(target: str) -> str:
    """Signature of a symbolic link."""
    return "link:" + target


def signature_of(root: Directory, path: str, known: Iterable[str]) -> str | None:
    """Signature of what stands at `path` itself; None where nothing does, "special" for a named pipe, a socket or a device.

    known: the signatures that it may have. A file of another size is not read, however large it is: "sha256::BYTES".
    """
    info = root.lstat(path)
    if info is None:
        return None
    if stat.S_ISLNK(info.st_mode):
        return signature_of_link(root.readlink(path))
    if stat.S_ISDIR(info.st_mode):
        return FOLDER
    if not stat.S_ISREG(info.st_mode):
        return "special"
    if not any(signature.endswith(f":{info.st_size}") for signature in known):
        return f"sha256::{info.st_size}"
    with root.reader(path) as stream:
        return signature_of_stream(stream)


def signature_of_stream(stream: BinaryIO) -> str:
    """Signature of an open file that was not read yet."""
    digest = hashlib.sha256()
    while block := stream.read(_BLOCK_BYTES):
        digest.update(block)
    return f"sha256:{digest.hexdigest()}:{os.fstat(stream.fileno()).st_size}"


def size_of(signature: str) -> int:
    """Bytes of the file that a signature stands for."""
    return int(signature.rpartition(":")[2])


def is_inside(path: str) -> bool:
    """Whether a stored path can only be one below the folder: relative, and without a way up."""
    parts = PurePosixPath(path).parts
    if any(len(os.fsencode(part)) > LONGEST_NAME_BYTES for part in parts):
        return False
    return bool(parts) and not path.startswith("/") and ".." not in parts and "\0" not in path and "/".join(parts) == path
