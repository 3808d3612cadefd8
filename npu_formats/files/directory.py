"""A folder held by its descriptor, and what is below it: no symbolic link is followed, neither on the way nor at the end.

A path is checked and used in one step (`openat` with O_NOFOLLOW for each part of it), so that a tree that changes meanwhile
cannot lead a read or a write out of the folder. Paths are POSIX, relative to the folder; "" is the folder itself.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
"""Flags of reading. Without O_NONBLOCK the open of a named pipe would wait for somebody who writes into it."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_APPEND = os.O_WRONLY | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
MOST_OPEN = 16
"""The most folders that are kept open on the way to one. Trees are seldom deeper, and a process may be allowed 64 files only.
"""
LINK = "is or lies behind a symbolic link, which is not followed"
NO_FILE = "is no regular file"


def real_path(path: Path) -> Path:
    """A path without links, made absolute; a link that leads to itself stays, where `Path.resolve` raises RuntimeError."""
    return Path(os.path.realpath(path))


class Directory:
    """An open folder. path: where it was, for messages.  owner: (user, group) that what is made in it is given to."""

    def __init__(self, descriptor: int, path: Path, owner: tuple[int, int] | None = None) -> None:
        self.path = path
        self.owner = owner
        self._descriptor = descriptor
        self._way: list[tuple[str, int]] = []  # to the folder that was used last: the open ones on it, each inside the one before

    @classmethod
    def given(cls, path: Path, *, make: bool = False) -> Directory:
        """The folder that a user named.

        A relative path is followed part by part without links: it may lead through a tree that somebody else made. Of an
        absolute one only the last part must not be a link.  make: the folders that are missing.  Raises: OSError.
        """
        if path.is_absolute() and path.name:
            if make:
                path.parent.mkdir(parents=True, exist_ok=True)
            above, rest = path.parent, [path.name]
        else:
            above, rest = (path, []) if path.is_absolute() else (Path("."), list(path.parts))
        descriptor = os.open(above, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))
        for part in rest:
            try:
                inner = _open_folder(part, descriptor, path, make=make)
            finally:
                os.close(descriptor)
            descriptor = inner
        return cls(descriptor, path)

    @classmethod
    def followed(cls, path: Path) -> Directory:
        """A folder that a user named to be read: links of its own path are followed.  Raises: OSError."""
        resolved = real_path(path)
        return cls(os.open(resolved, _FOLDER), resolved)

    def __enter__(self) -> Directory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the descriptors back."""
        if self._descriptor >= 0:
            self._forget()
            os.close(self._descriptor)
            self._descriptor = -1

    def fileno(self) -> int:
        """The descriptor of the folder itself."""
        return self._descriptor

    def inside(self, path: str, *, make: bool = False, mode: int = 0o777) -> Directory:
        """A folder below this one.  Raises: OSError."""
        if make:
            self.make_folders(path, mode)
        return Directory(os.dup(self._folder(path)), self.path / path, self.owner)

    # Looking

    def lstat(self, path: str) -> os.stat_result | None:
        """The status of a path itself; None where nothing stands there, or where it lies behind something that is no folder."""
        try:
            if not path:
                return os.fstat(self._descriptor)
            folder, name = self._parent(path)
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                return None
            raise

    def entries(self, path: str = "") -> list[tuple[str, os.stat_result | OSError]]:
        """Name and status of all that is in a folder, by name; an error in the place of a status that cannot be had."""
        found: list[tuple[str, os.stat_result | OSError]] = []
        with os.scandir(self._folder(path)) as items:
            for item in items:
                try:
                    found.append((item.name, item.stat(follow_symlinks=False)))
                except OSError as error:
                    found.append((item.name, error))
        return sorted(found, key=lambda entry: entry[0])

    def names(self, path: str = "") -> list[str]:
        """The names in a folder."""
        return sorted(os.listdir(self._folder(path)))

    def readlink(self, path: str) -> str:
        """The target of a link."""
        folder, name = self._parent(path)
        return os.readlink(name, dir_fd=folder)

    def reader(self, path: str) -> BinaryIO:
        """An open regular file.  Raises: OSError, also for a link, a named pipe, a device."""
        folder, name = self._parent(path)
        with self._naming(path):
            descriptor = os.open(name, _READ, dir_fd=folder)
        return _regular(descriptor, "rb", self.path / path)

    def read(self, path: str, limit: int | None = None) -> bytes:
        """The content of a regular file, or its first `limit` bytes."""
        with self.reader(path) as stream:
            return stream.read() if limit is None else stream.read(limit)

    # Making

    def make_folders(self, path: str, mode: int = 0o777) -> None:
        """Make a folder and those above it that are missing."""
        parts = path.split("/") if path else []
        for end in range(1, len(parts) + 1):
            if self.lstat("/".join(parts[:end])) is None:
                self.make_folder("/".join(parts[:end]), mode)

    def make_folder(self, path: str, mode: int = 0o777) -> None:
        """Make one folder; one that is there already is as good."""
        with suppress(FileExistsError):
            self.new_folder(path, mode)

    def new_folder(self, path: str, mode: int = 0o777) -> None:
        """Make a folder that was not there before."""
        folder, name = self._parent(path)
        with self._naming(path):
            os.mkdir(name, mode, dir_fd=folder)
        if self.owner is not None:
            os.fchown(self._folder(path), *self.owner)

    def new_file(self, path: str, mode: int = 0o666) -> BinaryIO:
        """A file that was not there before, open to be written; the umask takes from its mode.  Raises: OSError."""
        folder, name = self._parent(path)
        with self._naming(path):
            descriptor = os.open(name, _NEW, mode, dir_fd=folder)
        if self.owner is not None:
            os.fchown(descriptor, *self.owner)
        return os.fdopen(descriptor, "wb")

    def appender(self, path: str, mode: int = 0o600) -> BinaryIO:
        """A regular file of nobody else's, open to be written at its end; made where it is not there."""
        if self.lstat(path) is None:
            self.new_file(path, mode).close()
        folder, name = self._parent(path)
        with self._naming(path):
            descriptor = os.open(name, _APPEND, dir_fd=folder)
        if os.fstat(descriptor).st_nlink > 1:
            os.close(descriptor)
            raise OSError(errno.EMLINK, "has further names (hard links): it is not ours alone", str(self.path / path))
        return _regular(descriptor, "ab", self.path / path)

    def make_link(self, path: str, target: str) -> None:
        """Make a symbolic link."""
        folder, name = self._parent(path)
        with self._naming(path):
            os.symlink(target, name, dir_fd=folder)

    def set_mode(self, path: str, mode: int) -> None:
        """Set the mode of a folder; of nothing else, as a file may have other names elsewhere."""
        with self._naming(path):
            os.fchmod(self._folder(path), mode)

    # Moving and removing

    def rename(self, old: str, new: str) -> None:
        """Move an entry over another, in one step."""
        source = os.dup(self._parent(old)[0])
        try:
            folder, name = self._parent(new)
            with self._naming(new):
                os.replace(old.rpartition("/")[2], name, src_dir_fd=source, dst_dir_fd=folder)
        finally:
            os.close(source)
            self._forget()  # it may have been a folder

    def remove(self, path: str) -> None:
        """Remove an entry that is no folder; none is as good."""
        with suppress(FileNotFoundError):
            folder, name = self._parent(path)
            os.unlink(name, dir_fd=folder)

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder."""
        folder, name = self._parent(path)
        with self._naming(path):
            os.rmdir(name, dir_fd=folder)
        self._forget()

    def remove_tree(self, path: str) -> None:
        """Remove a folder of ours with all that is in it; links in it go themselves, never what they lead to."""
        info = self.lstat(path)
        if info is None:
            return
        if not stat.S_ISDIR(info.st_mode):
            return self.remove(path)
        for name in self.names(path):
            self.remove_tree(f"{path}/{name}")
        self.remove_folder(path)

    def sync(self, path: str = "") -> None:
        """Make what was made, renamed and removed in a folder durable, where the system does that for folders."""
        with suppress(OSError):
            os.fsync(self._folder(path))

    # The way to a path

    def _parent(self, path: str) -> tuple[int, str]:
        """Descriptor of the folder that holds an entry, which is valid until the next call, and the entry's name."""
        folder, _, name = path.rpartition("/")
        if name in ("", ".", ".."):
            raise OSError(errno.EINVAL, "names nothing in this folder", path)
        return self._folder(folder), name

    def _folder(self, path: str) -> int:
        while self._way and path != self._way[-1][0] and not path.startswith(self._way[-1][0] + "/"):
            os.close(self._way.pop()[1])
        inner, descriptor = self._way[-1] if self._way else ("", self._descriptor)
        rest = path[len(inner) :].strip("/")
        for part in rest.split("/") if rest else ():
            if part in ("", ".", ".."):
                raise OSError(errno.EINVAL, "names nothing in this folder", path)
            inner = f"{inner}/{part}" if inner else part
            descriptor = _open_folder(part, descriptor, self.path / inner)
            self._way.append((inner, descriptor))
            if len(self._way) > MOST_OPEN:
                os.close(self._way.pop(0)[1])
        return descriptor

    def _forget(self) -> None:
        while self._way:
            os.close(self._way.pop()[1])

    @contextmanager
    def _naming(self, path: str) -> Iterator[None]:
        """Errors name the whole path."""
        try:
            yield
        except OSError as error:
            raise _told(error, self.path / path) from None


def _open_folder(name: str, above: int, shown: Path, *, make: bool = False) -> int:
    try:
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=above)
        return os.open(name, _FOLDER, dir_fd=above)
    except OSError as error:
        raise _told(error, shown, name, above) from None


def _told(error: OSError, shown: Path, name: str = "", above: int = -1) -> OSError:
    """The error with the whole path; a link that was not followed is named as such."""
    is_link = error.errno == errno.ELOOP
    if error.errno == errno.ENOTDIR and name:
        with suppress(OSError):
            is_link = stat.S_ISLNK(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)
    return OSError(error.errno, LINK if is_link else error.strerror, str(shown))  # of the class that the number stands for


def _regular(descriptor: int, mode: str, shown: Path) -> BinaryIO:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, NO_FILE, str(shown))
    return cast(BinaryIO, os.fdopen(descriptor, mode))
