"""Checks the table of names that MindSpore 2 no longer has against that release:

    PYTHON tools/check_mindspore_changes.py

PYTHON is one that has it: 2.10 for CPU checked the table that ships. Nothing in the table may be there, what it tells to write
has to be, and each name of r1.0 and r1.1 (names.csv of the package mindspore) that is not there has a row or its module has one.
"""

from __future__ import annotations

import csv
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mindspore import context

sys.path.insert(0, str(Path(__file__).parents[1]))

from tf2npu.frameworks.mindspore.names import canonical

ROOT = Path(__file__).parents[1] / "tf2npu"
NAMES = ROOT / "adapters" / "mindspore" / "mindspore" / "names.csv"
TABLE = ROOT / "frameworks" / "mindspore" / "changed_names.csv"
SETTERS = {"context": context.set_context, "parallel": context.set_auto_parallel_context}
_ADVICE = re.compile(r"`((?:mindspore|ops|nn|dataset|vision|transforms)\.[\w.]+)")


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def found(name: str) -> Any:
    """The object of a full name, or None."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            value = getattr(value, part, None)
        return value
    return None


def is_module(name: str) -> bool:
    """Whether a module can be imported."""
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def is_there(kind: str, name: str) -> bool:
    """Whether the release has a name, a module, or a setting; of one that it does not know it says so."""
    if kind == "module":
        return is_module(name)
    if kind == "name":
        return found(name) is not None
    try:
        SETTERS[kind](**{name: None})
    except (TypeError, ValueError) as error:
        return "not recognized" not in str(error) and "has been removed" not in str(error)
    return True


def advised(text: str) -> list[str]:
    """Full names in a text that tells what to write."""
    names = [name.rstrip(".") for name in _ADVICE.findall(text)]
    shortened = {"vision": "mindspore.dataset.vision", "transforms": "mindspore.dataset.transforms"}
    return [
        name if first == "mindspore" else f"{shortened.get(first, f'mindspore.{first}')}.{rest}"
        for name in names
        for first, _, rest in [name.partition(".")]
    ]


def problems() -> Iterator[str]:
    """Sentences about rows that are wrong, and names without a row."""
    table = rows(TABLE)
    for row in table:
        if is_there(row["kind"], row["name"]):
            yield f"{row['name']}: it is there"
        for name in advised(row["instead"]):
            if found(name) is None:
                yield f"{row['name']}: it tells to write {name}, which is not there"
    told = {row["name"] for row in table}
    for row in rows(NAMES):
        name = canonical(f"{row['module']}.{row['name']}")
        modules = (row["module"].rsplit(".", number)[0] for number in range(row["module"].count(".")))
        if not told & {name, *modules} and found(f"{row['module']}.{row['name']}") is None:
            yield f"{row['module']}.{row['name']}: it is not there, and has no row"


def main() -> None:
    """Prints what is wrong.  Raises: SystemExit with the number of it."""
    told = list(problems())
    print(*told, sep="\n")
    raise SystemExit(len(told))


if __name__ == "__main__":
    main()
