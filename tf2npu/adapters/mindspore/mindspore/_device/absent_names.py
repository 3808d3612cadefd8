"""The error for a name that the package does not have: whether MindSpore r1.1 has it, and where the names are listed."""

from __future__ import annotations

import csv
import importlib.abc
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


class AbsentModules(importlib.abc.MetaPathFinder):
    """The finder that Python asks last: it has no module, and says of one below mindspore whether r1.x has it.

    Python asks for a module, too, where a package has no name that a program imports from it.
    """

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        """Raises: ModuleNotFoundError for a module, or for a name, of mindspore."""
        package, _, name = fullname.rpartition(".")
        if package.partition(".")[0] != "mindspore" or name.startswith("__"):
            return
        is_known = name in _names().get(package, ()) or any(f"{one}.".startswith(f"{fullname}.") for one in _names())
        releases = "MindSpore r1.0 or r1.1"
        why = f"is in {releases}, and tf2npu's package does not have it" if is_known else f"is not in {releases}"
        # by another name than the one that it looks for, Python lets the error through
        raise ModuleNotFoundError(f"{fullname} {why}: {LIST} lists what is there", name="mindspore")
