"""A comparison as a web page that needs nothing but itself.

What a dump, a graph file or a file name says is escaped; the page forbids itself any network access and any script but its own.
Without a script it shows where the difference begins and the first rows; the script has all rows, and draws those in sight.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment

from npu_formats.escape import visible
from tf2npu import prediction
from tf2npu.comparison.as_text import inputs_of, place_of, reasons
from tf2npu.comparison.comparison import Comparison
from tf2npu.comparison.details import Details, details
from tf2npu.comparison.metrics import ALGORITHMS
from tf2npu.comparison.rows import Row
from tf2npu.comparison.texts import Texts
from tf2npu.comparison.verdicts import AGREES, COSINE, DIFFERS, DISTANCE, DIVERGENCE, NOT_COMPARED, ROUNDING
from tf2npu.report.html.code_table import seen
from tf2npu.report.html.standalone import VIRTUAL_TABLE, as_data, standalone_environment

_FILES = Path(__file__).parent / "htmlfiles"
_SHARED = Path(prediction.__file__).parent / "htmlfiles"
_STATIC_ROWS = 100
"""Rows of the table without a script: what a reader scrolls through."""
VERDICTS = (AGREES, DIFFERS, ROUNDING, NOT_COMPARED)
_TEXTS: dict[str, Callable[[Row], str]] = {
    "Operator": lambda row: row.device,
    "Type": lambda row: row.op_type,
    "Reference": lambda row: row.reference,
    "Tensor": lambda row: " ".join(row.tensor.rsplit(":", 2)[-2:]),
    "Types": lambda row: f"{row.device_type} / {row.reference_type}",
    "Shape": lambda row: row.shape,
    "Why": lambda row: row.why or row.reason,
    "Line": lambda row: row.line,
}
"""Columns of text."""
_MEASURED: dict[str, Callable[[Row], float | None]] = {
    "UlpWorst": lambda row: row.measures.ulp_worst if row.measures else None,
    "ShareOutside": lambda row: row.measures.share_outside if row.measures else None,
    "SignalToNoise(dB)": lambda row: row.measures.signal_to_noise_db if row.measures else None,
}
FIGURES = tuple(name for name in ALGORITHMS if name != "StandardDeviation")
SLIDERS = ((COSINE, 0.9, 1.0), ("MaxAbsoluteError", 1e-8, 1e3), (DISTANCE, 1e-8, 10.0), (DIVERGENCE, 1e-8, 10.0))
"""Figures with a slider: least and most; all but the cosine by powers of ten."""
COLUMNS = ("Index", "Operator", "Type", "Reference", "Tensor", "Verdict", *FIGURES, *_MEASURED, "Types", "Shape", "Line", "Why")
SHOWN_FIRST = ("Index", "Operator", "Type", "Tensor", "Verdict", COSINE, "MaxAbsoluteError", DISTANCE, DIVERGENCE, "Why")
"""Columns that are shown before the reader chooses."""
SCRIPT_TEXTS = (
    "{} of {} rows", "default", "{}: {}", "agrees", "differs", "rounding", "not compared", "Sort by {}", "no row fits",
    "row {}: {}",
)  # fmt: skip
"""Texts that the page's script writes, as templates of the catalogue."""


def page(found: Comparison, t: Texts) -> str:
    """The page as HTML."""
    first = found.first_difference()
    detail = details(found.with_tensors(first)) if first is not None else None
    order = {id(row): n for n, row in enumerate(found.rows)}
    data = {
        **_columns(found.rows),
        "first": order[id(first)] if first is not None else -1,
        "texts": {s: t(s) for s in SCRIPT_TEXTS},
    }
    return _environment(t).get_template("compare.html").render(
        found=found, first=first, detail=detail, title=_title(found, t), data=as_data(data), counts=found.counts(),
        place=place_of(first) if first else "", inputs=_inputs(found, t),
        bars=_bars(detail) if detail else None, static=[_static(row) for row in found.rows[:_STATIC_ROWS]],
        reasons=reasons(found.rows, None), columns=COLUMNS, shown=SHOWN_FIRST, sliders=SLIDERS, names=_names(t),
    )  # fmt: skip


def _title(found: Comparison, t: Texts) -> str:
    if found.origin is not None:
        return t("The difference begins at {}", visible(found.origin.name))
    if found.counts()[AGREES]:
        return t("All that was compared agrees")
    return t("Nothing was compared")


def _inputs(found: Comparison, t: Texts) -> str:
    if found.origin is None:
        return ""
    template, values = inputs_of(found, found.origin)
    return visible(t(template, *values))


def _names(t: Texts) -> dict[str, str]:
    """The heads of the columns; figures keep the names that the table has."""
    return {name: t(name) for name in COLUMNS}


@lru_cache(maxsize=4)
def _environment(t: Texts) -> Environment:
    environment = standalone_environment("compare", (_FILES, _SHARED), [VIRTUAL_TABLE])
    environment.filters |= {"seen": seen, "plain": visible}
    environment.globals |= {
        "t": t, "AGREES": AGREES, "DIFFERS": DIFFERS, "ROUNDING": ROUNDING, "NOT_COMPARED": NOT_COMPARED,
    }  # fmt: skip
    return environment


def _columns(rows: list[Row]) -> dict[str, Any]:
    """Every row, column by column: texts as numbers of a list in which each stands once, as names repeat."""
    texts: dict[str, int] = {}
    codes: dict[str, int] = {}

    def coded(text: str) -> int:
        if text not in codes:
            codes[text] = texts.setdefault(visible(text), len(texts))
        return codes[text]

    columns: dict[str, list[Any]] = {name: [coded(of(row)) for row in rows] for name, of in _TEXTS.items()}
    columns["Index"] = [row.index for row in rows]
    columns["Verdict"] = [VERDICTS.index(row.verdict) for row in rows]
    for name in FIGURES:
        columns[name] = [_number(row.values.get(name)) for row in rows]
    for name, of in _MEASURED.items():
        columns[name] = [_number(of(row)) for row in rows]
    others = [_others_missed(row) for row in rows]
    return {
        "columns": columns, "list": list(texts), "kinds": {name: "text" if name in _TEXTS else "number" for name in COLUMNS},
        "names": COLUMNS, "others": others, "sliders": [list(slider) for slider in SLIDERS], "missed": _missed(rows),
    }  # fmt: skip


def _missed(rows: list[Row]) -> list[int]:
    """A bit for each slider's figure that a row misses."""
    names = [name for name, _, _ in SLIDERS]
    return [sum(1 << names.index(name) for name, _, _ in row.missed if name in names) for row in rows]


def _others_missed(row: Row) -> int:
    """1 where a row misses a threshold that has no slider."""
    names = {name for name, _, _ in SLIDERS}
    return int(any(name not in names for name, _, _ in row.missed))


def _number(value: float | None) -> float | str | None:
    """Seven digits; what is no number as text, as JSON has none."""
    if value is None:
        return None
    return float(f"{value:.7g}") if math.isfinite(value) else str(value)


def _static(row: Row) -> list[str]:
    cells: dict[str, str] = {name: of(row) for name, of in _TEXTS.items()}
    cells |= {"Index": str(row.index), "Verdict": row.verdict}
    cells |= dict(zip(ALGORITHMS, row.figures, strict=True))
    return [cells[name] for name in SHOWN_FIRST]


def _bars(detail: Details) -> list[dict[str, Any]]:
    """Bars of the histogram, in a picture of 100 by 100: of both sides, side by side in each bin."""
    most = max((*detail.device, *detail.reference), default=0) or 1
    width = 100 / max(len(detail.device), 1)
    bars = []
    for n, (one, other) in enumerate(zip(detail.device, detail.reference, strict=True)):
        for side, count, shift in (("device", one, 0.0), ("reference", other, 0.5)):
            height = 100 * count / most
            bars.append(
                {
                    "side": side,
                    "x": round((n + shift) * width, 3),
                    "y": round(100 - height, 3),
                    "w": round(width * 0.45, 3),
                    "h": height,
                }
            )
    return bars
