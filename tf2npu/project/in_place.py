"""Conversion in place: new texts are staged first, then recorded with their originals, then moved over the files.

Nothing in the source tree changes before every file is converted: a kill until then leaves it untouched, and a kill
afterwards leaves each file old or new, with a record from which `undo` or the next run goes on.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass

from npu_formats.files import draft
from npu_formats.files.directory import Directory
from tf2npu import file_findings
from tf2npu.findings import FileResult, Level, Status
from tf2npu.project.output import Output, unwritten
from tf2npu.project.request import UsageProblem
from tf2npu.project.signature import signature_of, signature_of_bytes
from tf2npu.project.undo_log import (
    Replaced,
    UndoRun,
    clear_drafts,
    copy_attributes,
    exclusive,
    keep_owner,
    run_to_write,
)
from tf2npu.project.walk import Entry, Kind, Tree


@dataclass(frozen=True)
class _Staged:
    result: FileResult
    text: str  # where the new text is, in the state
    before: str
    after: str


class InPlace(Output):
    """The output of a conversion of the source files themselves."""

    def __init__(self, tree: Tree) -> None:
        """Raises: OSError where the source folder cannot be written; Busy where another process is at work."""
        super().__init__(tree, None, "link", {})
        self._lock: AbstractContextManager[Directory] = exclusive(tree.files)
        self._state = self._lock.__enter__()
        self._draft_name = ""
        self._run: UndoRun = run_to_write(self._state)
        clear_drafts(tree.files, self._run)
        self._staged: list[_Staged] = []

    def place_result(self, entry: Entry, result: FileResult, data: bytes) -> FileResult:
        """Stage the new text of a converted file; `finish` puts it in place."""
        if result.status is not Status.CONVERTED:
            return result
        try:
            if not self._staged:
                self._run.begin()
            text = f"{self._run.staged}/{len(self._staged)}"
            with self._state.new_file(text, 0o600) as stream:
                stream.write(result.after)
            self._staged.append(_Staged(result, text, signature_of_bytes(data), signature_of_bytes(result.after)))
        except OSError as error:
            unwritten(result, error)
        return result

    def place_other(self, entry: Entry) -> FileResult | None:
        """The result for an entry that is no source file, which stays as it is; a special file has no finding."""
        if entry.kind is Kind.SPECIAL:
            return FileResult(entry.path, Status.UNCHANGED)
        return super().place_other(entry)

    def finish(self) -> list[FileResult]:
        """Record the originals, move the new texts into place, and end the record.

        Raises: UsageProblem, as it is recorded before files are replaced.
        """
        try:
            self._replace()
        except OSError as error:
            reason = error.strerror or str(error)
            raise UsageProblem(
                f"{self._tree.root}: cannot be recorded: {reason}; every file is whole, old or new. Run again, or undo"
            ) from None
        return []

    def _replace(self) -> None:
        recorded = [pair for staged in self._staged if (pair := self._preserved(staged)) is not None]
        if recorded:
            self._run.record([entry for _, entry in recorded])
            self._draft_name = self._run.announce_drafts()
            for staged, entry in recorded:
                self._move(staged, entry)
        if self._run.entries:
            self._run.finish()

    def release(self) -> None:
        """Let others work in the folder; a record of nothing is removed."""
        self._lock.__exit__(None, None, None)

    def _preserved(self, staged: _Staged) -> tuple[_Staged, Replaced] | None:
        """Copy the original; None where that is not possible."""
        try:
            entry = self._run.preserve(self._tree.files, staged.result.path, staged.before, staged.after)
        except OSError as error:
            unwritten(staged.result, error)
            return None
        if entry is None:
            _disturbed(staged.result)
            return None
        return staged, entry

    def _move(self, staged: _Staged, entry: Replaced) -> None:
        """Put a new text in the place of the old one, in one step."""
        files, place = self._tree.files, draft.beside(entry.path, self._draft_name)
        try:
            info = files.lstat(entry.path)
            if info is None or signature_of(files, entry.path, (entry.before,)) != entry.before:
                return _disturbed(staged.result)
            if info.st_nlink > 1:
                message = "has further names (hard links): they keep the old text, only this one has the new"
                staged.result.findings.append(file_findings.LINK.finding(Level.INFO, message))
            self._draft(staged, place, info, entry)
            files.rename(place, entry.path)
            files.sync(entry.path.rpartition("/")[0])
        except OSError as error:
            with suppress(OSError):
                files.remove(place)
            unwritten(staged.result, error)

    def _draft(self, staged: _Staged, place: str, old: os.stat_result, entry: Replaced) -> None:
        """The new text beside the old one, with its owner and mode, and on disk."""
        with self._state.reader(staged.text) as text, self._tree.files.new_file(place, 0o600) as stream:
            draft.copy(text, stream)
            stream.flush()
            with self._tree.files.reader(entry.path) as original:
                copy_attributes(original.fileno(), stream.fileno())
            keep_owner(old, stream.fileno())
            os.fchmod(stream.fileno(), entry.mode)
            os.fsync(stream.fileno())


def _disturbed(result: FileResult) -> None:
    result.status = Status.CONFLICT
    message = "changed by somebody else while it was being converted: kept as it is now; run again"
    result.findings.append(file_findings.CONFLICT.finding(Level.MANUAL, message))
