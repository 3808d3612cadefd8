"""The command `report`: a report that is there, in other formats or with runs put into it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from tf2npu.commands.browser import open_report
from tf2npu.commands.convert_summary import show_all
from tf2npu.commands.named_report import file_of, named_report
from tf2npu.commands.report_output import check_report_folder, write_report
from tf2npu.project.workers import default_jobs
from tf2npu.refused_request import refusing
from tf2npu.report import manifest, writer
from tf2npu.report.errors import NotAReport
from tf2npu.report.formats import as_text
from tf2npu.report.formats.localized import localized, localized_lines
from tf2npu.report.model.report import Report
from tf2npu.report.runs import record as run_record


def render_again(
    file: Path, formats: list[str], target: Path | None, prefix: str, language: str, *, opens: bool = False,
    run_files: Sequence[Path] = (),
) -> int:  # fmt: skip
    """`tf2npu report`; returns the exit code.  run_files: runs that the report is to have, too."""
    file = file_of(file)
    report = named_report(file)
    report.prefix, report.language = f"{prefix.rstrip('/')}/" if prefix else "", language
    report.paths = manifest.load(file.parent).paths
    for run_file in run_files:
        _put_run(report, run_file, file.parent)
    if target is None and formats == ["text"] and sys.stdout.isatty():
        show_all(report, report.headline, sys.stdout)
    elif target is None and formats == ["text"]:
        as_text.show(localized_lines(as_text.full(localized(report, language)), language), sys.stdout)
    elif target is None and len(formats) == 1 and writer.is_text(formats[0]):
        click.echo(writer.text_of(report, formats[0]), nl=False)
    else:
        target = target or file.parent
        force = target == file.parent and writer.is_marked(target)
        check_report_folder(target, formats, force)
        write_report(report, target, formats, keep=True, force=force, jobs=default_jobs())
        click.echo(as_text.report_line(target, language))
    if opens:
        open_report(target, formats)
    return 0


def _put_run(report: Report, file: Path, report_folder: Path) -> None:
    from tf2npu.runs import merge

    with refusing(f"--run {file}", NotAReport):
        merge.put(report, run_record.read(file), config=merge.settings_near(report_folder))
