"""Build the report from what the converter returned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tf2npu.findings import EntryScript, FileResult
from tf2npu.report.model.apis import add_up
from tf2npu.report.model.changes import cell_lines, changes_of
from tf2npu.report.model.report import Distribution, FileReport, Report, finding_order
from tf2npu.scanner.notebooks.notebook_path import is_notebook


def build(
    results: Iterable[FileResult],
    *,
    command: str = "convert",
    mode: str = "none",
    distributions: Iterable[Distribution] = (),
    left_out: Iterable[str] = (),
    entries: Iterable[EntryScript] = (),
    imports: Mapping[str, tuple[str, ...]] | None = None,
) -> Report:
    """The report on `results`, files by path and findings by place."""
    files, uses = [], {}
    for result in results:  # one at a time: of a large project only what the report keeps may stay
        files.append(file_report(result, (imports or {}).get(result.path, ())))
        uses[result.path] = result.apis
    files.sort(key=lambda file: file.path)
    return Report(files, command, mode, tuple(distributions), tuple(left_out), apis=add_up(uses), entries=tuple(entries))


def file_report(result: FileResult, imports: tuple[str, ...] = ()) -> FileReport:
    """The part of a result that the report keeps: the findings in order, and the text where there is something to show in it."""
    report = FileReport(result.path, result.status, sorted(result.findings, key=finding_order))
    report.references = sum(use.count for use in result.apis)
    report.lines, report.imports = result.lines, imports
    if result.before and (result.findings or result.edits):
        report.source, report.changes = changes_of(result)
        if is_notebook(result.path):
            report.cell_lines = cell_lines(result.before)
    return report
