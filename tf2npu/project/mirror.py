"""Write the output tree: each file whole or not at all, and never over something a person changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePosixPath

from tf2npu.project.manifest import FOLDER, Manifest, signature_of, signature_of_bytes, signature_of_link

NEW_SUFFIX = ".tf2npu-new"
BACKUP_SUFFIX = ".tf2npu-backup"
Create = Callable[[Path], None]  # builds an entry at the given place


class Put(Enum):
    """What became of one entry of the output tree."""

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

    def __init__(self, out: Path, manifest: Manifest, *, force: bool = False) -> None:
        self.out = out
        self.manifest = manifest
        self._force = force
        self._modes: list[tuple[Path, int]] = []
        self._real_folders = {""}

    def put_bytes(self, path: str, data: bytes, mode: int) -> Placed:
        """Place a file with this content."""

        def create(draft: Path) -> None:
            draft.write_bytes(data)
            draft.chmod(mode)

        return self._place(path, signature_of_bytes(data), create, mode)

    def put_copy(self, path: str, source: Path, mode: int) -> Placed:
        """Place a copy of the file `source`, read in blocks."""
        signature = signature_of(source)
        if signature is None:
            raise FileNotFoundError(2, "vanished while it was copied", str(source))

        def create(draft: Path) -> None:
            shutil.copyfile(source, draft)
            draft.chmod(mode)

        return self._place(path, signature, create, mode)

    def put_link(self, path: str, target: str) -> Placed:
        """Place a symbolic link to `target`, dangling or not."""
        return self._place(path, signature_of_link(target), lambda draft: os.symlink(target, draft), None)

    def put_folder(self, path: str, mode: int) -> Placed:
        """Make a folder; its mode is set by `finish`, so that a read-only one can be filled."""
        full = self.out / path
        placed = self._make_folder(path)
        if full.is_dir() and not full.is_symlink():
            self._modes.append((full, mode | 0o700))
        return placed

    def remove_gone(self, planned: set[str]) -> list[str]:
        """Take away our files whose source is gone; return those that stay because a person changed them."""
        kept = []
        gone = [p for p in self.manifest.known() if p.removesuffix(NEW_SUFFIX) not in planned]
        gone = [p for p in gone if p not in self.manifest.recorded]
        for path in sorted(gone, reverse=True):  # what is inside a folder comes before the folder
            if self._stands_in_real_folders(path) and not self._remove(path):
                kept.append(path)
                self.manifest.keep_known(path)
        return sorted(kept)

    def finish(self) -> None:
        """Set the modes of the folders, deepest first, and store the manifest."""
        for folder, mode in sorted(self._modes, reverse=True):
            folder.chmod(mode)
        self.manifest.close()

    def _place(self, path: str, signature: str, create: Create, mode: int | None) -> Placed:
        blocked = self._make_parents(path)
        if blocked:
            return Placed(Put.CONFLICT, blocked)
        full = self.out / path
        current = signature_of(full)
        if current == signature:
            return self._already_there(path, signature, mode)
        if current is None or self._is_replaceable(path, current):
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
        return current != FOLDER or not os.listdir(self.out / path)

    def _already_there(self, path: str, signature: str, mode: int | None) -> Placed:
        full = self.out / path
        if mode is not None and full.stat().st_mode & 0o777 != mode:
            full.chmod(mode)
        self.manifest.keep(path, signature)
        self._clear_new_version(path)
        return Placed(Put.SAME)

    def _write(self, path: str, signature: str, create: Create, replaces: str | None) -> None:
        """Build the entry in the scratch folder, then move it into place in one step."""
        draft = self.manifest.scratch / "draft"
        create(draft)
        self.manifest.announce(path, signature)
        if replaces == FOLDER:
            os.rmdir(self.out / path)  # ours, and emptied by remove_gone: a file takes the place of a folder
        try:
            os.replace(draft, self.out / path)
        except OSError:
            self.manifest.take_back(path)
            raise

    def _write_beside(self, path: str, signature: str, create: Create) -> str:
        """Leave the person's version alone and put the new one next to it."""
        beside = path + NEW_SUFFIX
        current = signature_of(self.out / beside)
        if current not in (None, signature) and not self.manifest.accepts(beside, current):
            self._back_up(beside)
        if current == signature:
            self.manifest.keep(beside, signature)
        else:
            self._write(beside, signature, create, replaces=None)
        self.manifest.keep_known(path)
        return beside

    def _clear_new_version(self, path: str) -> None:
        """A settled conflict needs its NAME.tf2npu-new no more, unless somebody works in it."""
        beside = path + NEW_SUFFIX
        if self.manifest.knows(beside) and self._remove(beside):
            self.manifest.drop(beside)

    def _remove(self, path: str) -> bool:
        """Remove an entry of ours; False where a person changed it or it is a folder that holds something."""
        full = self.out / path
        current = signature_of(full)
        if current is None:
            return True
        if not self.manifest.accepts(path, current):
            return False
        if current != FOLDER:
            full.unlink()
            return True
        if not os.listdir(full):  # a folder that still holds a person's files stays; those files are named themselves
            full.rmdir()
        return True

    def _back_up(self, path: str) -> str:
        number = 0
        backup = path + BACKUP_SUFFIX
        while os.path.lexists(self.out / backup):
            number += 1
            backup = f"{path}{BACKUP_SUFFIX}{number}"
        os.rename(self.out / path, self.out / backup)
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
        full = self.out / path
        current = signature_of(full)
        backup = ""
        if current not in (None, FOLDER):
            if self.manifest.accepts(path, current):
                full.unlink()
            elif self._force:
                backup = self._back_up(path)
            else:
                self.manifest.keep_known(path)
                return Placed(Put.CONFLICT, path)
        if current != FOLDER:
            blocked = self._make_parents(path)
            if blocked:
                return Placed(Put.CONFLICT, blocked)
            self.manifest.announce(path, FOLDER)
            full.mkdir()
        elif self.manifest.accepts(path, FOLDER):
            self.manifest.keep(path, FOLDER)
        self._real_folders.add(path)
        return Placed(Put.BACKED_UP if backup else Put.WRITTEN, backup)

    def _stands_in_real_folders(self, path: str) -> bool:
        parts = PurePosixPath(path).parts[:-1]
        above = ("/".join(parts[:end]) for end in range(1, len(parts) + 1))
        return all(signature_of(self.out / folder) == FOLDER for folder in above)
