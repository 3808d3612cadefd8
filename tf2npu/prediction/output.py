"""Puts the pages of a prediction into a report folder: whole files only, and nothing of somebody else's overwritten."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from npu_formats.files.directory import Directory
from npu_formats.files.draft import put_whole
from npu_formats.files.lock import Busy, exclusive
from tf2npu.report import manifest
from tf2npu.report.manifest import Written
from tf2npu.report.writer import MARKER, PATIENCE_SECONDS

_NAMES = ("prediction.html", "profile.html", "comparison.html")
"""The names that anybody could have given to a file; those of further pages hold a chip."""
_HOME = "index.html"
_MARKER_TEXT = "This folder is a report of tf2npu: conversions leave it out.\n"


class ForeignPage(Exception):
    """A file that would be overwritten was not written by tf2npu; the text names it."""


def check_folder(folder: Path, names: tuple[str, ...] = _NAMES, option: str = "--report") -> None:
    """Refuse a folder that cannot be written into, or where a page of somebody else's has one of our names.

    option: by which the user named the folder.

    Raises: ForeignPage.
    """
    if not os.path.lexists(folder):
        return
    try:
        with Directory.given(folder) as place:
            _check(place, names, manifest.load(folder), option)
    except OSError as error:
        raise ForeignPage(f"{folder}: {error.strerror or error}; give another {option} folder") from None


def _check(place: Directory, names: tuple[str, ...], earlier: Written, option: str = "--report") -> None:
    for name in names:
        if name not in earlier.names and place.lstat(name) is not None:
            reason = f"exists and was not written by tf2npu; move it away, or give another {option} folder"
            raise ForeignPage(f"{place.path / name}: {reason}")


def home_of(folder: Path | None) -> str:
    """The first page of the migration report that a folder holds, "" where it holds none of ours."""
    return _HOME if folder is not None and _HOME in manifest.load(folder).names and (folder / _HOME).is_file() else ""


def put_pages(pages: Iterator[tuple[str, str]], folder: Path, option: str = "--report") -> str:
    """Write pages into a folder, which may be new or that of a migration report; the name of the first page.

    option: by which the user named the folder.

    Raises: OSError; ForeignPage, also where another process has not written its report after a minute.
    """
    first = ""
    try:
        with Directory.given(folder, make=True) as place, exclusive(place, patience_seconds=PATIENCE_SECONDS):
            for name, text in pages:
                earlier = manifest.load(folder)
                _check(place, (name,), earlier, option)
                manifest.store(
                    place.path, Written(earlier.names | {name}, earlier.digest)
                )  # ours from here on, also after a kill
                if place.lstat(MARKER) is None:
                    put_whole(place, MARKER, [_MARKER_TEXT])
                put_whole(place, name, [text])
                first = first or name
    except Busy as busy:
        raise ForeignPage(str(busy)) from None
    return first
