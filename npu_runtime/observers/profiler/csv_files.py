"""Cells and rows of the exported tables: comma, header first, `Device_id` in front, N/A where there is no value."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from npu_runtime.observers.profiler.clocks import TICK_NS, Clocks, tick_ns

AFTER_TIME = "\t"
"""Character behind a point in time, so that a spreadsheet keeps all its digits."""


def row(cells: Iterable[Any]) -> str:
    """One row with its line end; cells are quoted where they must be."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerow(cells)
    return written.getvalue()


def table(columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """A table line by line."""
    yield row(columns)
    for cells in rows:
        yield row(cells)


def time_cell(clocks: Clocks, tick: int) -> str:
    """A point in time: microseconds since 1970 with three decimals, and a tab."""
    return clocks.day_us(tick_ns(tick)) + AFTER_TIME


def microseconds(ticks: int) -> float:
    """A duration in microseconds: the nearest number that a table can hold."""
    return round(ticks * TICK_NS / 1000, 3)
