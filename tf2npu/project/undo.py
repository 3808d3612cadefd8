"""`tf2npu undo`: put back what an in-place conversion replaced, byte for byte, and nothing that changed since."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from npu_formats.files import draft
from npu_formats.files.directory import Directory
from tf2npu.project.mirror import free_name
from tf2npu.project.signature import FOLDER, signature_of, size_of
from tf2npu.project.undo_log import Replaced, UndoRun, clear_drafts, copy_whole, exclusive, has_state, runs


@dataclass
class Undone:
    """The outcome of undoing the last in-place conversion.

    restored: paths that are again what they were; kept: (path, reason, place of the original) of those left alone;
    n_earlier: conversions before it that can be undone too.
    """

    restored: list[str] = field(default_factory=list)
    kept: list[tuple[str, str, Path]] = field(default_factory=list)
    n_earlier: int = 0


def undo(root: Path, *, only: str | None = None, force: bool = False) -> Undone | None:
    """Undo the last in-place conversion recorded in `root`; None where there is none.

    only: path of the one file to restore.  force: back up files that changed since, and restore them too.
    Raises: Busy, NoState, OSError.
    """
    if not has_state(root):
        return None
    with Directory.given(root) as tree, exclusive(tree) as state:
        known = [run for run in runs(state) if run.entries]
        concerned = [run for run in known if only is None or any(entry.path == only for entry in run.entries)]
        if not concerned:
            return None
        run = concerned[-1]
        clear_drafts(tree, run)
        done = _undo_run(tree, run, only, force)
        done.n_earlier = sum(1 for other in concerned if other is not run)
        return done


def _undo_run(root: Directory, run: UndoRun, only: str | None, force: bool) -> Undone:
    done, draft_name = Undone(), run.announce_drafts()
    remaining = [entry for entry in run.entries if only not in (None, entry.path)]
    for entry in reversed([entry for entry in run.entries if only in (None, entry.path)]):
        try:
            reason = _restore(root, run, entry, draft_name, force)
        except OSError as error:
            reason = f"it cannot be restored: {error.strerror or error}"
        if reason:
            done.kept.append((entry.path, reason, run.state.path / run.original(entry)))
            remaining.append(entry)
        elif entry.path not in done.restored:
            done.restored.append(entry.path)
    run.keep_only([entry for entry in run.entries if entry in remaining])
    done.restored.sort()
    done.kept.sort()
    return done


def _restore(root: Directory, run: UndoRun, entry: Replaced, draft_name: str, force: bool) -> str:
    """Put the original back; returns why not, or "" when it stands there."""
    if not _stands_in_folders(root, entry.path):
        return "its folder is gone or became a link"
    current = signature_of(root, entry.path, (entry.before, entry.after))
    if current == entry.before:
        return ""
    if current != entry.after and not force:
        return "it was deleted since" if current is None else "it was changed since"
    if signature_of(run.state, run.original(entry), (entry.before,)) != entry.before:
        return "its original is missing or damaged"
    place = draft.beside(entry.path, draft_name)
    with draft.discarding(root, place):
        copy_whole(run.state, run.original(entry), root, place, size_of(entry.before), entry.mode)
        if current not in (None, entry.after):
            root.rename(entry.path, free_name(root, entry.path))
        root.rename(place, entry.path)
    root.sync(entry.path.rpartition("/")[0])
    return ""


def _stands_in_folders(root: Directory, path: str) -> bool:
    return signature_of(root, path.rpartition("/")[0], ()) == FOLDER
