"""Places in the record of a check, as the user knows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from npu_formats.whole_number import whole_number
from tf2npu.launch.temporary_conversion import TemporaryConversion


def localize(found: dict[str, Any], converted: TemporaryConversion | None) -> None:
    """Give the places in the record as the user knows them: below the current folder, and not those of the converted copy."""
    places = [*found.get("randomness", ()), *found.get("nodes", ())]
    for run in found["runs"]:
        places += [run[key] for key in ("first", "failure") if run.get(key)]
    known: dict[tuple[str, int], tuple[str, int]] = {}
    for place in places:
        key = place.get("file", ""), place.get("line", 0)
        if key[0]:
            known.setdefault(key, users_place(*key, converted))
            place["file"], place["line"] = known[key]
        if converted is not None and "text" in place:
            place["text"] = place["text"].replace(str(converted.copy), str(converted.root))


def users_place(file: str, line: int, converted: TemporaryConversion | None) -> tuple[str, int]:
    """The file and line of the user's that a place stands for."""
    if converted is not None:
        file, _, text = converted.users_place(f"{file}:{line}").rpartition(":")
        found = whole_number(text)
        line = line if found is None else found
    path = Path(file)
    return (str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file), line


def place_of_user(place: str, converted: TemporaryConversion | None) -> str:
    """The same of a place that is written "file:line"; another text as it is."""
    file, _, text = place.rpartition(":")
    line = whole_number(text)
    if not file or line is None:
        return place
    file, line = users_place(file, line, converted)
    return f"{file}:{line}"
