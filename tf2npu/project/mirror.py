"""Write the output tree: each file whole or not at all, and never over something a person changed."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath

from npu_formats.files import draft
from npu_formats.files.directory import Directory
from tf2npu.project.manifest import Manifest
from tf2npu.project.signature import (
    FOLDER,
    LONGEST_NAME_BYTES,
    signature_of,
    signature_of_bytes,
    signature_of_link,
    signature_of_stream,
    size_of,
)

NEW_SUFFIX = ".tf2npu-new"
BACKUP_SUFFIX = ".tf2npu-backup"
Create = Callable[[str], None]  # builds an entry at the given path, where nothing stands


class Put(Enum):
    """The outcome for one entry of the output tree."""

    WRITTEN = "written"
    SAME = "same"  # it already stood there
    CONFLICT = "conflict"  # kept as the person left it; ours stands beside it
    BACKED_UP = "backed up"  # the person's version was moved aside first


@dataclass(frozen=True)
class Placed:
    """Outcome for one entry; beside: path (relative to OUT) of the new version or of the backup, if there is one."""

    put: Put
    beside: str = ""


class Mirror:
    """The output folder of one conversion."""

    def __init__(self, out: Directory, manifest: Manifest, *, force: bool = False, adding: bool = False) -> None:
        """adding: leave earlier files of ours although this run does not name them (single files share a folder)."""
        self.out = out
        self.manifest = manifest
        self._force = force
        self._adding = adding
        self._modes: list[tuple[str, int]] = []
        self.removed: list[str] = []  # files of an earlier run that this one took away
        self._real_folders = {""}

    def begin(self) -> None:
        """Begin the record, and clear away what a killed run left.  Raises: OSError."""
        for path in self.manifest.left_drafts:
            if self._stands_in_real_folders(path):
                self.out.remove(path)
        self.manifest.open()

    def put_bytes(self, path: str, data: bytes, mode: int) -> Placed:
        """Place a file with this content."""

        def create(place: str) -> None:
            with self.out.new_file(place, 0o600) as stream:
                stream.write(data)
                os.fchmod(stream.fileno(), mode)

        return self._place(path, signature_of_bytes(data), create, mode)

    def put_copy(self, path: str, source: Directory, name: str, mode: int) -> Placed:
        """Place a copy of the file `name` of another folder, read in blocks."""
        with source.reader(name) as original:
            self._check_room(os.fstat(original.fileno()).st_size)
            signature = signature_of_stream(original)

            def create(place: str) -> None:
                original.seek(0)
                with self.out.new_file(place, 0o600) as stream:
                    draft.copy(original, stream, size_of(signature))
                    os.fchmod(stream.fileno(), mode)

            return self._place(path, signature, create, mode)

    def _check_room(self, n_bytes: int) -> None:
        """Raises: OSError for what cannot fit, before a disk is filled with it (sparse files say that they hold terabytes)."""
        disk = os.fstatvfs(self.out.fileno())
        if n_bytes > disk.f_bavail * disk.f_frsize:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.out.path))

    def put_link(self, path: str, target: str) -> Placed:
        """Place a symbolic link to `target`, dangling or not."""
        return self._place(path, signature_of_link(target), lambda place: self.out.make_link(place, target), None)

    def put_folder(self, path: str, mode: int) -> Placed:
        """Make a folder; its mode is set by `finish`, so that a read-only one can be filled."""
        placed = self._make_folder(path)
        if signature_of(self.out, path, ()) == FOLDER:
            self._modes.append((path, mode | 0o700))
        return placed

    def remove_gone(self, planned: set[str]) -> list[str]:
        """Take away our files whose source is gone; return those that stay because a person changed them."""
        known = [] if self._adding else self.manifest.known()
        gone = [p for p in known if p.removesuffix(NEW_SUFFIX) not in planned]
        # What is inside a folder comes before the folder.
        return sorted(p for p in sorted(gone, reverse=True) if self._stands_in_real_folders(p) and not self._is_removed(p))

    def finish(self) -> None:
        """Set the modes of the folders, deepest first, and store the manifest."""
        for folder, mode in sorted(self._modes, reverse=True):
            info = self.out.lstat(folder)
            if info is not None and info.st_mode & 0o777 != mode:
                with suppress(OSError):  # somebody else's, or gone: what is in it is ours all the same
                    self.out.set_mode(folder, mode)
        self.manifest.close()

    def _place(self, path: str, signature: str, create: Create, mode: int | None) -> Placed:
        blocked = self._make_parents(path)
        if blocked:
            return Placed(Put.CONFLICT, blocked)
        current = signature_of(self.out, path, {signature, *self.manifest.accepted(path)})
        if current == signature and self._has_mode(path, mode):
            self.manifest.keep(path, signature)
            self._clear_new_version(path)
            return Placed(Put.SAME)
        if current in (None, signature) or self._is_replaceable(path, current):
            self._write(path, signature, create, replaces=current)
            self._clear_new_version(path)
            return Placed(Put.WRITTEN)
        if self._force:
            backup = self._back_up(path)
            self._write(path, signature, create, replaces=None)
            self._clear_new_version(path)
            return Placed(Put.BACKED_UP, backup)
        return Placed(Put.CONFLICT, self._write_beside(path, signature, create))

    def _is_replaceable(self, path: str, current: str) -> bool:
        if not self.manifest.accepts(path, current):
            return False
        return current != FOLDER or not self.out.names(path)

    def _has_mode(self, path: str, mode: int | None) -> bool:
        """Whether a file has its mode; if not it is made anew, as its other names (hard links) would get the mode too."""
        info = self.out.lstat(path)
        return mode is None or (info is not None and stat.S_IMODE(info.st_mode) == mode)

    def _write(self, path: str, signature: str, create: Create, replaces: str | None) -> None:
        """Build the entry under a name of its own beside its place, then move it there in one step."""
        self.manifest.announce(path, signature)
        place = draft.beside(path, self.manifest.draft_name)
        try:
            with draft.discarding(self.out, place):
                create(place)
                if replaces == FOLDER:
                    self.out.remove_folder(path)  # ours, and emptied by remove_gone: a file takes the place of a folder
                self.out.rename(place, path)
        except BaseException:
            self.manifest.take_back(path)
            raise

    def _write_beside(self, path: str, signature: str, create: Create) -> str:
        """Leave the person's version alone and put the new one next to it."""
        beside = with_suffix(path, NEW_SUFFIX)
        current = signature_of(self.out, beside, {signature, *self.manifest.accepted(beside)})
        if current not in (None, signature) and not self.manifest.accepts(beside, current):
            self._back_up(beside)
        if current == signature:
            self.manifest.keep(beside, signature)
        else:
            self._write(beside, signature, create, replaces=None)
        return beside

    def _clear_new_version(self, path: str) -> None:
        """A settled conflict needs its NAME.tf2npu-new no more, unless somebody works in it."""
        beside = with_suffix(path, NEW_SUFFIX)
        if self.manifest.knows(beside) and beside not in self.manifest.recorded:
            self._is_removed(beside)

    def _is_removed(self, path: str) -> bool:
        try:
            return self._remove(path)
        except OSError:  # it may not be read, or its folder not be written
            return False

    def _remove(self, path: str) -> bool:
        """Remove an entry of ours; False where a person changed it or it is a folder that holds something."""
        current = signature_of(self.out, path, self.manifest.accepted(path))
        if current is not None and not self.manifest.accepts(path, current):
            return False
        if current == FOLDER and not self.out.names(path):  # one that holds a person's files stays; they are named themselves
            self.out.remove_folder(path)
        elif current not in (None, FOLDER):
            self.out.remove(path)
            self.removed.append(path)
        self.manifest.forget(path)
        return True

    def _back_up(self, path: str) -> str:
        backup = free_name(self.out, path)
        self.out.rename(path, backup)
        return backup

    def _make_parents(self, path: str) -> str:
        """Make every folder above `path`; returns the one that a foreign file or link stands in the way of, or ""."""
        parts = PurePosixPath(path).parts[:-1]
        for end in range(1, len(parts) + 1):
            folder = "/".join(parts[:end])
            if self._make_folder(folder).put is Put.CONFLICT:
                return folder
        return ""

    def _make_folder(self, path: str) -> Placed:
        """A real folder at `path`, never a link that would lead writes out of OUT."""
        if path in self._real_folders:
            return Placed(Put.SAME)
        current = signature_of(self.out, path, self.manifest.accepted(path))
        backup = ""
        if current not in (None, FOLDER):
            if self.manifest.accepts(path, current):
                self.out.remove(path)
            elif self._force:
                backup = self._back_up(path)
            else:
                return Placed(Put.CONFLICT, path)
        if current != FOLDER:
            blocked = self._make_parents(path)
            if blocked:
                return Placed(Put.CONFLICT, blocked)
            self.manifest.announce(path, FOLDER)
            self.out.make_folder(path)
        elif self.manifest.accepts(path, FOLDER):
            self.manifest.keep(path, FOLDER)
        self._real_folders.add(path)
        return Placed(Put.BACKED_UP if backup else Put.WRITTEN, backup)

    def _stands_in_real_folders(self, path: str) -> bool:
        parts = PurePosixPath(path).parts[:-1]
        above = ("/".join(parts[:end]) for end in range(1, len(parts) + 1))
        return all(signature_of(self.out, folder, ()) == FOLDER for folder in above)


def free_name(root: Directory, path: str) -> str:
    """A name beside `path` for the version that gives way."""
    names = (with_suffix(path, f"{BACKUP_SUFFIX}{number or ''}") for number in range(1 << 20))
    return next(name for name in names if root.lstat(name) is None)


def with_suffix(path: str, suffix: str) -> str:
    """`path` with a suffix; a name that would be too long gives up its end for a digest of it."""
    folder, slash, name = path.rpartition("/")
    data = os.fsencode(name)
    if len(data) + len(suffix) <= LONGEST_NAME_BYTES:
        return path + suffix
    digest = hashlib.sha256(data).hexdigest()[:16]
    kept = data[: LONGEST_NAME_BYTES - len(suffix) - len(digest) - 1]
    return f"{folder}{slash}{os.fsdecode(kept)}-{digest}{suffix}"
