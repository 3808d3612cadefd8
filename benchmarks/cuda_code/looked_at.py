"""The outcome of the conversion of a folder: its edits, and the names of CUDA that are left and that no finding tells."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from benchmarks.cuda_code.edits import Edit, edits, lines_before, lines_of
from benchmarks.cuda_code.names import cuda_names, imports_torch

_OTHERS = re.compile(r"the others?: [\d, ]+")
"""Further places that a finding stands for, at the end of its message."""


class Looked(NamedTuple):
    """The conversion of a folder.

    edits: all.  unsaid: names of CUDA in files with PyTorch that are left and not told.  without_torch: files that do not import
    it and that rules for it, or none that is known, have edited.  n_before, n_after: names of CUDA in files with PyTorch.
    """

    edits: list[Edit]
    unsaid: list[str]
    without_torch: list[str]
    n_before: int
    n_after: int


def look_at(name: str, source: Path, out: Path, files: list[dict]) -> Looked:
    """Look at each Python file of a report."""
    found, unsaid, without, n_before, n_after = [], [], [], 0, 0
    for file in files:
        path = file["path"]
        if not path.endswith(".py") or not (source / path).is_file() or not (out / path).is_file():
            continue
        before, after = lines_of(source / path), lines_of(out / path)
        uses_torch = imports_torch("\n".join(before))
        made = edits(f"{name}/{path}", before, after, file) if before != after else []
        found += made
        without += [path] if not uses_torch and any(_is_of_torch(edit) for edit in made) else []
        if uses_torch:
            n_before += len(cuda_names("\n".join(before)) or ())
            left = cuda_names("\n".join(after)) or []
            n_after += len(left)
            unsaid += [f"{path}:{line} {kind} {text}" for line, text, kind in left if not _is_told(line, before, after, file)]
    return Looked(found, unsaid, without, n_before, n_after)


def _is_of_torch(edit: Edit) -> bool:
    return not edit.rules or any(rule.startswith("NPT") for rule in edit.rules.split())


def _is_told(line: int, before: list[str], after: list[str], file: dict) -> bool:
    """Whether a finding is about a line of the output, told by the line of the source that it comes from."""
    if file["status"] in ("failed", "conflict"):
        return True
    lines = lines_before(before, after).get(line, range(line, line + 1))
    return any(f["level"] != "fixed" and _is_about(f, lines) for f in file["findings"])


def _is_about(finding: dict, lines: range) -> bool:
    """Whether a finding is at one of some lines, or names one of them as another place of its kind."""
    if finding["line"] < lines.stop and finding["end_line"] >= lines.start:
        return True
    others = _OTHERS.search(finding["message"])
    return others is not None and any(int(number) in lines for number in re.findall(r"\d+", others.group()))
