"""The column of the vendor's lists that tells of a chip."""

from __future__ import annotations

import re
from dataclasses import dataclass

from npu_formats.device.chip import ChipProblem

FAMILIES = (
    (re.compile(r"910B\d.*"), "A2", "Atlas A2"),
    (re.compile(r"910_93.*"), "A3", "Atlas A3"),
    (re.compile(r"950.*"), "950DT", "Ascend 950DT"),
)
"""Chips with a column, by their names without `Ascend`. Ascend910B without a number is one of the first generation."""
WITHOUT_COLUMN = re.compile(r"(910|310)\w*")


@dataclass(frozen=True)
class ChipColumn:
    """A column.  name: one of limit_facts.COLUMNS.  family: the chips that it tells of, as people call them.

    verified: whether the chip is one of them; the first generation is in no list, and is answered with that of A2.
    """

    chip: str
    name: str
    family: str
    verified: bool

    @property
    def remark(self) -> str:
        """The words to say with each answer; nothing where the list tells of the chip itself."""
        return "" if self.verified else f"list of A2, not verified for {self.chip}"


def column_of(chip: str) -> ChipColumn:
    """The column for a chip, named as for `--soc` with or without `Ascend`.  Raises: ChipProblem for what names none."""
    short = chip.removeprefix("Ascend")
    for pattern, name, family in FAMILIES:
        if pattern.fullmatch(short):
            return ChipColumn(short, name, family, verified=True)
    if not WITHOUT_COLUMN.fullmatch(short):
        raise ChipProblem(f"no chip is called {chip!r}; the lists of PyTorch tell of 910B1 to 910B4, 910_93 and 950")
    return ChipColumn(short, "first", "Atlas A2", verified=False)
