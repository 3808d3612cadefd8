"""What `tf2npu undo` does and says."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from tf2npu.files.lock import Busy
from tf2npu.project.undo import Undone, undo
from tf2npu.refused_request import RefusedRequest
from tf2npu.report import as_text
from tf2npu.report.visible import visible


def run(src: Path, *, force: bool) -> int:
    """Undo the last in-place conversion; returns the exit code: 1 where a file was left as it is."""
    root, only = (src.resolve(), None) if src.is_dir() else (src.resolve().parent, src.resolve().name)
    if not root.is_dir():
        raise RefusedRequest(f"{src}: no such file or folder")
    try:
        done = undo(root, only=only, force=force)
    except Busy as busy:
        raise RefusedRequest(str(busy)) from None
    except OSError as error:
        raise RefusedRequest(f"{error.filename or src}: {error.strerror or error}; run undo again when that is mended") from None
    if done is None and not os.path.lexists(src):
        raise RefusedRequest(f"{src}: no such file or folder")
    if done is None:
        click.echo(f"nothing to undo in {visible(str(src))}")
        return 0
    as_text.show(_told(done), sys.stdout)
    return 1 if done.kept else 0


def _told(done: Undone) -> Iterator[as_text.Line]:
    for path, reason, original in done.kept:
        text = f"{visible(path)}: kept as it is: {reason}; --force restores it, its original is {visible(str(original))}"
        yield as_text.Line(text, "bold yellow")
    yield as_text.Line(f"{as_text.counted(len(done.restored), 'file')} restored, {len(done.kept)} kept as they are")
    if done.n_earlier:
        yield as_text.Line(f"{done.n_earlier} earlier in-place conversions can be undone too: run undo again")
