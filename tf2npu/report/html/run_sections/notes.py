"""Sentences of the run log: about precision, tuning, functions of eager code, and options."""

from __future__ import annotations

from collections.abc import Iterable

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Section
from tf2npu.report.runs import run_texts
from tf2npu.report.runs.document import RunDocument


def precision(view: View, run: RunDocument) -> Section | None:
    return _lines(view, "precision", "Precision", run.get("precision", ()))


def tuning(view: View, run: RunDocument) -> Section | None:
    return _lines(view, "tuning", "Tuning of operators", run.get("tuning", ()))


def functions(view: View, run: RunDocument) -> Section | None:
    return _lines(view, "functions", "Functions of eager code", run_texts.of_functions(run))


def options(view: View, run: RunDocument) -> Section | None:
    told = (f"{option['option']}: {view.texts.text(option['effect'])}" for option in run["options_without_effect"])
    return _lines(view, "options", "Options without effect", told)


def _lines(view: View, name: str, title: str, lines: Iterable[str]) -> Section | None:
    shown = [view.texts.text(line) for line in lines]
    return Section("notes", view.texts.text(title), {"lines": shown, "id": name}) if shown else None
