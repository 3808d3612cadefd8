"""Paths in the commands that a report tells its reader to type, as they are from the folder where these are typed."""

from __future__ import annotations

import os
from pathlib import Path

from tf2npu.report.model.report import CommandPaths


def command_paths(src: Path, out: Path | None, report_folder: Path | None, name: str | None, *, in_place: bool) -> CommandPaths:
    """Paths for the report of a conversion, from OUT, or from where it was run, where it has written nothing.

    name: that a single file has in OUT, where it is another one.
    Of a conversion in place the originals are not there any more, so that nothing can be compared with them.
    """
    if in_place:
        return CommandPaths("", _from(src, report_folder))
    if out is None:
        return CommandPaths(os.path.normpath(src))
    folder = src if src.is_dir() else src.absolute().parent
    return CommandPaths(_from(out, folder), _from(out, report_folder), name or "")


def _from(place: Path, path: Path | None) -> str:
    """Links are followed, as the shell goes up from the folder that is really there; absolute where nothing is shared."""
    if path is None:
        return ""
    start, target = (os.path.realpath(one) for one in (place if place.is_dir() else place.parent, path))
    return target if os.path.commonpath([start, target]) == os.sep else os.path.relpath(target, start)
