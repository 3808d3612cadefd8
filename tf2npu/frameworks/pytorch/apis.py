"""The API table of PyTorch: the names of release 2.13 with what the vendor's list says of each on each chip.

`names.csv` is written by tools/pytorch_inventory.py; names that the list has besides are in the table, too. A verdict is found
when it is asked for.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from npu_formats.pytorch.api_support import entries
from npu_formats.pytorch.chip_column import column_of
from npu_formats.pytorch.cuda_names import cuda_names
from tf2npu.api_support.table import Api, ApiTable
from tf2npu.frameworks.pytorch.api_verdicts import USUAL, judged

ROOTS = ("torch", "torch_npu")
"""Top-level modules whose names the table has."""
_OWN, _PUBLIC = "torch_npu.npu", "torch.npu"
"""Two names of one module; the table has the second."""
_USUAL_IMPORTS = {"F": "torch.nn.functional", "dist": "torch.distributed"}
"""Names that people import modules by, and which are not the last part of the module's name."""


class PyTorchTable(ApiTable):
    """The table for a chip; where none is named, with the support on each."""

    def __init__(self, chip: str = "") -> None:
        super().__init__(_rows())
        self.chip = chip

    @property
    def judged_for(self) -> str:
        return self.chip or column_of(USUAL).family

    def qualified(self, name: str) -> str:
        root, dot, rest = name.partition(".")
        if root not in ROOTS:
            return f"{_USUAL_IMPORTS.get(root, f'torch.{root}')}{dot}{rest}"
        return _PUBLIC + name[len(_OWN) :] if f"{name}.".startswith(f"{_OWN}.") else name

    def _api(self, name: str) -> Api:
        return judged(name, self._rows[name][1], tuple(self._rows[name][6].split()), self.chip)


@cache
def apis(chip: str = "") -> PyTorchTable:
    """The table for a chip, named as for `--soc`, or for all of them.  Raises: ChipProblem at a look-up, for what is no chip."""
    return PyTorchTable(chip)


def _rows() -> list[list[str]]:
    """Rows as the table has them, without verdicts: of the inventory first, whose names know their kinds."""
    found = {name: _row(name, kind, *rest) for name, kind, *rest in _inventory()}
    spelled = {alias: row[1] for row in found.values() for alias in row[6].split()}
    for row in cuda_names().values():
        for name in filter(_is_ours, (row.name, row.npu)):
            found.setdefault(name, _row(name, row.kind, _own_spelling(name)))
    for name in filter(_is_ours, entries()):
        if name not in found:
            found[name] = _row(name, spelled.get(name) or _kind(name, found))
    return list(found.values())


def _row(name: str, kind: str, aliases: str = "", bases: str = "", members: str = "") -> list[str]:
    return [name, kind, "", "", "", "", aliases, bases, members]


def _inventory() -> Iterator[list[str]]:
    with (Path(__file__).parent / "names.csv").open(encoding="utf-8", newline="") as file:
        yield from list(csv.reader(file))[1:]


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] in ROOTS


def _own_spelling(name: str) -> str:
    return _OWN + name[len(_PUBLIC) :] if name.startswith(f"{_PUBLIC}.") else ""


def _kind(name: str, found: dict[str, list[str]]) -> str:
    """The kind of a name that only the list has: a class begins with a capital letter, and has members."""
    owner, _, last = name.rpartition(".")
    if (owner in found and found[owner][1] == "class") or owner.rpartition(".")[2][:1].isupper():
        return "member"
    return "class" if last[:1].isupper() else "function"
