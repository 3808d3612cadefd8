"""Build the report from what the converter returned."""

from __future__ import annotations

from collections.abc import Iterable

from tf2npu.findings import FileResult
from tf2npu.report.apis import add_up
from tf2npu.report.changes import cell_lines, changes_of
from tf2npu.report.model import Distribution, FileReport, Report, finding_order


def build(
    results: Iterable[FileResult],
    *,
    command: str = "convert",
    mode: str = "none",
    distributions: Iterable[Distribution] = (),
    left_out: Iterable[str] = (),
) -> Report:
    """The report on `results`, files by path and findings by place."""
    files, uses = [], {}
    for result in results:  # one at a time: of a large project only what the report keeps may stay
        files.append(file_report(result))
        uses[result.path] = result.apis
    files.sort(key=lambda file: file.path)
    return Report(files, command, mode, tuple(distributions), tuple(left_out), apis=add_up(uses))


def file_report(result: FileResult) -> FileReport:
    """What the report keeps of a result: the findings in order, and the text where there is something to show in it."""
    report = FileReport(result.path, result.status, sorted(result.findings, key=finding_order))
    if result.before and (result.findings or result.edits):
        report.source, report.changes = changes_of(result)
        if result.path.lower().endswith(".ipynb"):
            report.cell_lines = cell_lines(result.before)
    return report
