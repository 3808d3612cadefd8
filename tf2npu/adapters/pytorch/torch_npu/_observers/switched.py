"""Places of a script whose CUDA names were switched over to the NPU: what stands there, and what to write."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from npu_formats.user_frames import calling_line


class Switched(NamedTuple):
    """file, line: of the script.  says: what stands there.  instead: what to write.  count: how often it was switched."""

    file: str
    line: int
    says: str
    instead: str
    count: int


_seen: Counter[tuple[str, str, str]] = Counter()


def note(says: str, instead: str) -> None:
    """Record that the line which is being carried out was switched; one that no frame of the user's has is left out."""
    place = calling_line()
    if place:
        _seen[place, says, instead] += 1


def places() -> list[Switched]:
    """All places of this process, in the order of their files, lines and texts."""
    found = []
    for (place, says, instead), count in _seen.items():
        file, _, line = place.rpartition(":")
        found.append(Switched(file, int(line), says, instead, count))
    return sorted(found)


def forget() -> None:
    """Begin anew, without places."""
    _seen.clear()
