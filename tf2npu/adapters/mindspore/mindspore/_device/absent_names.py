"""The error for a name that the package does not have: whether MindSpore r1.1 has it, and where the names are listed."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from npu_formats.near_names import near_names

_TABLE = Path(__file__).parents[1] / "names.csv"
LIST = "docs/generated/mindspore_names.md"
"""The document with all names."""


@cache
def _names() -> dict[str, set[str]]:
    """The public names of r1.0 and r1.1, by module."""
    found: dict[str, set[str]] = {}
    with _TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["module"], set()).add(row["name"])
    return found


def absent(module: str, having: Callable[[], list[str]] = list) -> Callable[[str], Any]:
    """A `__getattr__` for a module.  having: gives the names that it has."""

    def missing(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        if name in _names().get(module, ()):
            why = "is a name of MindSpore r1.1 that tf2npu's package does not have"
            raise AttributeError(f"{module}.{name} {why}: {LIST} lists those that it has")
        near = near_names(name, having(), 1)
        meant = f" Did you mean {near[0]}?" if near else ""
        raise AttributeError(f"{module}.{name} is no name of MindSpore r1.0 or r1.1; {LIST} lists them.{meant}")

    return missing
