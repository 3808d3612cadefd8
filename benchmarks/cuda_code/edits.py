"""The edits of a conversion, line by line, from the bytes on disk and not from what the converter says."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import NamedTuple


class Edit(NamedTuple):
    """Lines that a conversion changed.  line: 1-based, of the first.  rules: ids that the report names for these lines."""

    path: str
    line: int
    before: list[str]
    after: list[str]
    rules: str

    def __str__(self) -> str:
        lines = [
            f"{self.path}:{self.line} {self.rules}",
            *(f"- {text}" for text in self.before),
            *(f"+ {text}" for text in self.after),
        ]
        return "\n".join(lines) + "\n"


def lines_of(path: Path) -> list[str]:
    """The lines of a file; bytes that are no UTF-8 are kept apart from each other."""
    return path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()


def edits(path: str, before: list[str], after: list[str], file: dict) -> list[Edit]:
    """The edits of a file.  file: its part of the report."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    found = []
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            continue
        near = {
            f["rule"]
            for f in file["findings"]
            if f["level"] == "fixed" and f["line"] <= max(end, start + 1) and f["end_line"] > start
        }
        found.append(Edit(path, start + 1, before[start:end], after[new_start:new_end], " ".join(sorted(near))))
    return found


def lines_before(before: list[str], after: list[str]) -> dict[int, range]:
    """Lines of `before` that each line of `after` comes from, both 1-based; a new line comes from those around it."""
    found = {}
    for tag, start, end, new_start, new_end in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        for place, line in enumerate(range(new_start, new_end)):
            is_matched = tag == "equal" or end - start == new_end - new_start
            found[line + 1] = (
                range(start + place + 1, start + place + 2) if is_matched else range(start + 1, max(end, start + 1) + 1)
            )
    return found
