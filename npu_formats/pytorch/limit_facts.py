"""Limits of an API as facts: how the lists spell one, and what it says in English.

A fact is spelled `kind argument=value,value @chip,chip`, every part but the kind optional: `types input=bf16,fp16 @A2,A3`.
A cell of a list has several, with `; ` between them.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_LISTS = Path(__file__).parent / "lists"
COLUMNS = ("first", "A2", "A3", "950DT")
"""Chips as the lists name them; `first` is the first generation, of which they say almost nothing."""
TYPES: Mapping[str, str] = {
    "bf16": "bfloat16", "fp16": "float16", "fp32": "float32", "fp64": "float64", "uint8": "uint8", "uint16": "uint16",
    "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "bool": "bool",
    "complex64": "complex64", "complex128": "complex128",
}  # fmt: skip
"""Names of element types in the lists, and torch's."""
TEXTS: Mapping[str, str] = {
    "types": "`{argument}` may be {values} only",
    "not_types": "not for {values}",
    "more_types": "also for {values}",
    "cpu": "computed on the CPU, with a copy there and one back",
    "maybe_cpu": "may be computed on the CPU, with a copy there and one back",
    "cpu_only": "for tensors on the CPU only",
    "max_dims": "at most {values} dimensions",
    "min_dims": "at least {values} dimensions",
    "dims": "{values} dimensions",
    "not_dims": "not with {values} dimensions",
    "max_size": "axis {axis} of `{argument}` has at most {values} elements",
    "max_elements": "`{argument}` has at most {values} elements",
    "types_max_dims": "{argument} has at most {values} dimensions",
    "only": "`{argument}` may be {values} only",
    "not_argument": "`{argument}` cannot be given",
    "inference": "inference only, no training",
    "page": "limited: the vendor's page says how",
}
"""English of each kind; a `note` has its own in notes.csv."""
HARMLESS = frozenset({"more_types"})


@dataclass(frozen=True)
class Note:
    """A limit that has no kind of its own.  effect: `limit`, `differs` (other results than elsewhere) or `advice`."""

    effect: str
    text: str


@dataclass(frozen=True)
class Fact:
    """One limit.

    argument: which it is about, with `.AXIS` for a size.  values: types as the lists spell them, numbers, or words.
    chips: columns that it holds for, empty for all.
    """

    kind: str
    argument: str = ""
    values: tuple[str, ...] = ()
    chips: tuple[str, ...] = ()

    def __str__(self) -> str:
        values = f"={','.join(self.values)}" if self.values else ""
        named = f" {self.argument}" if self.argument else ""
        return f"{self.kind}{named}{values}" + (f" @{','.join(self.chips)}" if self.chips else "")

    @property
    def text(self) -> str:
        """The fact in English."""
        if self.kind == "note":
            return notes()[self.values[0]].text
        values = ", ".join(TYPES.get(value, value) for value in self.values)
        argument, _, axis = self.argument.partition(".")
        text = TEXTS[self.kind].format(argument=TYPES.get(argument, argument), axis=axis, values=values)
        return f"the argument `{argument}`: {text}" if argument and "{argument}" not in TEXTS[self.kind] else text

    @property
    def limits(self) -> bool:
        """Whether something does not work, or works otherwise than elsewhere."""
        return self.kind not in HARMLESS and (self.kind != "note" or notes()[self.values[0]].effect != "advice")


def facts_of(cell: str) -> tuple[Fact, ...]:
    """The facts of a cell.  Raises: ValueError for one of an unknown kind."""
    return tuple(_fact(words) for words in cell.split("; ") if words)


def _fact(words: str) -> Fact:
    left, _, chips = words.partition(" @")
    head, _, values = left.partition("=")
    kind, _, argument = head.partition(" ")
    if kind != "note" and kind not in TEXTS:
        raise ValueError(f"unknown kind of limit: {words!r}")
    return Fact(kind, argument, tuple(values.split(",")) if values else (), tuple(chips.split(",")) if chips else ())


@cache
def notes() -> Mapping[str, Note]:
    """Every note by its name."""
    return {row["note"]: Note(row["effect"], row["text"]) for row in rows_of("notes.csv")}


def rows_of(name: str) -> list[dict[str, str]]:
    """The rows of a list of this package."""
    text = (_LISTS / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
