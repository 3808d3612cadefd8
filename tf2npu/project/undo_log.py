"""The record of an in-place conversion: the originals and a journal, from which `tf2npu undo` puts everything back.

`undo/0001/` in the state of the source folder (`files/state.py`) holds one run: `originals/` (copies with mode, times and
owner), `journal` (a JSON line for each file, written and synced before the file is replaced, and a last line when the run was
completed) and, while it is under way, `staged/` with the new texts. A run that was killed is continued by the next one, so
that both are undone together.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from npu_formats.files import draft, lock
from npu_formats.files.directory import Directory
from npu_formats.files.state_folder import remove_tree_state, tree_state
from tf2npu.project.signature import is_inside, signature_of, size_of

_FINISHED = {"finished": True}
_SIGNATURE = re.compile(r"sha256:[0-9a-f]{64}:[0-9]{1,19}")
_NO_RECORD = (ValueError, TypeError, AttributeError, RecursionError)
_UNDO = "undo"
_PRIVATE = 0o700
"""Mode of folders that only this user may enter."""


@dataclass(frozen=True)
class Replaced:
    """One file. before, after: signatures of its content; original: name of the copy; mode: of the original."""

    path: str
    before: str
    after: str
    original: str
    mode: int


class UndoRun:
    """The record of one in-place conversion. folder: its path in the state of the source folder."""

    def __init__(self, state: Directory, folder: str) -> None:
        self.state = state
        self.folder = folder
        self.journal = f"{folder}/journal"
        self.originals = f"{folder}/originals"
        self.staged = f"{folder}/staged"
        self.entries: list[Replaced] = []
        self.draft_names: list[str] = []
        self.is_finished = False
        self._n_names = 0
        self._load()

    def original(self, entry: Replaced) -> str:
        """The path of the copy of the original, in the state."""
        return f"{self.originals}/{entry.original}"

    def begin(self) -> None:
        """Make the folders, and clear what a killed run had staged or copied without recording it."""
        self.state.remove_tree(self.staged)
        self.state.make_folders(self.staged, _PRIVATE)
        self.state.make_folders(self.originals, _PRIVATE)
        self._clear_originals()
        self._n_names = max((int(entry.original) + 1 for entry in self.entries), default=0)

    def preserve(self, files: Directory, path: str, before: str, after: str) -> Replaced | None:
        """Copy the original of a file; None where it is not what it was before.  Raises: OSError."""
        name = str(self._n_names)
        copy = f"{self.originals}/{name}"
        self._n_names += 1
        mode = copy_whole(files, path, self.state, copy, size_of(before))
        if signature_of(self.state, copy, (before,)) != before:
            return None
        return Replaced(path, before, after, name, mode)

    def record(self, entries: list[Replaced]) -> None:
        """Write the entries to disk, and the copies of their originals, so that they can be undone from now on."""
        self.state.sync(self.originals)
        self._append([asdict(entry) for entry in entries])
        self.entries += entries

    def announce_drafts(self) -> str:
        """The name of what is made beside the files from now on, on disk, so that it is found after a kill."""
        name = draft.new_name()
        self._append([{"draft": name}])
        return name

    def finish(self) -> None:
        """End the run: the next one begins a record of its own."""
        self._append([_FINISHED])
        self.is_finished = True
        self.state.remove_tree(self.staged)

    def keep_only(self, entries: list[Replaced]) -> None:
        """Replace the journal by one that holds these entries, or drop the record where there are none."""
        if not entries:
            self.state.remove(self.journal)  # without it the rest counts for nothing, also after a kill here
            self.state.remove_tree(self.folder)
            return
        with draft.replacing(self.state, self.journal, 0o600) as stream:
            stream.write(_lines([*(asdict(entry) for entry in entries), _FINISHED]))
            stream.flush()
            os.fsync(stream.fileno())
        self.entries = entries
        self._clear_originals()

    def _clear_originals(self) -> None:
        for name in set(self.state.names(self.originals)) - {entry.original for entry in self.entries}:
            self.state.remove(f"{self.originals}/{name}")

    def _append(self, documents: list[dict[str, Any]]) -> None:
        with self.state.appender(self.journal) as stream:
            stream.write(b"\n" + _lines(documents))  # a kill can have cut the last line
            stream.flush()
            os.fsync(stream.fileno())
        self.state.sync(self.folder)

    def _load(self) -> None:
        try:
            lines = self.state.read(self.journal).split(b"\n")
        except OSError:
            return
        for line in lines:
            with contextlib.suppress(*_NO_RECORD):  # a kill cut the line: nothing was replaced for it
                document = json.loads(line)
                if isinstance(document, dict) and "draft" in document:
                    self.draft_names += [name for name in (str(document["draft"]),) if draft.is_name(name)]
                    continue
                self.is_finished = document == _FINISHED
                if not self.is_finished:
                    self.entries += _checked(Replaced(**document))


def _checked(entry: Replaced) -> list[Replaced]:
    """The entry if it is of the form that we write, with a mode that asks for no more than permissions."""
    is_ours = is_inside(entry.path) and entry.original.isdecimal() and entry.original.isascii()
    if not is_ours or not all(_SIGNATURE.fullmatch(text) for text in (entry.before, entry.after)):
        return []
    return [Replaced(entry.path, entry.before, entry.after, entry.original, entry.mode & 0o777)]


def _lines(documents: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(document) + "\n" for document in documents).encode("ascii")


def runs(state: Directory) -> list[UndoRun]:
    """The records of a source folder, oldest first."""
    try:
        names = [name for name in state.names(_UNDO) if name.isdecimal() and name.isascii()]
    except FileNotFoundError:
        return []
    return [UndoRun(state, f"{_UNDO}/{name}") for name in sorted(names, key=int)]


def has_state(root: Path) -> bool:
    """Whether an in-place conversion left anything of a source folder, be it what a killed one had begun.  Raises: NoState."""
    state = tree_state(root)
    if state is None:
        return False
    with state:
        return state.lstat(_UNDO) is not None


def run_to_write(state: Directory) -> UndoRun:
    """The record of the conversion that begins now: that of a killed one, or a new one."""
    known = runs(state)
    if known and not known[-1].is_finished:
        return known[-1]
    number = int(known[-1].folder.rpartition("/")[2]) + 1 if known else 1
    return UndoRun(state, f"{_UNDO}/{number:04}")


@contextlib.contextmanager
def exclusive(root: Directory) -> Iterator[Directory]:
    """The state of a source folder, which is ours for the time of the block, and is removed afterwards if nothing is in it.

    Raises: Busy; NoState where none can be kept.
    """
    with lock.exclusive(root):
        state = tree_state(root.path, make=True)
        assert state is not None
        with state:
            state.make_folders(_UNDO, _PRIVATE)
            try:
                yield state
            finally:
                _remove_if_unused(state, root)


def _remove_if_unused(state: Directory, root: Directory) -> None:
    for run in runs(state):
        if not run.entries:
            state.remove_tree(run.folder)
        elif run.is_finished:
            state.remove_tree(run.staged)
    with contextlib.suppress(OSError):
        if not state.names(_UNDO):
            state.remove_folder(_UNDO)
        if set(state.names()) <= {"path"}:
            remove_tree_state(root.path)


def copy_whole(source: Directory, path: str, target: Directory, copy: str, n_bytes: int, mode: int | None = None) -> int:
    """Copy content, mode, times, attributes and, where the system lets us, the owner; on disk when this returns.

    n_bytes: the most that is copied; a file that has grown since it was looked at is not the one that is meant.
    mode: instead of that of the source.  Returns: the mode of the copy.
    """
    with source.reader(path) as original, target.new_file(copy, 0o600) as stream:
        draft.copy(original, stream, n_bytes)
        stream.flush()
        info = os.fstat(original.fileno())
        mode = (info.st_mode if mode is None else mode) & 0o777
        copy_attributes(original.fileno(), stream.fileno())
        keep_owner(info, stream.fileno())
        os.fchmod(stream.fileno(), mode)
        os.utime(stream.fileno(), ns=(info.st_atime_ns, info.st_mtime_ns))
        os.fsync(stream.fileno())
    return mode


def copy_attributes(source: int, target: int) -> None:
    """Extended attributes, as far as both file systems have them."""
    if not hasattr(os, "listxattr"):
        return
    with contextlib.suppress(OSError):
        for name in os.listxattr(source):
            with contextlib.suppress(OSError):
                os.setxattr(target, name, os.getxattr(source, name))


def keep_owner(wanted: os.stat_result, descriptor: int) -> None:
    """Give an open file the owner of another: a new file would otherwise belong to who runs the tool."""
    present = os.fstat(descriptor)
    if (wanted.st_uid, wanted.st_gid) != (present.st_uid, present.st_gid):
        with contextlib.suppress(OSError):  # only root may, and only some file systems can
            os.fchown(descriptor, wanted.st_uid, wanted.st_gid)


def clear_drafts(root: Directory, run: UndoRun) -> None:
    """Remove what a killed run left beside the files that it was replacing."""
    for place in {draft.beside(entry.path, name) for entry in run.entries for name in run.draft_names}:
        with contextlib.suppress(OSError):
            root.remove(place)
