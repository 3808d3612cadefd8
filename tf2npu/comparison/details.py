"""Details for the page of the tensor where the difference begins: histograms of both sides, and the elements furthest apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tf2npu.comparison.rows import Row
from tf2npu.comparison.tensors.block_sums import BLOCK
from tf2npu.comparison.tensors.layouts import NotComparable
from tf2npu.comparison.unreadable import Unreadable

N_BINS = 40
"""Bars of a histogram: enough for a shape, and 20 pixels each on a wide screen."""
N_WORST = 10
"""Elements that are listed."""


@dataclass(frozen=True)
class Element:
    """index: along each axis.  device, reference: as text, in their own precision."""

    index: tuple[int, ...]
    device: str
    reference: str
    difference: str


@dataclass(frozen=True)
class Details:
    """edges: of the bins, N_BINS + 1 numbers; empty where no element is finite.  device, reference: elements in each bin."""

    edges: tuple[float, ...]
    device: tuple[int, ...]
    reference: tuple[int, ...]
    worst: tuple[Element, ...]


def details(row: Row) -> Details | None:
    """The details of a row; None where its tensors cannot be read again, or it has none."""
    if row.beside is None:
        return None
    try:
        pair = row.beside()
    except (Unreadable, NotComparable):
        return None
    x, y = pair.x, pair.y
    low, high = _range(x, y)
    edges = tuple(np.linspace(low, high, N_BINS + 1).tolist()) if low <= high else ()
    device, reference = (_counts(side, low, high) if edges else () for side in (x, y))
    extents = row.extents if np.prod(row.extents, dtype=object) == len(x) else pair.shape
    return Details(edges, device, reference, tuple(_elements(x, y, extents)))


def _doubles(block: np.ndarray) -> np.ndarray:
    return block.real.astype(np.float64)


def _parts(array: np.ndarray) -> list[np.ndarray]:
    return [array[start : start + BLOCK] for start in range(0, len(array), BLOCK)]


def _range(*sides: np.ndarray) -> tuple[float, float]:
    low, high = np.inf, -np.inf
    for side in sides:
        for part in _parts(side):
            block = _doubles(part)
            finite = block[np.isfinite(block)]
            low, high = min(low, finite.min(initial=np.inf)), max(high, finite.max(initial=-np.inf))
    if low == high or not np.isfinite(high - low):
        return float(low - 0.5), float(high + 0.5)
    return float(low), float(high)


def _counts(side: np.ndarray, low: float, high: float) -> tuple[int, ...]:
    total = np.zeros(N_BINS, np.int64)
    for part in _parts(side):
        block = _doubles(part)
        total += np.histogram(block[np.isfinite(block)], N_BINS, (low, high))[0]
    return tuple(total.tolist())


def _elements(x: np.ndarray, y: np.ndarray, extents: tuple[int, ...]) -> list[Element]:
    """The elements furthest apart; NaN and infinity on one side before all others."""
    found: list[tuple[float, int]] = []
    for start in range(0, len(x), BLOCK):
        with np.errstate(all="ignore"):
            a, b = _doubles(x[start : start + BLOCK]), _doubles(y[start : start + BLOCK])
            apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
        apart[np.isnan(apart)] = np.inf
        most = np.argsort(-apart, kind="stable")[:N_WORST]
        found = sorted([*found, *((-float(apart[n]), start + int(n)) for n in most)])[:N_WORST]
    return [_element(x, y, place, extents) for negative, place in found if negative]


def _element(x: np.ndarray, y: np.ndarray, place: int, extents: tuple[int, ...]) -> Element:
    index = tuple(int(n) for n in np.unravel_index(place, extents)) if extents else ()
    with np.errstate(all="ignore"):
        difference = float(_doubles(x[place : place + 1])[0] - _doubles(y[place : place + 1])[0])
    return Element(index, str(x[place]), str(y[place]), f"{difference:.6g}")
