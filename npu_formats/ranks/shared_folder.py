"""The folder that the processes of a run share: it lies where every user of the machine may leave things beside it."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from npu_formats.files import lock
from npu_formats.files.directory import Directory

IN_MEMORY = "/dev/shm"
"""Folder in which Linux keeps files in memory."""
ENOUGH_BYTES = 2 << 30
"""Free bytes of /dev/shm below which arrays go elsewhere. Containers have 64 MB unless told otherwise."""
PREFIX = "tf2npu-ranks-"
OWN_MODE = 0o700
"""Mode of the folder, whatever the umask: it keeps other users from the socket and the arrays."""
FRESH_SECONDS = 60.0
"""Seconds for which a folder may still be about to be locked by the process that has made it."""
_NAME = re.compile(re.escape(PREFIX) + "[0-9a-f]{16}")
"""Whatever is called otherwise is not ours."""


@contextmanager
def shared_folder(place: Path | None = None) -> Iterator[Path]:
    """A folder for this run's files, gone behind it.  What runs left there whose launcher was killed goes now.

    place: where to make it, else where files are memory.  Raises: OSError where none can be made.
    """
    folder = _made_anywhere() if place is None else _made(place)
    with Directory.followed(folder.parent) as parent, parent.inside(folder.name) as own:
        lock.take(own)  # now nobody sweeps it
        try:
            yield folder
        finally:
            with suppress(OSError):
                parent.remove_tree(folder.name)


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
    with Directory.followed(place) as parent:
        _sweep(parent)
        name = f"{PREFIX}{secrets.token_hex(8)}"
        parent.new_folder(name, OWN_MODE)
        parent.set_mode(name, OWN_MODE)  # a umask may have taken rights from us, a set-group-id bit comes from the place
        return parent.path / name


def _sweep(place: Directory) -> None:
    """Remove the folders of this user's runs that nobody holds any more.

    Other users may have left anything under such a name: a pipe that blocks who opens it, a link to a folder of ours, a
    folder of links.  So names are opened as folders only, never through links, and what was opened is looked at.
    """
    with suppress(OSError):
        for name in filter(_NAME.fullmatch, place.names()):
            with suppress(OSError, lock.Busy), place.inside(name) as folder:  # gone meanwhile, no folder, or in use
                if _is_left_over(os.fstat(folder.fileno())):
                    lock.take(folder)
                    place.remove_tree(name)


def _is_left_over(found: os.stat_result) -> bool:
    is_ours = found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == OWN_MODE
    return is_ours and time.time() - found.st_mtime > FRESH_SECONDS
