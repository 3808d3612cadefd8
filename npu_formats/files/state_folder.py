"""The records that the tool keeps of a tree: in the user's state folder, never in the tree.

A record inside the tree could have come with it (git checks out links, and files as the user's own), so nothing there is
believed. `STATE/tf2npu/trees/HASH/` belongs to the folder with the real path that HASH stands for, and is closed to others.
Where root works in somebody else's tree, its record is kept with that person, who can then undo without being root.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from npu_formats.files.directory import Directory

_TREES = "trees"
_PRIVATE = 0o700
"""Mode of folders that only this user may enter."""


class NoState(OSError):
    """The user's state folder cannot be used; strerror says why and what to do."""


def state_folder() -> Path:
    """XDG_STATE_HOME/tf2npu, else ~/.local/state/tf2npu.  Raises: NoState."""
    base = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(base):
        return Path(base) / "tf2npu"
    home = home_folder()
    if not home.is_absolute():
        raise NoState(None, "the home folder is not known: set HOME or XDG_STATE_HOME", "")
    return home / ".local" / "state" / "tf2npu"


def home_folder() -> Path:
    """The user's home: HOME, or what the system's list of users has, also where HOME is empty, which Python takes for `/`.

    Returns: a relative path where nobody knows one.
    """
    if home := os.environ.get("HOME", ""):
        return Path(home)
    import pwd

    try:
        return Path(pwd.getpwuid(os.geteuid()).pw_dir)
    except KeyError:
        return Path()


def tree_state(tree: Path, *, make: bool = False) -> Directory | None:
    """The record of the folder `tree`; None where there is none, unless it is to be made.  Raises: NoState."""
    real = Path(os.path.realpath(tree))
    try:
        with _opened(real, make) as state:
            known = state.inside(_name_of(real), make=make, mode=_PRIVATE)
            if make and known.lstat("path") is None:
                with known.new_file("path", 0o600) as stream:  # for people who look for the record of a folder
                    stream.write(os.fsencode(real) + b"\n")
            return known
    except FileNotFoundError as error:
        if not make:
            return None
        raise _no_state(error) from None
    except NoState:
        raise
    except OSError as error:
        raise _no_state(error) from None


def remove_tree_state(tree: Path) -> None:
    """Forget a folder of which nothing is to be known any more; where no state can be kept, nothing is."""
    real = Path(os.path.realpath(tree))
    with suppress(OSError), _opened(real, make=False) as state:
        state.remove_tree(_name_of(real))


def _name_of(real: Path) -> str:
    """The path in the state folder of the record of a folder with this real path."""
    return f"{_TREES}/{hashlib.sha256(os.fsencode(real)).hexdigest()[:32]}"


def new_log(prefix: str, data: bytes, folder: Path | None = None) -> Path:
    """A new file in the state folder, or in `folder`, that only this user can read.  Raises: OSError."""
    name = f"{prefix}{secrets.token_hex(4)}.log"
    with Directory.followed(folder) if folder else _own(make=True) as place:
        with place.new_file(name, 0o600) as stream:
            stream.write(data)
        return place.path / name


def _opened(tree: Path, make: bool) -> Directory:
    owner = _other_owner(tree)
    return _own(make) if owner is None else _of_somebody(*owner, make)


def _own(make: bool) -> Directory:
    """This user's state folder, whose own path may hold links: the user and their home are trusted."""
    place = state_folder()
    if make:
        for folder in (*reversed(place.parent.parents), place.parent):
            if not folder.exists():
                folder.mkdir(_PRIVATE)  # as the XDG base directory specification has it
    with Directory.followed(place.parent) as above:
        return _closed_to_others(above.inside(place.name, make=make, mode=_PRIVATE), os.geteuid())


def _other_owner(tree: Path) -> tuple[int, int] | None:
    """User and group of a folder that is not root's where root is at work."""
    if os.geteuid() != 0:
        return None
    try:
        info = os.stat(tree)
    except OSError:
        return None
    return (info.st_uid, info.st_gid) if info.st_uid else None


def _of_somebody(user: int, group: int, make: bool) -> Directory:
    """The state folder of another user; they may have put links there, and none is followed."""
    import pwd

    try:
        entry = pwd.getpwuid(user)
    except KeyError:
        raise NoState(None, f"user {user}, whose folder this is, is not known here: run as that user", "") from None
    with Directory.followed(Path(entry.pw_dir)) as home:
        if os.fstat(home.fileno()).st_uid != user:
            raise NoState(None, f"the home of {entry.pw_name}, whose folder this is, is not theirs: run as that user", "")
        home.owner = (user, entry.pw_gid)
        return _closed_to_others(home.inside(".local/state/tf2npu", make=make, mode=_PRIVATE), user)


def _closed_to_others(folder: Directory, user: int) -> Directory:
    info = os.fstat(folder.fileno())
    if info.st_uid not in (user, 0) or info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        folder.close()
        raise NoState(
            None, f"{folder.path} can be written by others: `chmod go-w` it, or set XDG_STATE_HOME to a folder of yours", ""
        )
    return folder


def _no_state(error: OSError) -> NoState:
    reason = f"{error.filename or ''}: {error.strerror or error}".removeprefix(": ")
    return NoState(error.errno, f"no state can be kept ({reason}): set XDG_STATE_HOME to a folder that can be written", "")
