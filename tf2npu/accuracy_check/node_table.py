"""The nodes of a check, column by column, for the page's script and for readers without one."""

from __future__ import annotations

import math
from typing import Any

from npu_formats.documents.check_record import Errors, FirstDifference, Node, Record
from npu_formats.escape import visible
from tf2npu.accuracy_check import verdicts
from tf2npu.accuracy_check.sentences import place

STATIC_ROWS = 200
"""Rows of the table without a script: what a reader scrolls through."""
TEXT_COLUMNS = ("Node", "Operator", "Line")
_MOST_RUNS = 4
"""Runs whose errors stand in the table at first: their columns fit a laptop."""
_NO_ERRORS = Errors()


def labels(record: Record) -> list[str]:
    """The runs that have errors at nodes, in the order of the runs."""
    present = {label for node in record.nodes for label in node.runs}
    return [run.label for run in record.runs if run.label in present]


def shown_at_first(record: Record) -> list[str]:
    """The runs whose errors the table has before its reader chooses: those that do not agree, then the first of the rest."""
    present = labels(record)
    wrong = {run.label for run in record.runs if verdicts.verdict_of(run) != verdicts.AGREES}
    chosen = sorted(present, key=lambda label: label not in wrong)[:_MOST_RUNS]
    return [label for label in present if label in chosen]


def columns(record: Record) -> dict[str, Any]:
    """Every row: texts as numbers of a list in which each stands once, as names repeat; errors of each run with three digits."""
    places: dict[str, int] = {}

    def coded(text: str) -> int:
        return places.setdefault(visible(text), len(places))

    texts = [[coded(text) for text in _texts(node)] for node in record.nodes]
    errors = [
        [_number(getattr(node.runs.get(label, _NO_ERRORS), kind)) for node in record.nodes]
        for label in labels(record)
        for kind in ("error", "own_error")
    ]
    return {"texts": [list(column) for column in zip(*texts, strict=True)], "list": list(places), "errors": errors}


def static_rows(record: Record) -> list[list[str]]:
    """The first rows as texts: the number, the texts, both errors of each run."""
    shown = labels(record)
    return [
        [str(n), *_texts(node), *(_text(value) for label in shown for value in _errors(node, label))]
        for n, node in enumerate(record.nodes[:STATIC_ROWS], 1)
    ]


def row_of(record: Record, first: FirstDifference) -> int:
    """The row of the node where a run's difference begins; -1 where the table does not have it."""
    names = (first.node, f"{first.node}:0")
    return next((n for n, node in enumerate(record.nodes) if node.name in names), -1)


def _texts(node: Node) -> tuple[str, str, str]:
    return node.name, node.op, place(node.file, node.line)


def _errors(node: Node, label: str) -> tuple[float | None, float | None]:
    found = node.runs.get(label, _NO_ERRORS)
    return found.error, found.own_error


def _text(value: float | None) -> str:
    number = _number(value)
    return "-" if number is None else f"{number:g}" if isinstance(number, float) else number


def _number(value: float | None) -> float | str | None:
    """Three digits; what is no finite number as text, as JSON has none."""
    if value is None:
        return None
    return (
        float(f"{value:.3g}") if math.isfinite(value) else "NaN" if math.isnan(value) else str(value).replace("inf", "Infinity")
    )
