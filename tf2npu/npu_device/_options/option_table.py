"""The table of options: table.csv, a row for each option and for each group of options."""

from __future__ import annotations

import csv
from ast import literal_eval
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

GROUP = "tree"
"""Status of a row that stands for a group of options: its default is the name of that group's class."""


@dataclass(frozen=True)
class Row:
    """One row of table.csv.

    config: the class that has the option.  default, choices: as Python writes them; no choices for any value.  session_option:
    its name in npu_formats/session_options.csv, which is what the device is handed; empty where there is none.  status: current,
    deprecated, removed (of an earlier release) or tree.  instead: what to use.  here: "done" or "recorded".

    Source: the vendor's documentation of global_options, and for defaults its adapter for TensorFlow 2.
    """

    config: str
    name: str
    default: str
    choices: str
    session_option: str
    status: str
    instead: str
    here: str

    @property
    def default_value(self) -> Any:
        """The value while nobody has set one."""
        return literal_eval(self.default)

    @property
    def allowed(self) -> list[Any] | None:
        """The values that the option takes; None for any."""
        return literal_eval(self.choices) if self.choices else None


@cache
def rows() -> Mapping[str, tuple[Row, ...]]:
    """The rows of each class, in the order in which the vendor's messages list them."""
    found: dict[str, list[Row]] = {}
    with (Path(__file__).parent / "table.csv").open(encoding="utf-8", newline="") as file:
        for fields in csv.DictReader(file):
            found.setdefault(fields["config"], []).append(Row(**fields))
    return {config: tuple(of_config) for config, of_config in found.items()}
