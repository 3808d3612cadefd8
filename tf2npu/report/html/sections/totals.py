"""The totals: findings by level, files by status, references to TensorFlow."""

from __future__ import annotations

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Section
from tf2npu.report.languages.language import counted
from tf2npu.report.model.apis import numbers, sentence
from tf2npu.report.model.counts import counted_findings, n_places
from tf2npu.report.model.report import Report
from tf2npu.report.work.labels import label_of_work


def section(view: View) -> Section:
    texts, report = view.texts, view.report
    values = {
        "verdict": texts.text(verdict(report)),
        "references": texts.text(sentence(report)),
        "levels": report.levels(),
        "statuses": report.statuses(),
    }
    return Section("totals", texts.text("Totals"), values)


def verdict(report: Report) -> str:
    """The work that is left, in one sentence."""
    left = [[f for n, f in enumerate(file.findings) if n not in file.known and label_of_work(file, f)] for file in report.files]
    n_failed = sum(1 for file in report.files if file.has_failed)
    known = [f"{counted(report.n_known, 'finding')} known from the baseline"] if report.n_known else []
    if not any(left) and not n_failed:
        nothing = "Nothing is left to do in what was understood" if numbers(report)["unknown"] else "Nothing is left to do"
        return "; ".join([nothing, *known]) + "."
    n_files, found = sum(1 for of_file in left if of_file), [finding for of_file in left for finding in of_file]
    places = counted_findings(len(found), n_places(found))
    work = [f"{places} in {counted(n_files, 'file')} for a person to look at"] if n_files else []
    failed = [f"{counted(n_failed, 'file')} failed"] if n_failed else []
    return "; ".join([*failed, *work, *known]) + "."
