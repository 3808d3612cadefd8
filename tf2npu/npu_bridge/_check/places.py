"""Lines of the migrated script as lines of the original."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

_MOST_BYTES = 1 << 22
"""Largest size of a source file that is compared: those that people write have a hundredth."""


class OriginalPlaces:
    """places: "file:line" of the original's nodes."""

    def __init__(self, places: Iterable[str]) -> None:
        self._files: dict[str, list[str]] = {}
        for file in sorted({place.rpartition(":")[0] for place in places} - {""}):
            self._files.setdefault(Path(file).name, []).append(file)

    def of(self, place: str) -> str:
        """The "file:line" of the original that a line of the migrated script was made of; "" where there is none."""
        file, _, line = place.rpartition(":")
        known = self._files.get(Path(file).name, ())
        if not line.isdecimal() or not known:
            return ""
        original = max(known, key=lambda one: _n_common_folders(one, file))
        lines = _aligned(original, file)
        return f"{original}:{lines[int(line) - 1]}" if 0 < int(line) <= len(lines) else ""


def _n_common_folders(one: str, other: str) -> int:
    pairs = zip(reversed(Path(one).parts), reversed(Path(other).parts), strict=False)
    return next((number for number, (a, b) in enumerate(pairs) if a != b), len(Path(one).parts))


@cache
def _aligned(original: str, migrated: str) -> list[int]:
    """The original's line of each line of the migrated file: that which it was made of, or that of the line before it."""
    theirs, ours = _lines(original), _lines(migrated)
    found: list[int] = []
    for _, first, last, begin, end in SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes():
        found += [max(1, min(first + number, last - 1) + 1) for number in range(end - begin)]
    return found


def _lines(path: str) -> list[str]:
    try:
        with open(path, "rb") as stream:
            return stream.read(_MOST_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
