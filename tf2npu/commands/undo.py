"""The `tf2npu undo` command and its messages."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from npu_formats.escape import visible
from npu_formats.files.directory import real_path
from npu_formats.files.lock import Busy
from npu_formats.files.state_folder import NoState
from tf2npu.project.undo import Undone, undo
from tf2npu.project.undo_log import has_state
from tf2npu.refused_request import RefusedRequest
from tf2npu.report.formats import as_text


def run(src: Path, *, force: bool) -> int:
    """Undo the last in-place conversion; returns the exit code: 1 where a file was left as it is."""
    is_folder = os.path.isdir(src)
    place = real_path(src) if is_folder else real_path(src.parent) / src.name
    if not is_folder and not os.path.isdir(place.parent):
        raise RefusedRequest(f"{src}: no such file or folder")
    try:
        done = undo(place, force=force) if is_folder else _undo_file(place, force)
    except Busy as busy:
        raise RefusedRequest(str(busy)) from None
    except OSError as error:
        raise RefusedRequest(f"{error.filename or src}: {error.strerror or error}; run undo again when that is mended") from None
    if done is None and not os.path.lexists(src):
        raise RefusedRequest(f"{src}: no such file or folder")
    if done is None:
        click.echo(f"nothing to undo in {visible(str(src))}{_elsewhere(place) if is_folder else ''}")
        return 0
    as_text.show(_told(done), sys.stdout)
    return 1 if done.kept else 0


def _undo_file(place: Path, force: bool) -> Undone | None:
    """Undo the conversion of one file, which was that of its folder or of one above."""
    done = undo(place.parent, only=place.name, force=force)
    for root in place.parent.parents:
        if done is not None:
            break
        if _is_converted(root):
            done = undo(root, only=place.relative_to(root).as_posix(), force=force)
    return done


def _elsewhere(folder: Path) -> str:
    """The hint at the folder above that was converted; "" where there is none."""
    root = next((root for root in folder.parents if _is_converted(root)), None)
    return f"; {visible(str(root))} was converted as a whole: undo that, or single files of it" if root is not None else ""


def _is_converted(root: Path) -> bool:
    try:
        return has_state(root)
    except NoState:
        return False


def _told(done: Undone) -> Iterator[as_text.Line]:
    for path, reason, original in done.kept:
        text = f"{visible(path)}: kept as it is: {reason}; --force restores it, its original is {visible(str(original))}"
        yield as_text.Line(text, "bold yellow")
    yield as_text.Line(f"{as_text.counted(len(done.restored), 'file')} restored, {len(done.kept)} kept as they are")
    if done.n_earlier:
        yield as_text.Line(f"{done.n_earlier} earlier in-place conversions can be undone too: run undo again")
