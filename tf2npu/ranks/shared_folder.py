"""The folder that the processes of a run share: it lies where every user of the machine may leave things beside it."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

IN_MEMORY = "/dev/shm"
"""Where Linux keeps files in memory."""
ENOUGH_BYTES = 2 << 30
"""Free there, or arrays go elsewhere: containers have 64 MB unless told otherwise."""
PREFIX = "tf2npu-ranks-"
OWN_MODE = 0o700
"""Of the folder, whatever the umask: it keeps other users from the socket and the arrays."""
FRESH_SECONDS = 60.0
"""A folder that is younger may be about to be locked by who has made it."""
_NAME = re.compile(re.escape(PREFIX) + "[a-z0-9_]{8}")
"""As `tempfile.mkdtemp` makes names; whatever is called otherwise is not ours."""


@contextmanager
def shared_folder(place: Path | None = None) -> Iterator[Path]:
    """A folder for this run's files, gone behind it.  What runs left there whose launcher was killed goes now.

    place: where to make it, else where files are memory.  Raises: OSError where none can be made.
    """
    folder = _made_anywhere() if place is None else _made(place)
    with _opened(folder.parent, links=True) as parent, _opened(folder.name, parent) as descriptor:
        _is_locked(descriptor)  # now nobody sweeps it
        try:
            yield folder
        finally:
            _remove(descriptor, folder.name, parent)


def _made_anywhere() -> Path:
    if _has_room():
        with suppress(OSError):  # read-only, or somebody has taken all of its inodes
            return _made(Path(IN_MEMORY))
    return _made(Path(tempfile.gettempdir()))


def _has_room() -> bool:
    try:
        return shutil.disk_usage(IN_MEMORY).free >= ENOUGH_BYTES
    except OSError:
        return False


def _made(place: Path) -> Path:
    _sweep(place)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
    folder.chmod(OWN_MODE)  # a umask may have taken rights from us, a set-group-id bit comes from the place
    return folder


def _sweep(place: Path) -> None:
    """Remove the folders of this user's runs that nobody holds any more.

    Other users may have left anything under such a name: a pipe that blocks who opens it, a link to a folder of ours, a
    folder of links.  So names are opened as folders only, never through links, and what was opened is looked at.
    """
    with suppress(OSError), _opened(place, links=True) as descriptor:
        for name in filter(_NAME.fullmatch, os.listdir(descriptor)):
            with suppress(OSError), _opened(name, descriptor) as folder:  # gone meanwhile, or no folder
                if _is_left_over(os.fstat(folder)) and _is_locked(folder):
                    _remove(folder, name, descriptor)


def _is_left_over(found: os.stat_result) -> bool:
    is_ours = found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == OWN_MODE
    return is_ours and time.time() - found.st_mtime > FRESH_SECONDS


@contextmanager
def _opened(name: str | Path, place: int | None = None, *, links: bool = False) -> Iterator[int]:
    """A descriptor of a folder.  place: of the folder it lies in.  links: whether the name may be one, as /tmp may.

    Raises: OSError, at once, where it is anything else.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW)
    descriptor = os.open(name, flags, dir_fd=place)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _is_locked(folder: int) -> bool:
    """Whether it is ours now, until the descriptor is closed or this process ends; not where somebody else has it."""
    import fcntl  # of Unix; on other systems nothing but `job.why_not` is called

    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove(folder: int, name: str, place: int) -> None:
    """Remove a folder that is open.  name, place: where it lies; if it is another one by now, that one is not empty."""
    _empty(folder)
    with suppress(OSError):
        os.rmdir(name, dir_fd=place)


def _empty(folder: int) -> None:
    """Remove what is in a folder, by descriptors alone: no link on the way leads anywhere else.

    `shutil.rmtree` takes a descriptor from Python 3.11 on only.
    """
    for name in os.listdir(folder):
        with suppress(OSError):  # gone meanwhile
            try:
                os.unlink(name, dir_fd=folder)
            except (IsADirectoryError, PermissionError):  # Linux says the one of a folder, macOS the other
                with _opened(name, folder) as inner:
                    _empty(inner)
                os.rmdir(name, dir_fd=folder)
