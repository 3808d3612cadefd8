"""`tf2npu undo`: put back what an in-place conversion replaced, byte for byte, and nothing that changed since."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from tf2npu.project.manifest import signature_of
from tf2npu.project.mirror import BACKUP_SUFFIX
from tf2npu.project.undo_log import (
    Replaced,
    UndoRun,
    copy_whole,
    exclusive,
    has_state,
    runs,
    stands_in_real_folders,
    sync_folder,
)


@dataclass
class Undone:
    """What became of the last in-place conversion.

    restored: paths that are again what they were; kept: (path, reason, place of the original) of those left alone;
    n_earlier: conversions before it that can be undone too.
    """

    restored: list[str] = field(default_factory=list)
    kept: list[tuple[str, str, Path]] = field(default_factory=list)
    n_earlier: int = 0


def undo(root: Path, *, only: str | None = None, force: bool = False) -> Undone | None:
    """Undo the last in-place conversion recorded in `root`; None where there is none.

    only: path of the one file to restore.  force: back up files that changed since, and restore them too.
    Raises: Busy, OSError.
    """
    if not has_state(root):
        return None
    with exclusive(root):
        known = [run for run in runs(root) if run.entries]
        concerned = [run for run in known if only is None or any(entry.path == only for entry in run.entries)]
        if not concerned:
            return None
        run = concerned[-1]
        done = _undo_run(root, run, only, force)
        done.n_earlier = sum(1 for other in concerned if other is not run)
        return done


def _undo_run(root: Path, run: UndoRun, only: str | None, force: bool) -> Undone:
    done = Undone()
    remaining = [entry for entry in run.entries if only not in (None, entry.path)]
    for entry in reversed([entry for entry in run.entries if only in (None, entry.path)]):
        reason = _restore(root, run, entry, force)
        if reason:
            done.kept.append((entry.path, reason, run.original(entry)))
            remaining.append(entry)
        elif entry.path not in done.restored:
            done.restored.append(entry.path)
    run.keep_only([entry for entry in run.entries if entry in remaining])
    done.restored.sort()
    done.kept.sort()
    return done


def _restore(root: Path, run: UndoRun, entry: Replaced, force: bool) -> str:
    """Put the original back; returns why not, or "" when it stands there."""
    target = root / entry.path
    if not stands_in_real_folders(root, entry.path):
        return "its folder is gone or became a link"
    current = signature_of(target)
    if current == entry.before:
        return ""
    if current != entry.after and not force:
        return "it was deleted since" if current is None else "it was changed since"
    if signature_of(run.original(entry)) != entry.before:
        return "its original is missing or damaged"
    run.staged.mkdir(exist_ok=True)
    draft = run.staged / "restored"
    copy_whole(run.original(entry), draft)
    draft.chmod(entry.mode)
    if current not in (None, entry.after):
        os.rename(target, _free_name(target))
    os.replace(draft, target)
    sync_folder(target.parent)
    return ""


def _free_name(path: Path) -> Path:
    """A name beside `path` for the version that gives way."""
    names = (path.with_name(f"{path.name}{BACKUP_SUFFIX}{number or ''}") for number in range(1 << 20))
    return next(name for name in names if not os.path.lexists(name))
