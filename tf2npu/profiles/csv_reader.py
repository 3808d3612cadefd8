"""Reads the CSV files of a profiler leniently: columns by name whatever their unit, order or release, cells that are N/A."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from npu_formats.files.bounded_read import KB

MOST_ROWS = 1_000_000
"""Rows that are read of a file: a hundred steps of a graph of ten thousand tasks."""
_MOST_CELL = 64 * KB
"""Characters of a cell: the longest name of a fused operator has some thousand."""
_MOST_HEAD = 64 * KB
"""Bytes of the line of columns: the longest that is known has some thousand."""
MOST_AMOUNT = 10**18
"""The largest amount that a cell may hold: more microseconds, cycles or bytes than any profile has."""
_UNIT = re.compile(r"\((us|ms|ns|s|KB|MB|B|%)\)\s*\Z", re.IGNORECASE)
_PER_UNIT = {"us": 1.0, "ms": 1e3, "ns": 1e-3, "s": 1e6, "kb": 1024.0, "mb": 1024.0**2, "b": 1.0, "%": 0.01}
"""Microseconds, bytes or share of one of a unit."""


class NoProfile(Exception):
    """A folder holds no profile that can be read; the text says why, and what to do."""


class Clock:
    """Moments of one profile as microseconds since the first one that was asked for.

    A profiler writes microseconds since 1970 with three decimals, which are more digits than a float has.
    """

    def __init__(self) -> None:
        self._first: int | None = None

    def us(self, written: str, factor: float = 1.0) -> float | None:
        """The moment that is written in a cell; None where there is none.  factor: microseconds of one."""
        try:
            value = Decimal(written.strip().strip('"')) * Decimal(str(factor))
        except ArithmeticError:  # no number, or one that even a decimal cannot hold
            return None
        if not value.is_finite() or abs(value) > MOST_AMOUNT:
            return None
        if self._first is None:
            self._first = int(value)
        return float(value - self._first)


@dataclass(frozen=True)
class TableRow:
    """A row.  cells: by the column's name in small letters and digits, without its unit.  factors: what one of it is."""

    cells: Mapping[str, str]
    factors: Mapping[str, float]

    def text(self, *names: str) -> str:
        """The first of these columns that holds something; "" where none does."""
        for name in names:
            cell = self.cells.get(name, "").strip()
            if cell and cell.upper() != "N/A":
                return cell
        return ""

    def amount(self, *names: str) -> float | None:
        """The same as a finite number, in microseconds, bytes or as a share; None where there is none."""
        for name in names:
            value = number_in(self.cells.get(name, ""), self.factors.get(name, 1.0))
            if value is not None:
                return value
        return None

    def moment(self, clock: Clock, *names: str) -> float | None:
        """The same as a moment of the profile."""
        found = (clock.us(self.cells.get(name, ""), self.factors.get(name, 1.0)) for name in names)
        return next((moment for moment in found if moment is not None), None)

    def whole(self, *names: str) -> int | None:
        """The same as a whole number."""
        value = self.amount(*names)
        return None if value is None else int(value)


def number_in(cell: str, factor: float = 1.0) -> float | None:
    """The number in a cell times a factor; None for N/A and for what is none, not finite or too large. A tab may be behind it."""
    try:
        value = float(cell.strip().strip('"')) * factor
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) <= MOST_AMOUNT else None


def rows(data: bytes, shown: str) -> Iterator[TableRow]:
    """The rows of a file.  shown: its name for messages.  Raises: NoProfile for what is no such table."""
    reader = _reader(data)
    try:
        head: list[str] = next(reader, [])
        names = [plain(name) for name in head]
        factors = {name: _factor(written) for name, written in zip(names, head, strict=True)}
        for number, cells in enumerate(reader, 2):
            if number > MOST_ROWS + 1:
                raise NoProfile(f"{shown}: has more than {MOST_ROWS} rows: profile fewer steps")
            yield TableRow(dict(zip(names, cells, strict=False)), factors)
    except csv.Error as error:
        raise NoProfile(f"{shown}:{reader.line_num}: is no CSV: {error}") from None


def column_names(data: bytes, shown: str) -> list[str]:
    """The names of a file's columns, as `plain` has them.  Raises: NoProfile for what is no such table."""
    reader = _reader(data[:_MOST_HEAD])
    try:
        return [plain(name) for name in next(reader, [])]
    except csv.Error as error:
        raise NoProfile(f"{shown}:{reader.line_num}: is no CSV: {error}") from None


def _reader(data: bytes) -> Any:
    csv.field_size_limit(_MOST_CELL)
    return csv.reader(io.StringIO(data.decode("utf-8-sig", "replace").replace("\0", ""), newline=""))


def plain(name: str) -> str:
    """A column's name without its unit, in small letters and digits."""
    return re.sub(r"[^a-z0-9]+", "", _UNIT.sub("", name.strip()).lower())


def _factor(name: str) -> float:
    unit = _UNIT.search(name.strip())
    return _PER_UNIT[unit.group(1).lower()] if unit else 1.0
