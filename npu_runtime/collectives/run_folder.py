"""Files in a run's folder, reached so that nothing which another user may have put there is taken for one of ours."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PLAIN = re.compile(r"[a-z0-9-]{1,64}")
"""Names that we make: none leads out of the folder."""


def is_plain(name: str) -> bool:
    """Whether a name may be one of ours."""
    return _PLAIN.fullmatch(name) is not None


def made(folder: Path, name: str) -> int:
    """A descriptor of a new file that nobody else can open.  Raises: OSError."""
    with _opened(folder) as place:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, 0o600, dir_fd=place)
    os.fchmod(descriptor, 0o600)  # whatever the umask has taken
    return descriptor


def opened(folder: Path, name: str) -> int:
    """A descriptor of a file to read.  Raises: OSError, at once, where it is not a regular file of this user."""
    with _opened(folder) as place:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=place)
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        os.close(descriptor)
        raise PermissionError(f"{name} is no file of this user")
    return descriptor


def remove(folder: Path, name: str) -> None:
    """If it is still there."""
    with suppress(OSError), _opened(folder) as place:
        os.unlink(name, dir_fd=place)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError(f"{folder}: other users can write there")
        yield descriptor
    finally:
        os.close(descriptor)
