"""Statistics of tensors, which stand in a table where the tensors themselves would be too many bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from npu_formats.vendor.dump_file import ND, NHWC

HEADER = (
    "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value,Count,Nan Count,Negative Inf Count,"
    "Positive Inf Count"
)
"""Columns.  Source: the statistics form of the vendor's dump."""
_BLOCK = 1 << 16
"""Elements that are looked at together: 256 KB of fp32 stay in a core's cache for all that is asked of them."""
_FORMATS = {ND: "ND", NHWC: "NHWC"}
_TYPES = {
    "float32": "DT_FLOAT", "float16": "DT_FLOAT16", "bfloat16": "DT_BF16", "float64": "DT_DOUBLE",
    "complex64": "DT_COMPLEX64", "complex128": "DT_COMPLEX128",
}  # fmt: skip


@dataclass
class Statistics:
    """Statistics of the finite elements; total: their sum.  n_nan, n_negative, n_positive: the others."""

    largest: float = -np.inf
    smallest: float = np.inf
    total: float = 0.0
    n_finite: int = 0
    n_nan: int = 0
    n_negative: int = 0
    n_positive: int = 0

    def add(self, block: np.ndarray) -> None:
        """Look at a block of real numbers in one type that numpy computes fast."""
        with np.errstate(all="ignore"):
            total = block.sum()
            if np.isfinite(total):
                self._add_finite(block, float(total))
                return
        finite = np.isfinite(block)
        self.n_nan += int(np.isnan(block).sum())
        self.n_negative += int(np.isneginf(block).sum())
        self.n_positive += int(np.isposinf(block).sum())
        kept = block[finite]
        self._add_finite(kept, float(kept.sum(dtype=np.float64)))

    def _add_finite(self, block: np.ndarray, total: float) -> None:
        if block.size:
            self.largest = max(self.largest, block.max().item())
            self.smallest = min(self.smallest, block.min().item())
            self.total += total
            self.n_finite += block.size


def statistics_of(array: np.ndarray) -> Statistics | None:
    """Statistics of all elements in one pass; None for complex numbers, which have no order."""
    if array.dtype.kind == "c":
        return None
    found = Statistics()
    flat = array.reshape(-1)
    for start in range(0, flat.size, _BLOCK):
        block = flat[start : start + _BLOCK]
        found.add(block.astype(np.float32) if block.dtype.itemsize == 2 and block.dtype.kind in "fV" else block)
    return found


def described(array: np.ndarray, number: int) -> str:
    """A line of the table, from the third column on.  number: of the format."""
    dtype = _TYPES.get(array.dtype.name) or f"DT_{array.dtype.name.upper()}"
    shape = "x".join(map(str, array.shape))
    found = statistics_of(array)
    counts = "" if found is None else f"{found.n_nan},{found.n_negative},{found.n_positive}"
    values = ",," if found is None or not found.n_finite else ",".join(
        _number(value) for value in (found.largest, found.smallest, found.total / found.n_finite)
    )  # fmt: skip
    return f"{array.nbytes},{dtype},{_FORMATS[number]},{shape},{values},{array.size},{counts or ',,'}"


def _number(value: float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(int(value))


def table(rows: Iterable[str]) -> bytes:
    """The file of one operator."""
    return "\n".join([HEADER, *rows, ""]).encode()
