"""Writes, for each public name of MindSpore r1.0 and r1.1, what the project's package does with it:

    python tools/build_mindspore_names.py [NAMES ...]

NAMES are lists by tools/mindspore_inventory.py; without one, the names that the table has are looked at again. A name is
`faithful` where the package has it, `recorded` where its module lists it in RECORDED (it is accepted, and changes nothing here),
and `refused` where the package has not got it, or lists it in REFUSED (it is there to say why).
"""

from __future__ import annotations

import csv
import importlib
import sys
import types
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tf2npu" / "adapters" / "mindspore"
TABLE = FOLDER / "mindspore" / "names.csv"
HEADER = ("module", "name", "status")


def listed(paths: list[Path]) -> list[tuple[str, str]]:
    """Pairs of a module and a name from some tables, sorted, each once."""
    pairs = set()
    for path in paths:
        with path.open(encoding="utf-8", newline="") as file:
            pairs |= {(row["module"], row["name"]) for row in csv.DictReader(file)}
    return sorted(pairs)


def module_of(name: str) -> types.ModuleType | None:
    """A module of the package, or None."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def status(module: str, name: str) -> str:
    """The word for what the package does with a name.  The package has to be on the path."""
    found = module_of(module)
    if found is None or not hasattr(found, name):
        return "refused"
    tables = [found, module_of(getattr(getattr(found, name), "__module__", None) or module)]
    for word in ("recorded", "refused"):
        if any(name in getattr(table, word.upper(), ()) for table in tables if table is not None):
            return word
    return "faithful"


def text(pairs: list[tuple[str, str]]) -> str:
    """The table."""
    rows = [HEADER, *((module, name, status(module, name)) for module, name in pairs)]
    return "".join(",".join(row) + "\n" for row in rows)


def main(names: list[str]) -> None:
    """Writes the table and says how many names have which status."""
    sys.path[:0] = [str(ROOT), str(FOLDER)]
    made = text(listed(list(map(Path, names)) or [TABLE]))
    TABLE.write_text(made, encoding="utf-8")
    print(*(f"{made.count(f',{word}')} {word}" for word in ("faithful", "recorded", "refused")), sep=", ")


if __name__ == "__main__":
    main(sys.argv[1:])
