"""The page that lists the public names of MindSpore r1.0 and r1.1 with what the project's package does with each."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

TABLE = Path(__file__).parents[1] / "tf2npu" / "adapters" / "mindspore" / "mindspore" / "names.csv"
STATUSES = {
    "faithful": "It computes or does what it does in MindSpore.",
    "recorded": "It is accepted, and changes nothing on the simulated device.",
    "refused": "It is not there, or there to say why it is refused. Reading it raises an error that names this page.",
}
HEAD = """# Names of MindSpore r1.0 and r1.1

The package `mindspore` of `tf2npu run --frontend mindspore` has {n_faithful:,} of {n_all:,} names that these releases export,
{n_recorded} are accepted without effect, and {n_refused:,} are refused. A name stands with the outermost module that exports it:
what `mindspore.ops` exports is in `mindspore.ops.operations`, `composite` and `functional`, too. The package's `names.csv` is the
same as a table.

| status | meaning |
|---|---|
"""


def names_page() -> str:
    """The page, from the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    counts = {f"n_{status}": sum(row["status"] == status for row in rows) for status in STATUSES}
    meanings = "".join(f"| {status} | {meaning} |\n" for status, meaning in STATUSES.items())
    return HEAD.format(n_all=len(rows), **counts) + meanings + "".join(_section(*item) for item in _by_module(rows).items())


def _by_module(rows: list[dict[str, str]]) -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        found[row["module"]][row["status"]].append(f"`{row['name']}`")
    return found


def _section(module: str, names: dict[str, list[str]]) -> str:
    """Names of a module by status; a status without names has no line."""
    lines = [f"- {status}: {', '.join(names[status])}" for status in STATUSES if names.get(status)]
    return "\n".join([f"\n## {module}\n", *lines]) + "\n"
