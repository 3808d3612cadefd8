"""A check as a web page that needs nothing but itself.

What the script under check can name is escaped; the page forbids itself any network access and any script but its own.
Without a script it shows the verdicts, the curves and the first nodes; the script has all nodes, and draws those in sight.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment

from npu_formats.documents.check_record import Record, Run
from npu_formats.escape import visible
from tf2npu import prediction
from tf2npu.accuracy_check import node_table, sentences, verdicts
from tf2npu.accuracy_check.change_files import names_by_label
from tf2npu.accuracy_check.curves import HEIGHT, WIDTH, picture
from tf2npu.accuracy_check.number_format import loss_text, share_text
from tf2npu.comparison.texts import Texts
from tf2npu.report.html.code_table import seen, told
from tf2npu.report.html.standalone import VIRTUAL_TABLE, as_data, standalone_environment

_FILES = Path(__file__).parent / "htmlfiles"
_SHARED = Path(prediction.__file__).parent / "htmlfiles"
_MOST_STEPS = 500
"""Steps in the table of losses; check.json has all."""
_MOST_TEXT = 20_000
"""Characters of a failure that the page shows."""
_PAGE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*(/[A-Za-z0-9_][A-Za-z0-9_-]*)*\.html")
"""A page below the folder of this one: no address of anywhere else, and no script."""
RUN_TEXTS = {
    "A": "the original on TensorFlow's CPU", "A'": "the original again, with other threads and kernels",
    "B": "the migrated script on TensorFlow's CPU: what the conversion changed",
    "C": "on the device, in the graph's types, each node on its own: kernels",
    "D": "with fusion and folding", "E": "in a precision mode: low precision", "F": "with the chip's overflow mode: saturation",
}  # fmt: skip
"""Description of each run: how it differs from the one before it."""
PYTORCH_TEXTS = {
    "A": "the original on PyTorch's CPU", "A'": "the original again, in the same way",
    "B": "the migrated script on PyTorch's CPU: what the conversion changed",
    "C": "on the device: kernels, and 16 bits where the script asks for them",
}  # fmt: skip
"""The same for a script of PyTorch."""
MINDSPORE_TEXTS = {
    "A": "the program on TensorFlow's CPU", "A'": "the program there again, in the same way",
    "C": "on the device: kernels, and 16 bits where the program asks for them",
}  # fmt: skip
"""The same for a program of MindSpore."""
_ABOUT = {"TensorFlow": RUN_TEXTS, "PyTorch": PYTORCH_TEXTS, "MindSpore": MINDSPORE_TEXTS}
SCRIPT_TEXTS = ("{} of {} nodes", "no node fits", "Sort by {}", "row {}: {}", "{}: {}")
"""Texts that the page's script writes, as templates of the catalogue."""


def page(record: Record, t: Texts, *, comparisons: Mapping[str, str] | None = None, home: str = "") -> str:
    """The page as HTML.

    comparisons: pages of `tf2npu compare` below this one's folder, by the labels of runs.  home: page of the report beside it.
    """
    wrong = [run for run in record.runs if verdicts.verdict_of(run) != verdicts.AGREES]
    links = {label: name for label, name in (comparisons or {}).items() if _PAGE_NAME.fullmatch(name)}
    heads = _heads(record, t)
    of_runs, shown = node_table.labels(record), node_table.shown_at_first(record)
    data = {**node_table.columns(record), "heads": heads, "words": {text: t(text) for text in SCRIPT_TEXTS}}
    return _environment(t).get_template("check.html").render(
        record=record, has_steps=sentences.has_steps(record), kernels=sentences.kernels(record), title=title(record, t),
        blocks=[_block(record, run, links, t) for run in wrong],
        rows=[_row(record, run, links, t) for run in record.runs], picture=picture(record.runs), steps=_steps(record),
        has_more_steps=max(len(run.loss) for run in record.runs) > _MOST_STEPS, stopped=sentences.stopped(record, t),
        has_cause=verdicts.names_causes(record), heads=heads, static=node_table.static_rows(record), data=as_data(data),
        n_text=len(node_table.TEXT_COLUMNS) + 1, home=home,
        of_runs=[(label, label in shown) for label in of_runs],
    )  # fmt: skip


def title(record: Record, t: Texts) -> str:
    """The verdict in one line."""
    for mode in verdicts.modes(record):
        run = mode.decides
        if mode.verdict == verdicts.FAILED:
            return t("Run {} failed", run.label)
        if mode.verdict == verdicts.DIFFERS:
            return t("The difference begins at {}", run.first.node) if run.first else t("Run {} differs", run.label)
    if verdicts.exit_code(record) != verdicts.EXIT_AGREES:
        return t("The check is not complete")
    is_converted = record.framework != "MindSpore"
    return t("The migrated script agrees with the original") if is_converted else t("The device agrees with TensorFlow's CPU")


def _block(record: Record, run: Run, links: Mapping[str, str], t: Texts) -> dict[str, Any]:
    """The values that the page shows of a run that does not agree."""
    first = run.first
    change = run.least_change if verdicts.names_causes(record) else None
    return {
        "run": run, "name": sentences.label(record, [run], t), "verdict": sentences.verdict(record, run, t), "first": first,
        "operator": sentences.operator(first.op, first.dtype) if first else "",
        "place": sentences.place(first.file, first.line) if first else "",
        "what": [sentences.what(first, t), *sentences.inputs(first, run, t)[:1]] if first else [],
        "errors": [share_text(value) for value in (first.error, first.own_error, first.input_error)] if first else [],
        "advice": sentences.advice(record, run, t),
        "change": sentences.change_head(change, ", ".join(change.names), t) if change else "",
        "result": sentences.change_result(change, t) if change else "", "no_change": sentences.no_change(record, run, t),
        "files": names_by_label(record).get(run.label, []), "comparison": links.get(run.label, ""),
        "row": node_table.row_of(record, first) if first else -1, "failure": run.failure,
        "failure_text": run.failure.text[:_MOST_TEXT] if run.failure else "",
        "failure_place": sentences.place(run.failure.file, run.failure.line) if run.failure else "",
    }  # fmt: skip


def _row(record: Record, run: Run, links: Mapping[str, str], t: Texts) -> dict[str, Any]:
    """A run as a row of the table."""
    kind = verdicts.verdict_of(run)
    about = _ABOUT[record.framework]
    is_yardstick = run.run == "A" and run.failure is None
    return {
        "name": sentences.label(record, [run], t), "about": t(about[run.run]), "kind": kind.replace(" ", "-"),
        "loss": loss_text(run.loss[-1]) if run.loss else "-",
        "figures": [share_text(value) for value in (run.loss_error, run.tolerance, run.update_error, run.update_tolerance)],
        "verdict": "" if is_yardstick else sentences.verdict(record, run, t), "first": run.first,
        "row": node_table.row_of(record, run.first) if run.first else -1, "comparison": links.get(run.label, ""),
    }  # fmt: skip


def _steps(record: Record) -> list[list[str]]:
    """The losses of each step, by runs."""
    steps = min(_MOST_STEPS, max(len(run.loss) for run in record.runs))
    return [[loss_text(run.loss[n]) if n < len(run.loss) else "-" for run in record.runs] for n in range(steps)]


def _heads(record: Record, t: Texts) -> list[str]:
    """Heads of the table of nodes."""
    errors = [head for label in node_table.labels(record) for head in (t("{}: error", label), t("{}: own error", label))]
    return [t("No."), *map(t, node_table.TEXT_COLUMNS), *errors]


@lru_cache(maxsize=4)
def _environment(t: Texts) -> Environment:
    environment = standalone_environment("check", (_FILES, _SHARED), [VIRTUAL_TABLE])
    environment.filters |= {"seen": seen, "plain": visible, "told": told, "share": share_text, "loss": loss_text}
    environment.globals |= {"t": t, "width": WIDTH, "height": HEIGHT}
    return environment
