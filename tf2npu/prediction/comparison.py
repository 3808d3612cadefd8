"""Two steps beside each other: how much time each type of operator takes in either."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from npu_formats.documents.prediction import Document
from npu_formats.escape import visible
from tf2npu.prediction import figures
from tf2npu.prediction.as_text import aligned
from tf2npu.prediction.operators import by_type, type_of
from tf2npu.prediction.texts import Texts
from tf2npu.report.formats.as_text import Line

_MOST_ROWS = 30
"""Types that a terminal lists; the page and the JSON have all."""


@dataclass
class Row:
    """Time in microseconds and number of the tasks of one type, in either step."""

    op_type: str
    before_us: float = 0.0
    after_us: float = 0.0
    n_before: int = 0
    n_after: int = 0


@dataclass
class Comparison:
    """before, after: the documents.  rows: those whose time differs most first."""

    before: Document
    after: Document
    rows: list[Row]


def compare(before: Document, after: Document) -> Comparison:
    """The types of operators of the first step of either document."""
    rows: dict[str, Row] = {}
    for group in by_type(before.tasks):
        row = rows.setdefault(type_of(group.first), Row(type_of(group.first)))
        row.before_us, row.n_before = row.before_us + group.us, row.n_before + group.n_tasks
    for group in by_type(after.tasks):
        row = rows.setdefault(type_of(group.first), Row(type_of(group.first)))
        row.after_us, row.n_after = row.after_us + group.us, row.n_after + group.n_tasks
    return Comparison(before, after, sorted(rows.values(), key=lambda row: (-abs(row.after_us - row.before_us), row.op_type)))


def lines(found: Comparison, t: Texts) -> Iterator[Line]:
    """The comparison for a terminal."""
    yield Line(t("Comparison by type of operator"), "bold")
    for name, document in (("A", found.before), ("B", found.after)):
        yield Line(f"{name}: {visible(document.subject)}, {t('Step: {}', figures.ms(document.step_ms))}")
    head = (t("A"), t("B"), t("B minus A"), t("Tasks in A"), t("Tasks in B"), t("Type"))
    rows = [
        (
            figures.us(row.before_us), figures.us(row.after_us), difference(row.after_us - row.before_us), str(row.n_before),
            str(row.n_after), visible(row.op_type),
        )
        for row in found.rows[:_MOST_ROWS]
    ]  # fmt: skip
    yield from map(Line, aligned([head, *rows], n_right=5))
    if len(found.rows) > _MOST_ROWS:
        yield Line(t("{} further types: see --report or --json", len(found.rows) - _MOST_ROWS))


def difference(us: float) -> str:
    """Microseconds with their sign."""
    return f"{'-' if us < 0 else '+'}{figures.us(abs(us))}"


def as_document(found: Comparison) -> dict[str, object]:
    """The comparison for other programs."""
    sides = {name: {"subject": d.subject, "step_ms": d.step_ms} for name, d in (("a", found.before), ("b", found.after))}
    rows = [
        {
            "op_type": row.op_type, "a_us": row.before_us, "b_us": row.after_us, "a_tasks": row.n_before, "b_tasks": row.n_after,
        }
        for row in found.rows
    ]  # fmt: skip
    return {"version": found.before.version, **sides, "op_types": rows}
