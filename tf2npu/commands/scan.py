"""The command `scan`: the report of a conversion that writes no file."""

from __future__ import annotations

import sys
from pathlib import Path

from tf2npu.commands.baseline import Baseline
from tf2npu.commands.conversion import STDIN, conversion_request, converted, finished, report_on
from tf2npu.commands.decisions_file import DecisionsFile
from tf2npu.commands.history import keep_history
from tf2npu.commands.report_output import check_report_folder, tell
from tf2npu.commands.report_paths import command_paths
from tf2npu.project.walk import REPORT_FOLDER
from tf2npu.refused_request import RefusedRequest
from tf2npu.report.model.report import exit_code
from tf2npu.runs.carry_over import keep_runs


def scan(src: Path, **options) -> int:
    """`tf2npu scan`; returns the exit code."""
    if src == STDIN:
        raise RefusedRequest("scan reads files and folders; for one file on stdin use `tf2npu convert - --dry-run`")
    report_folder, language, opens, volume = (options.pop(name) for name in ("report_folder", "language", "opens", "volume"))
    report_folder = report_folder or Path(REPORT_FOLDER)
    formats, force = options["formats"], options["force"]
    known, decided = Baseline.asked(options), DecisionsFile.asked(options)
    request = conversion_request(src, None, data="link", revise=decided.revise, **options)
    check_report_folder(report_folder, formats, force)
    done = converted(request, volume)
    report = report_on(done, "scan", src, language)
    report.paths = command_paths(src, None, None, None, in_place=False)
    keep_runs(report, report_folder, src, done.config)
    decided.settle(report)
    known.apply(report)
    keep_history(report, report_folder, src)
    tell(
        report, report_folder, formats, stream=sys.stdout, rerun=(src, None), volume=volume, opens=opens,
        jobs=request.jobs, force=force,
    )  # fmt: skip
    return finished(done, exit_code(report))
