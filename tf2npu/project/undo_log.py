"""What an in-place conversion replaced: the originals and a journal, from which `tf2npu undo` puts everything back.

`SRC/.tf2npu/undo/0001/` holds one run: `originals/` (copies with mode and times), `journal` (a JSON line for each file,
written and synced before the file is replaced, and a last line when the run was completed) and, while it is under way,
`staged/` with the new texts. A run that was killed is continued by the next one, so that both are undone together.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from tf2npu.project.manifest import signature_of
from tf2npu.project.walk import STATE_FOLDER

_FINISHED = {"finished": True}


class Busy(Exception):
    """Another process is converting or undoing in the same folder."""


@dataclass(frozen=True)
class Replaced:
    """One file. before, after: signatures of its content; original: name of the copy; mode: of the original."""

    path: str
    before: str
    after: str
    original: str
    mode: int


class UndoRun:
    """The record of one in-place conversion."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journal = folder / "journal"
        self.originals = folder / "originals"
        self.staged = folder / "staged"
        self.entries: list[Replaced] = []
        self.is_finished = False
        self._n_names = 0
        self._load()

    def original(self, entry: Replaced) -> Path:
        return self.originals / entry.original

    def begin(self) -> None:
        """Make the folders, and clear what a killed run had staged or copied without recording it."""
        shutil.rmtree(self.staged, ignore_errors=True)
        self.staged.mkdir(parents=True)
        self.originals.mkdir(exist_ok=True)
        self._clear_originals()
        self._n_names = max((int(entry.original) + 1 for entry in self.entries), default=0)

    def new_original(self) -> Path:
        """Where the next original goes."""
        self._n_names += 1
        return self.originals / str(self._n_names - 1)

    def record(self, entries: list[Replaced]) -> None:
        """Write the entries to disk, so that they can be undone from now on."""
        self._append([asdict(entry) for entry in entries])
        self.entries += entries

    def finish(self) -> None:
        """End the run: the next one begins a record of its own."""
        self._append([_FINISHED])
        self.is_finished = True
        shutil.rmtree(self.staged, ignore_errors=True)

    def keep_only(self, entries: list[Replaced]) -> None:
        """Replace the journal by one that holds these entries, or drop the record where there are none."""
        if not entries:
            self.journal.unlink(missing_ok=True)  # without it the rest counts for nothing, also after a kill here
            shutil.rmtree(self.folder, ignore_errors=True)
            return
        draft = self.folder / "journal.draft"
        _write_synced(draft, [*(asdict(entry) for entry in entries), _FINISHED], "w")
        os.replace(draft, self.journal)
        self.entries = entries
        self._clear_originals()

    def _clear_originals(self) -> None:
        for path in set(self.originals.iterdir()) - {self.original(entry) for entry in self.entries}:
            path.unlink()

    def _append(self, documents: list[dict[str, Any]]) -> None:
        _write_synced(self.journal, documents, "a")
        sync_folder(self.folder)

    def _load(self) -> None:
        try:
            lines = self.journal.read_text(encoding="ascii").split("\n")
        except OSError:
            return
        for line in lines:
            with contextlib.suppress(ValueError, TypeError):  # a kill can cut the last line: nothing was replaced for it
                document = json.loads(line)
                self.is_finished = document == _FINISHED
                if not self.is_finished and _is_inside(document["path"]):
                    self.entries.append(Replaced(**document))


def _write_synced(path: Path, documents: list[dict[str, Any]], mode: str) -> None:
    with path.open(mode, encoding="ascii") as stream:
        stream.write("".join(json.dumps(document) + "\n" for document in documents))
        stream.flush()
        os.fsync(stream.fileno())


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts


def runs(root: Path) -> list[UndoRun]:
    """The records in a source folder, oldest first."""
    folder = root / STATE_FOLDER / "undo"
    names = sorted(path.name for path in folder.iterdir() if path.name.isdigit()) if folder.is_dir() else []
    return [UndoRun(folder / name) for name in names]


def has_state(root: Path) -> bool:
    """Whether an in-place conversion left anything in a source folder, be it what a killed one or a killed undo had begun."""
    state = root / STATE_FOLDER
    names = {path.name for path in state.iterdir()} if state.is_dir() else {"none"}
    return "undo" in names or names <= {".gitignore"}


def run_to_write(root: Path) -> UndoRun:
    """The record of the conversion that begins now: that of a killed one, or a new one."""
    known = runs(root)
    if known and not known[-1].is_finished:
        return known[-1]
    number = int(known[-1].folder.name) + 1 if known else 1
    return UndoRun(root / STATE_FOLDER / "undo" / f"{number:04}")


@contextlib.contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """Make the state folder ours for the time of the block, and remove it afterwards if nothing is in it.

    Raises: Busy; OSError where the folder cannot be written.
    """
    state = root / STATE_FOLDER
    (state / "undo").mkdir(parents=True, exist_ok=True)
    ignore, lock = state / ".gitignore", state / "lock"
    if not ignore.exists() or not ignore.stat().st_size:  # a kill can come between its creation and its line
        ignore.write_text("*\n", encoding="ascii")  # the record is this machine's, not the project's
    with lock.open("w") as stream:
        _take(stream.fileno(), root)
        try:
            yield
        finally:
            _remove_if_unused(state)


def _take(descriptor: int, root: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows: two at a time are not guarded against
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Busy(f"{root}: another tf2npu is converting or undoing here; wait until it is done") from None


def _remove_if_unused(state: Path) -> None:
    for run in runs(state.parent):
        if not run.entries:
            shutil.rmtree(run.folder, ignore_errors=True)
    (state / "lock").unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # still in use
        (state / "undo").rmdir()
        if {path.name for path in state.iterdir()} == {".gitignore"}:
            (state / ".gitignore").unlink()
            state.rmdir()


def copy_whole(source: Path, target: Path) -> None:
    """Copy content, mode, times and, where the system lets us, the owner; the copy is on disk when this returns."""
    shutil.copy2(source, target)
    keep_owner(source, target)
    sync_file(target)


def keep_owner(source: Path, target: Path) -> None:
    """Give `target` the owner of `source`: writing a new file would otherwise make it the one who runs the tool."""
    wanted, present = source.stat(), target.stat()
    if (wanted.st_uid, wanted.st_gid) != (present.st_uid, present.st_gid):
        with contextlib.suppress(OSError):  # only root may, and only some file systems can
            os.chown(target, wanted.st_uid, wanted.st_gid)


def sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Make renames in a folder durable; systems that cannot open folders do it on their own."""
    with contextlib.suppress(OSError):
        sync_file(path)


def stands_in_real_folders(root: Path, path: str) -> bool:
    """Whether no folder above the file became a link, which could lead writes out of the root."""
    parts = PurePosixPath(path).parts[:-1]
    return all(signature_of(root.joinpath(*parts[:end])) == "folder" for end in range(1, len(parts) + 1))


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)
