"""A prediction, a profile or a comparison as a web page that needs nothing but itself.

It reads without scripts, from a file:// address; every text of the user's is escaped, and the page forbids itself any network
access and any script but its own. What its script draws and searches stands in it as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment

from npu_formats.documents.prediction import SHARES, ChipStep, Document, Task
from npu_formats.escape import visible
from tf2npu.prediction import charts, figures
from tf2npu.prediction.as_text import SHARE_NAMES, advice_lines, headline, limit, loop, rate_of, scaling_head, summary, time_of
from tf2npu.prediction.comparison import Comparison
from tf2npu.prediction.operators import by_type, type_of
from tf2npu.prediction.texts import Texts
from tf2npu.report.html.code_table import seen, told
from tf2npu.report.html.standalone import as_data, standalone_environment

_FILES = Path(__file__).parent / "htmlfiles"
FIRST_PAGE, PROFILE_PAGE, COMPARISON_PAGE = "prediction.html", "profile.html", "comparison.html"
MOST_TASKS = 20_000
"""Tasks that a page holds for its script: a page of 4 MB, which a browser opens in a second. A step of BERT-large has 9,000."""
MOST_ROWS = 100
"""Rows of a table without a script and before "Show more": what a reader scrolls through, and few enough to tab through."""
MARKS = {"cube": "cube", "vector": "vector", "AI CPU": "ai_cpu", "HCCL": "hccl", "copy": "copy"}
"""The class of the style sheet for what each engine does."""
MOST_TYPES = 60
"""Types of operators that are drawn as bars; no training graph of ours has more than 70."""
_MAY_BE_EMPTY = range(5, 12)
"""Columns of the table of operators that are not shown where no row has a value: a profile knows no work, sources neither."""
SCRIPT_TEXTS = (
    "{} of {} shown", "{} to {} of {}", "{} tasks, {} in all", "no task is chosen", "Show more", "stream {}",
    "task {} of {}", "{} further streams are not drawn: {} lanes fit",
)  # fmt: skip
"""Texts that the page's script writes, as templates of the catalogue."""


def pages(document: Document, t: Texts, *, home: str = "") -> Iterator[tuple[str, str]]:
    """(name, HTML text) of a page for each chip; the first is FIRST_PAGE, of a profile PROFILE_PAGE.

    home: of the report beside it, "" for none.
    """
    names = page_names(document)
    for name, step in zip(names, document.steps, strict=True):
        others = [(other, names[n], other is step) for n, other in enumerate(document.steps)]
        yield name, _environment(t).get_template("prediction.html").render(_of_step(step, document, others, t), home=home)


def comparison_page(found: Comparison, t: Texts, *, home: str = "") -> tuple[str, str]:
    """(name, HTML text) of the page of a comparison.  home: as of `pages`."""
    rows = [_comparison_cells(row) for row in found.rows]
    data = {"rows": rows, "texts": _script_texts(t), "most": MOST_ROWS}
    context = {"found": found, "rows": rows[:MOST_ROWS], "data": as_data(data), "title": t("Comparison by type of operator")}
    return COMPARISON_PAGE, _environment(t).get_template("comparison.html").render(context, home=home)


def page_names(document: Document) -> list[str]:
    """A file name for each chip, harmless whatever the chip is called; a profile has names of its own beside a prediction."""
    first = PROFILE_PAGE if document.origin == "profile" else FIRST_PAGE
    safe = [re.sub(r"[^A-Za-z0-9]+", "", step.soc or "")[:40] for step in document.steps]
    return [first, *(f"{Path(first).stem}-{n}-{name or 'chip'}.html" for n, name in enumerate(safe[1:], 2))]


@lru_cache(maxsize=4)
def _environment(t: Texts) -> Environment:
    environment = standalone_environment("prediction", (_FILES,))
    environment.filters |= {"seen": seen, "told": told, "plain": visible, "mark": _mark}
    environment.globals |= {"t": t, "figures": figures, "charts": charts, "time_of": time_of, "rate_of": rate_of}
    return environment


def _of_step(step: ChipStep, document: Document, others: list[tuple[ChipStep, str, bool]], t: Texts) -> dict[str, Any]:
    held = charts.longest(step.tasks, MOST_TASKS)
    rows = sorted(map(_task_cells, held), key=lambda row: -row[1])
    types, roofline = by_type(step.tasks), charts.roofline(step)
    total = sum(group.us for group in types) or 1.0
    return {
        "step": step,
        "title": headline(step, document, t),
        "sentences": list(summary(step, document, t)),
        "others": others,
        "parts": [(t(SHARE_NAMES[n]), n, share, left, wide) for n, share, left, wide in charts.parts(step.shares, SHARES)],
        "advice": [(t.title(item), item.saves_ms, list(advice_lines(item, t))) for item in step.advice],
        "types": [(type_of(g.first), g.first.engine, g.n_tasks, g.us, g.us / total) for g in types[:MOST_TYPES]],
        "n_types_left_out": max(len(types) - MOST_TYPES, 0),
        "pipes": charts.pipes(step.tasks),
        "core_share": charts.core_share(step.shares),
        "roofline": roofline,
        "roofline_marks": len({(x, y) for x, y, _ in roofline.points}) if roofline else 0,
        "memory": charts.memory(step),
        "alternatives_have_memory": any(other.memory_peak_bytes is not None for other in step.alternatives),
        "alternatives": [(other, loop(other.is_sunk, t)) for other in step.alternatives],
        "scaling": [(one, limit(one.limit, t)) for one in step.scaling],
        "scaling_head": scaling_head(step, t),
        "notes": [t.note(note) for note in step.notes],
        "rows": rows[:MOST_ROWS],
        "empty_columns": [n for n in _MAY_BE_EMPTY if not any(row[n] for row in rows)],
        "n_tasks_left_out": len(step.tasks) - len(held),
        "data": as_data(_script_data(step, rows, t)),
    }


def _script_data(step: ChipStep, rows: list[list[Any]], t: Texts) -> dict[str, Any]:
    end = max([(step.step_ms or 0.0) * 1000, *(task.end_us for task in step.tasks)], default=0.0)
    return {"rows": rows, "end_us": end, "texts": _script_texts(t), "most": MOST_ROWS, "marks": MARKS}


def _script_texts(t: Texts) -> dict[str, str]:
    return {text: t(text) for text in SCRIPT_TEXTS}


def _task_cells(task: Task) -> list[Any]:
    """A row of the table: its cells in the order of the table's columns, then the stream."""
    shapes = [
        " ".join("x".join(map(str, shape)) or "scalar" for shape in some) for some in (task.shapes.inputs, task.shapes.outputs)
    ]
    return [
        visible(task.name), round(task.duration_us, 2), round(task.start_us, 2), visible(task.op_type), visible(task.engine),
        visible(task.bound), visible(task.source), " → ".join(filter(None, shapes)), _kinds(task),
        task.n_blocks, _millions(task.flops), _millions(task.hbm_bytes), task.stream,
    ]  # fmt: skip


def _kinds(task: Task) -> str:
    """Element types and formats of the inputs, then of the outputs; of equal ones in a row their number and one of them."""
    words = [
        *zip(task.dtypes.inputs, task.formats.inputs, strict=False),
        *zip(task.dtypes.outputs, task.formats.outputs, strict=False),
    ]
    counted = [(len(list(equal)), f"{dtype}:{form}") for (dtype, form), equal in groupby(words)]
    return visible(", ".join(kind if n == 1 else f"{n} x {kind}" for n, kind in counted))


def _mark(engine: str) -> str:
    """The class of what is drawn for a task."""
    return MARKS.get(engine, "other")


def _millions(amount: float | None) -> float | None:
    return None if amount is None else round(amount / 1e6, 3)


def _comparison_cells(row: Any) -> list[Any]:
    return [
        visible(row.op_type), round(row.before_us, 2), round(row.after_us, 2), round(row.after_us - row.before_us, 2),
        row.n_before, row.n_after,
    ]  # fmt: skip
