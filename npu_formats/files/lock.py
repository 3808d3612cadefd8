"""One process at a time in a folder: an advisory lock on the folder itself, which leaves no file behind."""

from __future__ import annotations

import errno
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from npu_formats.files.directory import Directory

with suppress(ImportError):  # Windows has no such locks; where there are, a process may become a user who cannot read Python
    import fcntl

log = logging.getLogger(__name__)
_LOOK_SECONDS = 0.05
"""Seconds between two tries to get a lock: short beside a conversion, long beside a try."""


class Busy(Exception):
    """Another process is at work in the same folder; the text names it."""


@contextmanager
def exclusive(folder: Directory, *, patience_seconds: float = 0.0) -> Iterator[None]:
    """Keep other processes of ours out of a folder for the time of the block. It ends with this process, however that ends.

    Raises: Busy, after waiting for so long.
    """
    take(folder, patience_seconds)
    try:
        yield
    finally:
        release(folder)


def take(folder: Directory, patience_seconds: float = 0.0) -> None:
    """Lock a folder until `release`, or until its descriptor is closed.  Raises: Busy."""
    deadline = time.monotonic() + patience_seconds
    while True:
        try:
            return fcntl.flock(folder.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):  # some network file systems lock no folders
                return log.warning("%s: cannot be locked (%s): let no second tf2npu work there", folder.path, error.strerror)
        if time.monotonic() >= deadline:
            raise Busy(
                f"{folder.path}: another tf2npu is at work there; wait until it is done (`fuser` names who holds the folder)"
            ) from None
        time.sleep(_LOOK_SECONDS)


def release(folder: Directory) -> None:
    """Let others in."""
    fcntl.flock(folder.fileno(), fcntl.LOCK_UN)
