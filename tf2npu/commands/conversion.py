"""The conversion that `convert` and `scan` ask for: its settings, the conversion itself, and the report on it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click

from tf2npu.commands.convert_summary import QUIET
from tf2npu.config import Config, ConfigError, load_config
from tf2npu.findings import FileResult, Seen
from tf2npu.project.conversion import Conversion, convert_project
from tf2npu.project.progress import Bar
from tf2npu.project.request import Again, Request, UsageProblem
from tf2npu.project.workers import default_jobs
from tf2npu.refused_request import RefusedRequest
from tf2npu.report.formats import rule_list
from tf2npu.report.languages.language import counted
from tf2npu.report.model.build import build
from tf2npu.report.model.report import Distribution, Report
from tf2npu.rules import plugin_problems, plugins

STDIN = Path("-")
"""SRC that stands for a source on stdin."""


def conversion_request(
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
    config, jobs = settings_of(src, **options), jobs or default_jobs()
    return Request(src, config, out, jobs, data, force, use_cache=not no_cache, in_place=in_place, python2=python2, revise=revise)


def settings_of(
    src: Path,
    *,
    distributed,
    main,
    select,
    ignore,
    exclude: tuple[str, ...] = (),
    no_gitignore: bool = False,
    unsafe_fixes: bool = False,
    dialect: str | None = None,
    framework: str | None = None,
    **_: object,
) -> Config:
    start = src if src.is_dir() else src.absolute().parent
    unsafe = True if unsafe_fixes else None  # not given on the command line: what pyproject.toml says
    try:
        config = load_config(
            start, distributed=distributed, main=main, select=select, ignore=ignore, unsafe_fixes=unsafe, dialect=dialect,
            framework=framework,
        )  # fmt: skip
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


def converted(request: Request, volume: str) -> Conversion:
    with Bar(sys.stderr) as bar:
        try:
            return convert_project(request, bar.show if volume != QUIET else _show_nothing)
        except UsageProblem as problem:
            raise RefusedRequest(str(problem)) from None


def _show_nothing(what: str, done: int, total: int) -> None:
    """Show nothing in the place of a bar."""


def report_on(done: Conversion, command: str, src: Path, language: str) -> Report:
    """The report on what was done, which holds the results from then on: their texts are not needed twice."""
    results = done.results
    report = build(
        (results.pop() for _ in range(len(results))),
        command=command,
        mode=done.config.distributed,
        distributions=distributions(done.distribution),
        left_out=done.left_out,
        entries=done.entries,
        imports=done.imports,
    )
    report.effort = done.config.effort
    report.prefix, report.language = _place_in_repository(src), language
    return report


def _place_in_repository(src: Path) -> str:
    """The prefix that code hosts need before a path of the report: SRC as seen from here, the top of the checkout in a CI job."""
    folder = os.path.relpath(src if src.is_dir() else src.absolute().parent)
    inside = folder != "." and folder.split(os.sep)[0] != ".."
    return f"{Path(folder).as_posix()}/" if inside else ""


def distributions(found: dict[str, tuple[Seen, ...]]) -> list[Distribution]:
    return [Distribution(kind, tuple(f"{seen.path}:{seen.line}" for seen in places)) for kind, places in found.items()]


def finished(done: Conversion, code: int) -> int:
    """The exit code, after saying where the details of our own defects are."""
    if done.crashes:
        from tf2npu import crash_log

        log_file = crash_log.store("\n".join(done.crashes))
        click.echo(f"tf2npu: internal error in {counted(len(done.crashes), 'file')}; details in {log_file}", err=True)
    return code
