"""A file that nobody but its user can have written: where it is, whose it is, and who else may write to it."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

_FOLDER_MODE, _FILE_MODE = 0o700, 0o600
"""Modes of what only this user may read and write, whatever the umask says."""
_OTHERS_MAY_WRITE = 0o022
"""Mode bits that let the group or everybody write."""


class NotPrivate(OSError):
    """Somebody else has, or could have, a hand in a file or its folder; the text says which, and what to do."""


def make_private(path: Path) -> None:
    """Make the file, empty, and its folder where they are missing, and check that both are this user's alone.

    Raises: NotPrivate, OSError.
    """
    _make_folder(path.parent)
    _check(path.parent, stat.S_ISDIR, "a folder")
    _make_file(path)
    _check(path, stat.S_ISREG, "a regular file")


def _make_folder(folder: Path) -> None:
    if os.path.lexists(folder):
        return
    if folder.parent != folder:
        _make_folder(folder.parent)
    with suppress(FileExistsError):  # another run was faster
        os.mkdir(folder, _FOLDER_MODE)
        os.chmod(folder, _FOLDER_MODE)


def _make_file(path: Path) -> None:
    with suppress(FileExistsError):
        made = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, _FILE_MODE)
        os.close(made)
        os.chmod(path, _FILE_MODE)


def _check(path: Path, is_right_kind, kind: str) -> None:
    info = path.lstat()
    if stat.S_ISLNK(info.st_mode):
        raise _not_private(path, "is a symbolic link", "put the folder itself there")
    if not is_right_kind(info.st_mode):
        raise _not_private(path, f"is not {kind}", "move it away")
    if hasattr(os, "geteuid") and info.st_uid != os.geteuid():
        raise _not_private(path, f"belongs to user {info.st_uid} and not to {os.geteuid()}, who runs this", "move it away")
    if os.name == "posix" and info.st_mode & _OTHERS_MAY_WRITE:
        raise _not_private(path, "may be written by others", "take that right away (`chmod go-w`) if it is all yours")


def _not_private(path: Path, reason: str, way_out: str) -> NotPrivate:
    return NotPrivate(errno.EPERM, f"{str(path)!r} {reason}: {way_out}, or set XDG_CACHE_HOME to a folder of your own")
