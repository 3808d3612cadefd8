"""The table of operators, operators.csv: for each name in PyTorch's libraries what it is on the chip."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import NamedTuple

_FOREACH = "_foreach_"


class OperatorRow(NamedTuple):
    """name: without its namespace, except for one that another library has as well.  family: a name in `chip_graph.FAMILIES`.
    op: the cost tables' name.  device_op: the device's operator.
    """

    name: str
    family: str
    op: str
    device_op: str


@cache
def operator_rows() -> dict[str, OperatorRow]:
    """The rows by name."""
    text = (resources.files("npu_runtime.importers.pytorch") / "operators.csv").read_text(encoding="utf-8")
    return {row["name"]: OperatorRow(**row) for row in csv.DictReader(text.splitlines())}


@cache
def row_of(name: str) -> OperatorRow | None:
    """The row of an operator, None for one that the table does not know.

    name: with its namespace.  A form that works in place has the row of the other, and one on lists of tensors that of the
    operator on each of them.
    """
    rows, bare = operator_rows(), name.partition("::")[2] or name
    found = rows.get(name) or rows.get(bare) or rows.get(bare.removesuffix("_"))
    if found is not None or not bare.startswith(_FOREACH):
        return found
    single = rows.get(bare.removeprefix(_FOREACH).removesuffix("_"))
    return single and single._replace(name=bare, family=_of_lists(single), device_op=f"Foreach{single.device_op}")


def _of_lists(row: OperatorRow) -> str:
    """The family of an operator on lists: one task reads all of them and writes all results."""
    return row.family if row.family in ("reduction", "elementwise") else "elementwise"
