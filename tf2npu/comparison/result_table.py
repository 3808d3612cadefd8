"""The result table as CSV, in the vendor's columns and, behind them, ours."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from tf2npu.comparison.metrics import ALGORITHMS
from tf2npu.comparison.rows import Row

FULL, OF_2020 = "full", "2020"
HEADER_OF_2020 = (
    "Index", "LeftOp", "RightOp", "TensorIndex", "CosineSimilarity", "MaxAbsoluteError", "AccumulatedRelativeError",
    "RelativeEuclideanDistance", "KullbackLeiblerDivergence", "StandardDeviation",
)  # fmt: skip
"""The columns of the release of 2020, which textbooks show."""
OWN = ("UlpWorst", "UlpMedian", "ShareOutside", "NanOneSide", "InfOneSide", "SignalToNoise(dB)", "Verdict", "Missed")
_SIGNS = "=+-@＝＋－%"
_FORMULA = re.compile(rf"(?:^|;)[{re.escape(_SIGNS)}]")
"""A cell that a spreadsheet computes as a formula."""


@dataclass(frozen=True)
class Columns:
    """kind: FULL or OF_2020.  has_device_address, has_reference_address: whether that side is a dump."""

    kind: str = FULL
    has_device_address: bool = True
    has_reference_address: bool = False

    def header(self) -> list[str]:
        if self.kind == OF_2020:
            return list(HEADER_OF_2020)
        device, reference = (["Address"] if has else [] for has in (self.has_device_address, self.has_reference_address))
        start = ["Index", "OpType", "NPUDump", "DataType", *device, "GroundTruth", "DataType", *reference, "TensorIndex", "Shape"]
        return [*start, *ALGORITHMS, "CompareFailReason", *OWN]

    def cells(self, row: Row) -> list[str]:
        if self.kind == OF_2020:
            return [str(row.index), row.device, row.reference, row.tensor, *row.figures[:6]]
        device, reference = (
            [address] if has else []
            for address, has in (
                (row.device_address, self.has_device_address), (row.reference_address, self.has_reference_address),
            )
        )  # fmt: skip
        start = [str(row.index), row.op_type, row.device, row.device_type, *device, row.reference, row.reference_type, *reference]
        return [*start, row.tensor, row.shape, *row.figures, row.reason, *own_cells(row)]


def own_cells(row: Row) -> list[str]:
    """Our columns of a row; empty ones where nothing was measured."""
    found = row.measures
    if found is None:
        return ["", "", "", "", "", "", row.verdict, row.why]
    steps = ["" if value is None else f"{value:g}" for value in (found.ulp_worst, found.ulp_median)]
    return [
        *steps, f"{found.share_outside:.6f}", str(found.n_nan), str(found.n_infinite), f"{found.signal_to_noise_db:.2f}",
        row.verdict, row.why,
    ]  # fmt: skip


def csv_lines(rows: Iterable[Row], columns: Columns) -> Iterator[str]:
    """The table, line by line; the line end is that of the vendor's program."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    for cells in chain([columns.header()], map(columns.cells, rows)):
        writer.writerow(map(_harmless, cells))
        yield text.getvalue()
        text.seek(0)
        text.truncate()


def _harmless(cell: str) -> str:
    """A cell with a blank in front if a spreadsheet would compute it; numbers are left alone."""
    if not cell or (cell[0] not in _SIGNS and ";" not in cell) or not _FORMULA.search(cell):
        return cell
    try:
        float(cell)
    except ValueError:
        return f" {cell}"
    return cell
