"""The form of a folder that a script lists, told by the lines of the script that do so."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NEAR_LINES = 4
"""Lines from the one that lists a folder on that say what it holds."""
_PREFIX = re.compile(r"startswith\(\s*['\"]([^'\"/.]{1,20})['\"]")
_SUFFIX = re.compile(r"endswith\(\s*\(?\s*['\"]([^'\"/]*\.\w{1,10})['\"]|==\s*['\"](\.\w{1,10})['\"]")
_HOLDS_FOLDERS = re.compile(r"isdir\(|is_dir\(|\.iterdir\(|listdir\(|scandir\(")
_PARTED = re.compile(r"split\(\s*['\"]([-_])['\"]")


@dataclass(frozen=True)
class FolderForm:
    """prefix, suffix: of the names in the folder.  holds_folders: they are folders.  separator: of the parts of a name.

    holds_records: the script reads TFRecord files.
    """

    prefix: str = ""
    suffix: str = ".jpg"
    holds_folders: bool = False
    separator: str = ""
    holds_records: bool = False

    def name(self, number: int) -> str:
        """The name of a file or a folder."""
        if self.holds_folders:
            return f"{self.prefix}{number:02d}"
        return f"{self.prefix}{parted(number, self.separator)}{self.suffix}"


IMAGES = FolderForm()
"""A folder of which nothing is known."""


def form_of_folder(source: str, line: int) -> FolderForm:
    """The form of a folder.  source: the text of the script's file, which lists it in a line."""
    first, *rest = [*source.splitlines()[max(0, line - 1) : line - 1 + _NEAR_LINES], ""]
    near = "\n".join([first, *rest])
    prefix, suffix = _PREFIX.search(near), _SUFFIX.search(near)
    separator = _PARTED.search(source)
    holds_folders = suffix is None and (prefix is not None or _HOLDS_FOLDERS.search("\n".join(rest)) is not None)
    holds_records = "TFRecord" in source
    return FolderForm(
        prefix[1] if prefix else "",
        next(filter(None, suffix.groups())) if suffix else ".tfrecord" if holds_records else ".jpg",
        holds_folders,
        separator[1] if separator else "",
        holds_records,
    )


def parted(number: int, separator: str) -> str:
    """A name whose parts a script takes as numbers, where it parts names."""
    return f"{number:05d}{separator}{number % 2}{separator}0{separator}0" if separator else f"{number:05d}"
