"""The commands `convert`, `scan`, `report` and `run`: they compose project and report, and tell the user."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import click

from npu_formats.files.bounded_read import MOST_SOURCE_BYTES, size_in_words
from npu_formats.files.directory import Directory
from npu_formats.files.lock import Busy
from tf2npu.baseline_option import Baseline
from tf2npu.command_paths import command_paths
from tf2npu.config import Config, ConfigError, load_config
from tf2npu.decisions_option import DecisionsFile
from tf2npu.findings import FileResult, Seen
from tf2npu.kept_history import keep_history
from tf2npu.kept_runs import keep_runs
from tf2npu.named_report import named_report
from tf2npu.open_report import open_report
from tf2npu.project.conversion import Conversion, convert_project, resolve_distributed
from tf2npu.project.progress import Bar
from tf2npu.project.request import Again, Request, UsageProblem
from tf2npu.project.walk import REPORT_FOLDER
from tf2npu.project.workers import default_jobs
from tf2npu.refused_request import RefusedRequest, refusing
from tf2npu.report import manifest, writer
from tf2npu.report.errors import NotAReport, TooLarge
from tf2npu.report.escape import visible
from tf2npu.report.formats import as_text, rule_list
from tf2npu.report.formats.localized import localized, localized_lines
from tf2npu.report.model.build import build
from tf2npu.report.model.report import Distribution, Report, exit_code
from tf2npu.report.runs import record as run_record
from tf2npu.rules import plugin_problems, plugins
from tf2npu.screen import QUIET, Rerun, show_all, show_path, show_summary
from tf2npu.session_options import of_text, why_unknown

STDIN = Path("-")


def convert(src: Path, out: Path | None, *, in_place: bool, diff: bool, dry_run: bool, check: bool, data: str, **options) -> int:
    """`tf2npu convert`; returns the exit code."""
    writes = not (diff or dry_run or check)
    _check_where_to_write(src, out, in_place, writes)
    if src == STDIN:
        return _convert_stdin(out, diff=diff, check=check, writes=writes, **options)
    report_folder, language, opens, volume = (options.pop(name) for name in ("report_folder", "language", "opens", "volume"))
    formats, force = options["formats"], options["force"]
    known, decided = Baseline.asked(options), DecisionsFile.asked(options)
    request = _request(src, out if writes else None, data=data, in_place=in_place, revise=decided.revise, **options)
    if writes:
        report_folder = report_folder or (request.out_folder or Path()) / REPORT_FOLDER
    _check_report_folder(report_folder, formats, force)
    done = _converted(request, volume)
    if diff:
        _show_diffs(done.results)
    report = _report(done, "convert" if writes else "scan", known, decided, src, language)
    report.paths = command_paths(src, request.out_folder, report_folder, request.out_name, in_place=in_place)
    if report_folder is not None:
        keep_runs(report, report_folder, out or src)
        keep_history(report, report_folder, src)
    stream = sys.stderr if diff else sys.stdout
    try:
        _tell(
            report, report_folder, formats, stream=stream, rerun=(src, out), volume=volume, opens=opens,
            jobs=request.jobs, force=force,
        )  # fmt: skip
    finally:  # the report may be what cannot be written
        if in_place and report.statuses()["converted"]:
            click.echo(f"`tf2npu undo {visible(shlex.quote(str(src)))}` puts the files back")
    return _finished(done, exit_code(report, check=check))


def _check_where_to_write(src: Path, out: Path | None, in_place: bool, writes: bool) -> None:
    if in_place and out is not None:
        raise RefusedRequest("--in-place converts SRC itself: OUT must be absent")
    if in_place and src == STDIN:
        raise RefusedRequest("--in-place needs a file or a folder: the result of SRC - goes to stdout")
    if in_place and not writes:
        raise RefusedRequest("--in-place writes, --diff, --dry-run and --check do not: choose one")
    if out is None and writes and not in_place and src != STDIN:
        raise RefusedRequest("OUT is missing: name a folder to write to, or use --in-place, --diff, --dry-run or --check")


def scan(src: Path, **options) -> int:
    """`tf2npu scan`; returns the exit code."""
    if src == STDIN:
        raise RefusedRequest("scan reads files and folders; for one file on stdin use `tf2npu convert - --dry-run`")
    report_folder, language, opens, volume = (options.pop(name) for name in ("report_folder", "language", "opens", "volume"))
    report_folder = report_folder or Path(REPORT_FOLDER)
    formats, force = options["formats"], options["force"]
    known, decided = Baseline.asked(options), DecisionsFile.asked(options)
    request = _request(src, None, data="link", revise=decided.revise, **options)
    _check_report_folder(report_folder, formats, force)
    done = _converted(request, volume)
    report = _report(done, "scan", known, decided, src, language)
    report.paths = command_paths(src, None, None, None, in_place=False)
    keep_runs(report, report_folder, src)
    keep_history(report, report_folder, src)
    _tell(
        report, report_folder, formats, stream=sys.stdout, rerun=(src, None), volume=volume, opens=opens,
        jobs=request.jobs, force=force,
    )  # fmt: skip
    return _finished(done, exit_code(report))


def render_again(
    file: Path, formats: list[str], target: Path | None, prefix: str, language: str, *, opens: bool = False,
    run_files: Sequence[Path] = (),
) -> int:  # fmt: skip
    """`tf2npu report`; returns the exit code.  run_files: runs that the report is to have, too."""
    report = named_report(file)
    report.prefix, report.language = f"{prefix.rstrip('/')}/" if prefix else "", language
    report.paths = manifest.load(file.parent).paths
    for run_file in run_files:
        _put_run(report, run_file)
    if target is None and formats == ["text"] and sys.stdout.isatty():
        show_all(report, report.headline, sys.stdout)
    elif target is None and formats == ["text"]:
        as_text.show(localized_lines(as_text.full(localized(report, language)), language), sys.stdout)
    elif target is None and len(formats) == 1 and writer.is_text(formats[0]):
        click.echo(writer.text_of(report, formats[0]), nl=False)
    else:
        target = target or file.parent
        force = target == file.parent and writer.is_marked(target)
        _check_report_folder(target, formats, force)
        _write_report(report, target, formats, keep=True, force=force, jobs=default_jobs())
        click.echo(f"report: {visible(str(target))}")
    if opens:
        open_report(target, formats)
    return 0


def _put_run(report: Report, file: Path) -> None:
    from tf2npu import run_report

    with refusing(f"--run {file}", NotAReport):
        run_report.put(report, run_record.read(file))


def run(
    words: list[str], *, module: str | None, pairs: tuple[str, ...], report: Path | None, profile_folder: Path | None, **options
) -> int:  # fmt: skip
    """`tf2npu run`; returns the script's exit code."""
    if module is None and not words:
        raise RefusedRequest("name a SCRIPT, or a module with -m MODULE")
    settings = {**_profiling(profile_folder), **dict(_key_and_value(pair) for pair in pairs)}
    from tf2npu.doctor import why_not_run

    reason = why_not_run()
    if reason:
        raise RefusedRequest(reason)
    script = None if module is not None else words.pop(0)
    from tf2npu.launch import run_script
    from tf2npu.ranks.launch_request import LaunchRequest

    ranks = LaunchRequest(**{field: options.pop(field) for field in LaunchRequest.__dataclass_fields__})
    return run_script(words, module=module, script=script, options=settings, report=report, ranks=ranks, **options)


def _profiling(folder: Path | None) -> dict[str, Any]:
    """The session options that write a whole profile below a folder, which is made."""
    if folder is None:
        return {}
    try:
        with Directory.given(folder, make=True):
            pass
    except OSError as error:
        raise RefusedRequest(f"--profile {folder}: {error.strerror}; name a folder that can be made") from None
    wanted = dict.fromkeys(("training_trace", "task_trace", "aicpu", "hccl"), "on")
    return {"profiling_mode": True, "profiling_options": json.dumps({"output": str(folder.absolute()), **wanted})}


def _key_and_value(pair: str) -> tuple[str, Any]:
    key, equals, value = pair.partition("=")
    if not equals or not key:
        raise RefusedRequest(f"--option {pair}: write KEY=VALUE")
    reason = why_unknown(key)
    if reason:
        raise RefusedRequest(f"--option {pair}: {reason}")
    try:
        return key, of_text(key, value)
    except ValueError as error:
        raise RefusedRequest(f"--option {pair}: {error}") from None


def _request(
    src: Path,
    out: Path | None,
    *,
    jobs: int | None,
    force: bool,
    no_cache: bool,
    data: str,
    python2: bool,
    revise: Callable[[FileResult, Again], FileResult],
    in_place: bool = False,
    **options,
) -> Request:
    config, jobs = _config(src, **options), jobs or default_jobs()
    return Request(src, config, out, jobs, data, force, use_cache=not no_cache, in_place=in_place, python2=python2, revise=revise)


def _config(
    src: Path,
    *,
    distributed,
    main,
    select,
    ignore,
    exclude: tuple[str, ...] = (),
    no_gitignore: bool = False,
    unsafe_fixes: bool = False,
    **_: object,
) -> Config:
    start = src if src.is_dir() else src.absolute().parent
    unsafe = True if unsafe_fixes else None  # not given on the command line: what pyproject.toml says
    try:
        config = load_config(start, distributed=distributed, main=main, select=select, ignore=ignore, unsafe_fixes=unsafe)
    except ConfigError as error:
        raise RefusedRequest(str(error)) from None
    config = replace(config, exclude=(*config.exclude, *exclude))
    if no_gitignore:
        config = replace(config, respect_gitignore=False)
    if config.main is not None and src.is_dir() and not os.path.isfile(src / config.main):
        raise RefusedRequest(f"--main {config.main}: no such file in {src}")
    if plugins.installed():
        plugin_problems()  # said on stderr also where every result comes from the cache
    _check_ids(config)
    return config


def _check_ids(config: Config) -> None:
    """Raises: RefusedRequest for ids that pick no rule: nothing would be looked for, or what is unwanted would stay."""
    unknown = [name for name in sorted(config.select | config.ignore) if not rule_list.entries(name, "en")]
    if unknown:
        raise RefusedRequest(f"no rule has the id {unknown[0]}; `tf2npu rules` lists them")


def _converted(request: Request, volume: str) -> Conversion:
    with Bar(sys.stderr) as bar:
        try:
            return convert_project(request, bar.show if volume != QUIET else _show_nothing)
        except UsageProblem as problem:
            raise RefusedRequest(str(problem)) from None


def _show_nothing(what: str, done: int, total: int) -> None:
    """In the place of a bar."""


def _report(done: Conversion, command: str, known: Baseline, decided: DecisionsFile, src: Path, language: str) -> Report:
    """The report on what was done, which holds the results from then on: their texts are not needed twice."""
    results = done.results
    report = build(
        (results.pop() for _ in range(len(results))),
        command=command,
        mode=done.config.distributed,
        distributions=_distributions(done.distribution),
        left_out=done.left_out,
        entries=done.entries,
        imports=done.imports,
    )
    report.effort = done.config.effort
    report.prefix, report.language = _place_in_repository(src), language
    decided.settle(report)
    known.apply(report)
    return report


def _place_in_repository(src: Path) -> str:
    """The prefix that code hosts need before a path of the report: SRC as seen from here, the top of the checkout in a CI job."""
    folder = os.path.relpath(src if src.is_dir() else src.absolute().parent)
    inside = folder != "." and folder.split(os.sep)[0] != ".."
    return f"{Path(folder).as_posix()}/" if inside else ""


def _distributions(found: dict[str, tuple[Seen, ...]]) -> list[Distribution]:
    return [Distribution(kind, tuple(f"{seen.path}:{seen.line}" for seen in places)) for kind, places in found.items()]


def _check_report_folder(report_folder: Path | None, formats: list[str], force: bool) -> None:
    if report_folder is None:
        return
    try:
        writer.check(report_folder, formats, force=force)
    except writer.ForeignFile as error:
        raise RefusedRequest(str(error)) from None


def _tell(
    report: Report, report_folder: Path | None, formats: list[str], *, stream: TextIO, rerun: Rerun, volume: str, opens: bool,
    **options: Any,
) -> None:  # fmt: skip
    """Write the report and show the short form, with the command to rerun as the user would type it; `opens`: show it."""
    show_summary(report, stream, rerun, volume)  # first: files are converted, also where the report cannot be written
    if report_folder is not None and writer.has_files(formats):
        _write_report(report, report_folder, formats, **options)
        if volume != QUIET:
            show_path(_shown_report(report_folder, formats), stream, report.language)
    if "github" in formats:
        stream.write(writer.text_of(report, "github"))
    if opens:
        open_report(report_folder, formats)


def _write_report(report: Report, target: Path, formats: list[str], **options: Any) -> None:
    try:
        writer.write(report, target, formats, **options)
    except OSError as error:
        raise RefusedRequest(f"{target}: the report cannot be written: {error.strerror or error}") from None
    except (Busy, writer.ForeignFile, TooLarge) as error:
        raise RefusedRequest(f"{error}; the report is not written") from None


def _shown_report(report_folder: Path, formats: list[str]) -> Path:
    return report_folder / "index.html" if "html" in formats else report_folder


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


def _finished(done: Conversion, code: int) -> int:
    """The exit code, after saying where the details of our own defects are."""
    if done.crashes:
        from tf2npu import crash_log

        log_file = crash_log.store("\n".join(done.crashes))
        click.echo(f"tf2npu: internal error in {len(done.crashes)} files; details in {log_file}", err=True)
    return code


def _convert_stdin(out: Path | None, *, diff: bool, check: bool, writes: bool, **options) -> int:
    """SRC is "-": the converted text on stdout, what is to be said on stderr."""
    if out is not None:
        raise RefusedRequest("with SRC - the result goes to stdout: OUT must be absent")
    from tf2npu import convert
    from tf2npu.convert import ProjectFacts
    from tf2npu.python2 import conversion as of_python2

    work = of_python2 if options["python2"] else convert
    decided = DecisionsFile.asked(options)
    data = sys.stdin.buffer.read(MOST_SOURCE_BYTES + 1)
    if len(data) > MOST_SOURCE_BYTES:
        raise RefusedRequest(f"stdin: more than {size_in_words(MOST_SOURCE_BYTES)}, the most that is read of a source")
    project = ProjectFacts.merge([work.gather_facts("<stdin>", data)])
    try:
        config = resolve_distributed(_config(Path.cwd(), **options), project.distribution_kinds)
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
        distributions=_distributions(project.distribution),
    )
    report.language = options["language"]
    decided.settle(report)
    Baseline.asked(options).apply(report)
    if diff:
        _show_diffs([result])
    elif writes:
        sys.stdout.buffer.write(result.after or data)
        sys.stdout.buffer.flush()
    _check_report_folder(options["report_folder"], options["formats"], options["force"])
    _tell(
        report, options["report_folder"], options["formats"], stream=sys.stderr, rerun=(STDIN, None), volume=options["volume"],
        opens=options["opens"], force=options["force"],
    )  # fmt: skip
    return exit_code(report, check=check)
