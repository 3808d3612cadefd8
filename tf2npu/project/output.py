"""Put each entry of the source tree into the output tree and say so, one FileResult an entry."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from npu_formats.files import lock
from npu_formats.files.directory import Directory
from tf2npu import file_findings
from tf2npu.file_findings import FileFinding
from tf2npu.findings import FileResult, Level, Status
from tf2npu.project.manifest import Manifest
from tf2npu.project.mirror import NEW_SUFFIX, Mirror, Placed, Put
from tf2npu.project.walk import Entry, Kind, Tree


class Output:
    """The output of a conversion. With `mirror` None nothing is written and the results say what would be.

    data: what becomes of files over 10 MB that are no source, "link", "copy" or "skip".
    rename: names of files that get another name in the output (`convert train.py train_npu.py`).
    """

    def __init__(self, tree: Tree, mirror: Mirror | None, data: str, rename: dict[str, str]) -> None:
        self._tree = tree
        self._mirror = mirror
        self._data = data
        self._rename = rename

    @classmethod
    def open(cls, tree: Tree, out: Path, *, data: str, force: bool, rename: dict[str, str], adding: bool) -> Output:
        """Start writing into `out`, alone. adding: leave earlier files of ours there although this run does not name them.

        Raises: OSError; Busy where another conversion writes there.
        """
        folder = Directory.given(out, make=True)
        lock.take(folder)
        manifest = Manifest(out)
        mirror = Mirror(folder, manifest, force=force, adding=adding)
        mirror.begin()
        return cls(tree, mirror, data, rename)

    def remove_gone(self) -> list[FileResult]:
        """Remove our files whose source is gone; a result for each that stays because a person changed it."""
        if self._mirror is None:
            return []
        planned = {self._rename.get(e.path, e.path) for e in self._tree.entries if not self._is_left_out(e)}
        message = "the source file is gone, but this converted file was changed by hand: kept; delete it yourself"
        kept = self._mirror.remove_gone(planned)
        return [_noted(FileResult(path, Status.CONFLICT), file_findings.GONE, Level.MANUAL, message) for path in kept]

    def removed(self) -> list[str]:
        """The files of an earlier conversion that were taken out of OUT, but for new versions that are needed no more."""
        made = self._mirror.removed if self._mirror is not None else ()
        return sorted(path for path in made if not path.endswith(NEW_SUFFIX))

    def _is_left_out(self, entry: Entry) -> bool:
        is_skipped = entry.kind is Kind.DATA and entry.is_large and self._data == "skip"
        return entry.kind is Kind.SPECIAL or is_skipped

    def place_result(self, entry: Entry, result: FileResult, data: bytes) -> FileResult:
        """Write a converted or copied source file."""
        content = result.after if result.status is Status.CONVERTED else data
        return self._placed(result, lambda mirror, path: mirror.put_bytes(path, content, entry.mode))

    def place_other(self, entry: Entry) -> FileResult | None:
        """Write what is no source file; None for a folder, which is no file to report."""
        result = FileResult(entry.path, Status.COPIED)
        if entry.kind is Kind.FOLDER:
            placed = self._placed(result, lambda mirror, path: mirror.put_folder(path, entry.mode))
            return placed if placed.findings else None
        if entry.kind is Kind.LINK:
            return self._place_link(entry, result)
        if entry.kind is Kind.SPECIAL:
            result.status = Status.UNCHANGED
            return _noted(result, file_findings.SPECIAL, Level.SKIPPED, f"{entry.note}: left out of the output")
        if entry.kind is Kind.UNREADABLE:
            return unreadable(entry.path, entry.note)
        return self._place_data(entry, result)

    def place_others(self) -> Iterator[FileResult]:
        """Place all that is no source."""
        others = (self.place_other(entry) for entry in self._tree.entries if entry.kind is not Kind.SOURCE)
        return (result for result in others if result is not None)

    def finish(self) -> list[FileResult]:
        """End the record of what was written; what is to be said where there is no room for it."""
        if self._mirror is None:
            return []
        try:
            self._mirror.finish()
        except OSError as error:
            return [_unrecorded(error.strerror or str(error))]
        return []

    def release(self) -> None:
        """Give back what was held for the time of the conversion; also called when it was broken off."""
        if self._mirror is not None:
            self._mirror.out.close()

    def _place_data(self, entry: Entry, result: FileResult) -> FileResult:
        if entry.note:
            _noted(result, file_findings.EXCLUDED, Level.SKIPPED, f"{entry.note}: not converted")
        size = f"{entry.size / (1 << 20):.1f} MB of data"
        if self._data == "copy" or (not entry.is_large and self._data != "link-all"):
            return self._placed(result, lambda mirror, path: mirror.put_copy(path, self._tree.files, entry.path, entry.mode))
        if self._data == "skip":
            result.status = Status.UNCHANGED
            return _noted(result, file_findings.LARGE_DATA, Level.SKIPPED, f"{size}: left out of the output (--data skip)")
        _noted(result, file_findings.LARGE_DATA, Level.INFO, f"{size}: the output holds a symbolic link to the original")
        return self._placed(result, lambda mirror, path: mirror.put_link(path, str(self._tree.root / entry.path)))

    def _place_link(self, entry: Entry, result: FileResult) -> FileResult:
        target, level, message = link_in_output(self._tree.root, entry)
        if message:
            _noted(result, file_findings.LINK, level, message)
        return self._placed(result, lambda mirror, path: mirror.put_link(path, target))

    def _placed(self, result: FileResult, put: Callable[[Mirror, str], Placed]) -> FileResult:
        """Run `put` and add what it met to the result; an error of the operating system stays with this file."""
        if self._mirror is None:
            return result
        path = self._rename.get(result.path, result.path)
        try:
            placed = put(self._mirror, path)
        except OSError as error:
            if error.filename == str(self._tree.files.path / result.path):
                return unreadable(result.path, error.strerror or str(error))
            return unwritten(result, error)
        return _with_outcome(result, path, placed)


def _with_outcome(result: FileResult, path: str, placed: Placed) -> FileResult:
    if placed.put is Put.BACKED_UP:
        return _noted(result, file_findings.CONFLICT, Level.INFO, f"changed by hand: moved to {placed.beside} (--force)")
    if placed.put is not Put.CONFLICT:
        return result
    if result.status is not Status.FAILED:
        result.status = Status.CONFLICT
    if placed.beside.startswith(path):
        message = f"changed by hand in the output: kept; the new version is {placed.beside}. Merge them, or use --force"
    else:
        message = f"not written: {placed.beside} in the output is no folder of ours. Move it away, or use --force"
    return _noted(result, file_findings.CONFLICT, Level.MANUAL, message)


def _noted(result: FileResult, note: FileFinding, level: Level, message: str) -> FileResult:
    result.findings.append(note.finding(level, message))
    return result


def unwritten(result: FileResult, error: OSError) -> FileResult:
    """The result of a file that the operating system does not let us write."""
    result.status = Status.FAILED
    return _noted(result, file_findings.UNREADABLE, Level.MANUAL, f"cannot be written: {error.strerror or error}")


def unreadable(path: str, error: str) -> FileResult:
    """The result for a file or folder that the operating system does not let us read."""
    message = f"cannot be read: {error}; not in the output"
    return _noted(FileResult(path, Status.FAILED), file_findings.UNREADABLE, Level.MANUAL, message)


def _unrecorded(error: str) -> FileResult:
    """The result for the record of the output, without which the next run goes by its journal."""
    message = f"the record of the output cannot be written: {error}; its files are whole. Run again once there is room"
    return _noted(FileResult(".tf2npu", Status.FAILED), file_findings.UNREADABLE, Level.MANUAL, message)


def link_in_output(root: Path, entry: Entry) -> tuple[str, Level, str]:
    """The target in the output of a link of the source tree: (target, level and text of what is to be said).

    Links inside the tree stay relative to it. A relative one that leads out of it would point elsewhere from the
    output folder, so it becomes absolute.
    """
    folder = (root / entry.path).parent
    meant = Path(os.path.normpath(folder / entry.note))
    inside = meant == root or root in meant.parents
    if not os.path.exists(root / entry.path):
        return entry.note, Level.INFO, f"dangling link to {entry.note}: kept as it is"
    if inside and not os.path.isabs(entry.note):
        return entry.note, Level.INFO, ""
    if inside:
        target = os.path.relpath(meant, folder)
        return target, Level.INFO, f"absolute link into the source folder: now leads to {target} in the output"
    message = f"leads out of the source folder to {entry.note}: kept as a link, its target is not converted"
    return str(meant), Level.SKIPPED, message
