"""Conversion in place: new texts are staged first, then recorded with their originals, then moved over the files.

Nothing in the source tree changes before every file is converted: a kill until then leaves it untouched, and a kill
afterwards leaves each file old or new, with a record from which `undo` or the next run goes on.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from tf2npu import file_notes
from tf2npu.findings import FileResult, Level, Status
from tf2npu.project.manifest import signature_of, signature_of_bytes
from tf2npu.project.output import Output
from tf2npu.project.undo_log import (
    Replaced,
    UndoRun,
    copy_whole,
    exclusive,
    keep_owner,
    mode_of,
    run_to_write,
    stands_in_real_folders,
    sync_file,
    sync_folder,
)
from tf2npu.project.walk import Entry, Kind, Tree


@dataclass(frozen=True)
class _Staged:
    result: FileResult
    draft: Path
    before: str
    after: str


class InPlace(Output):
    """Where results go when the source files themselves are to be converted."""

    def __init__(self, tree: Tree) -> None:
        """Raises: OSError where the source folder cannot be written; Busy where another process is at work."""
        super().__init__(tree, None, "link", {})
        self._lock: AbstractContextManager[None] = exclusive(tree.root)
        self._lock.__enter__()
        self._run: UndoRun = run_to_write(tree.root)
        self._staged: list[_Staged] = []

    def place_result(self, entry: Entry, result: FileResult, data: bytes) -> FileResult:
        """Stage the new text of a converted file; `finish` puts it in place."""
        if result.status is not Status.CONVERTED:
            return result
        try:
            if not self._staged:
                self._run.begin()
            draft = self._run.staged / str(len(self._staged))
            draft.write_bytes(result.after)
            self._staged.append(_Staged(result, draft, signature_of_bytes(data), signature_of_bytes(result.after)))
        except OSError as error:
            _fail(result, error)
        return result

    def place_other(self, entry: Entry) -> FileResult | None:
        """What is no source stays where it is: only what could not be looked at is worth a word."""
        if entry.kind is Kind.SPECIAL:
            return FileResult(entry.path, Status.UNCHANGED)
        return super().place_other(entry)

    def finish(self) -> None:
        """Record the originals, move the new texts into place, and end the record."""
        recorded = [pair for staged in self._staged if (pair := self._preserved(staged)) is not None]
        if recorded:
            sync_folder(self._run.originals)
            self._run.record([entry for _, entry in recorded])
            for staged, entry in recorded:
                self._move(staged, entry)
        if self._run.entries:
            self._run.finish()

    def release(self) -> None:
        """Let others work in the folder; a record of nothing is removed."""
        self._lock.__exit__(None, None, None)

    def _preserved(self, staged: _Staged) -> tuple[_Staged, Replaced] | None:
        """Copy the original, and give its draft the same mode and owner; None where that is not possible."""
        path = staged.result.path
        file = self._tree.root / path
        try:
            original = self._run.new_original()
            copy_whole(file, original)
            if signature_of(original) != staged.before or not stands_in_real_folders(self._tree.root, path):
                _disturbed(staged.result)
                return None
            mode = mode_of(file)
            keep_owner(file, staged.draft)
            staged.draft.chmod(mode)
            sync_file(staged.draft)
        except OSError as error:
            _fail(staged.result, error)
            return None
        return staged, Replaced(path, staged.before, staged.after, original.name, mode)

    def _move(self, staged: _Staged, entry: Replaced) -> None:
        target = self._tree.root / entry.path
        if os.path.exists(target) and target.stat().st_nlink > 1:
            message = "has further names (hard links): they keep the old text, only this one has the new"
            staged.result.findings.append(file_notes.LINK.finding(Level.INFO, message))
        try:
            os.replace(staged.draft, target)
            sync_folder(target.parent)
        except OSError as error:
            _fail(staged.result, error)


def _disturbed(result: FileResult) -> None:
    result.status = Status.CONFLICT
    message = "changed by somebody else while it was being converted: kept as it is now; run again"
    result.findings.append(file_notes.CONFLICT.finding(Level.MANUAL, message))


def _fail(result: FileResult, error: OSError) -> None:
    result.status = Status.FAILED
    message = f"cannot be written: {error.strerror or error}"
    result.findings.append(file_notes.UNREADABLE.finding(Level.MANUAL, message))
