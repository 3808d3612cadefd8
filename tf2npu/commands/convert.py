"""The command `convert`: a project or a file converted, in a folder, in place, or from stdin to stdout."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from npu_formats.escape import visible
from npu_formats.files.bounded_read import MOST_SOURCE_BYTES, size_in_words
from tf2npu.commands.baseline import Baseline
from tf2npu.commands.conversion import STDIN, conversion_request, converted, distributions, finished, report_on, settings_of
from tf2npu.commands.decisions_file import DecisionsFile
from tf2npu.commands.history import keep_history
from tf2npu.commands.report_output import check_report_folder, tell
from tf2npu.commands.report_paths import command_paths
from tf2npu.findings import FileResult
from tf2npu.launch.smoke_entries import of_report
from tf2npu.project.known_facts import resolve_distributed
from tf2npu.project.request import UsageProblem
from tf2npu.project.walk import REPORT_FOLDER
from tf2npu.refused_request import RefusedRequest
from tf2npu.report.languages.language import counted
from tf2npu.report.model.build import build
from tf2npu.report.model.report import exit_code
from tf2npu.runs.carry_over import keep_runs

_MOST_NAMED = 3
"""Files that are named of those that were taken out of OUT; the others are counted."""


def convert(src: Path, out: Path | None, *, in_place: bool, diff: bool, dry_run: bool, check: bool, data: str, **options) -> int:
    """`tf2npu convert`; returns the exit code."""
    writes = not (diff or dry_run or check)
    _check_where_to_write(src, out, in_place, writes)
    smoke, smoke_seconds = options.pop("smoke", None), options.pop("smoke_seconds", 0)
    if smoke is not None and (not writes or src == STDIN):
        raise RefusedRequest("--smoke runs what was written: it does not go with --diff, --dry-run, --check or SRC -")
    if src == STDIN:
        return _convert_stdin(out, diff=diff, check=check, writes=writes, **options)
    report_folder, language, opens, volume = (options.pop(name) for name in ("report_folder", "language", "opens", "volume"))
    formats, force = options["formats"], options["force"]
    known, decided = Baseline.asked(options), DecisionsFile.asked(options)
    request = conversion_request(src, out if writes else None, data=data, in_place=in_place, revise=decided.revise, **options)
    if writes:
        report_folder = report_folder or (request.out_folder or Path()) / REPORT_FOLDER
    check_report_folder(report_folder, formats, force)
    done = converted(request, volume)
    if diff:
        _show_diffs(done.results)
    report = report_on(done, "convert" if writes else "scan", src, language)
    report.paths = command_paths(src, request.out_folder, report_folder, request.out_name, in_place=in_place)
    if report_folder is not None:
        keep_runs(report, report_folder, out or src, done.config)
    if smoke is not None:
        of_report(report, out or src, smoke, smoke_seconds, done.config)
    decided.settle(report)
    known.apply(report)
    if report_folder is not None:
        keep_history(report, report_folder, src)
    stream = sys.stderr if diff else sys.stdout
    try:
        tell(
            report, report_folder, formats, stream=stream, rerun=(src, out), volume=volume, opens=opens,
            jobs=request.jobs, force=force,
        )  # fmt: skip
    finally:  # the report may be what cannot be written
        if in_place and report.statuses()["converted"]:
            click.echo(f"`tf2npu undo {visible(shlex.quote(str(src)))}` puts the files back")
    _tell_removed(done.removed, src, out)
    return finished(done, exit_code(report, check=check))


def _tell_removed(removed: Sequence[str], src: Path, out: Path | None) -> None:
    """Name what the conversion took out of OUT, so that nothing goes away in silence."""
    if removed:
        more = f" and {len(removed) - _MOST_NAMED} more" if len(removed) > _MOST_NAMED else ""
        named = ", ".join(map(visible, removed[:_MOST_NAMED])) + more
        files = counted(len(removed), "file")
        told = f"{files} of an earlier conversion taken out of {visible(str(out))}, as {visible(str(src))} has no source for them"
        click.echo(f"tf2npu: {told}: {named}", err=True)


def _check_where_to_write(src: Path, out: Path | None, in_place: bool, writes: bool) -> None:
    if in_place and out is not None:
        raise RefusedRequest("--in-place converts SRC itself: OUT must be absent")
    if in_place and src == STDIN:
        raise RefusedRequest("--in-place needs a file or a folder: the result of SRC - goes to stdout")
    if in_place and not writes:
        raise RefusedRequest("--in-place writes, --diff, --dry-run and --check do not: choose one")
    if out is None and writes and not in_place and src != STDIN:
        raise RefusedRequest("OUT is missing: name a folder to write to, or use --in-place, --diff, --dry-run or --check")


def _convert_stdin(out: Path | None, *, diff: bool, check: bool, writes: bool, **options) -> int:
    """SRC is "-": the converted text on stdout, what is to be said on stderr."""
    if out is not None:
        raise RefusedRequest("with SRC - the result goes to stdout: OUT must be absent")
    from tf2npu.engine import convert_file
    from tf2npu.engine.convert_file import ProjectFacts
    from tf2npu.python2 import conversion as of_python2

    work = of_python2 if options["python2"] else convert_file
    decided = DecisionsFile.asked(options)
    data = sys.stdin.buffer.read(MOST_SOURCE_BYTES + 1)
    if len(data) > MOST_SOURCE_BYTES:
        raise RefusedRequest(f"stdin: more than {size_in_words(MOST_SOURCE_BYTES)}, the most that is read of a source")
    project = ProjectFacts.merge([work.gather_facts("<stdin>", data)])
    try:
        config = resolve_distributed(settings_of(Path.cwd(), **options), project.distribution_kinds)
    except UsageProblem as problem:
        raise RefusedRequest(str(problem)) from None
    result = decided.revise(
        work.convert_file("<stdin>", data, config, project),
        lambda places: work.convert_file("<stdin>", data, replace(config, unsafe_at=places), project),
    )
    report = build(
        [result],
        command="convert" if writes else "scan",
        mode=config.distributed,
        distributions=distributions(project.distribution),
    )
    report.language = options["language"]
    decided.settle(report)
    Baseline.asked(options).apply(report)
    if diff:
        _show_diffs([result])
    elif writes:
        sys.stdout.buffer.write(result.after or data)
        sys.stdout.buffer.flush()
    check_report_folder(options["report_folder"], options["formats"], options["force"])
    tell(
        report, options["report_folder"], options["formats"], stream=sys.stderr, rerun=(STDIN, None), volume=options["volume"],
        opens=options["opens"], force=options["force"],
    )  # fmt: skip
    return exit_code(report, check=check)


def _show_diffs(results: list[FileResult]) -> None:
    from tf2npu.report.formats.diff import for_the_eyes, unified

    sys.stdout.flush()
    if sys.stdout.isatty():
        has_colours = "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
        for result in results:
            sys.stdout.writelines(for_the_eyes(unified(result), has_colours))
        return
    for result in results:
        for line in unified(result):
            sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
