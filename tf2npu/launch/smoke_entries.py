"""The option --smoke of `run` and `convert`: entry scripts train for some steps on made-up data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from npu_formats.escape import visible, visible_lines
from npu_formats.files.state_folder import remove_tree_state
from npu_formats.files.temporary import temporary_folder
from tf2npu.config import ConfigError, load_config
from tf2npu.launch.notebook_script import started_for, tell_of_notebook
from tf2npu.launch.smoke_needs import SmokeResult
from tf2npu.launch.smoke_run import SmokeProject, pristine_folder, smoke_run
from tf2npu.launch.subprocess import is_for_pytorch, orderly_end, refuse_pytorch
from tf2npu.launch.temporary_conversion import adapter_of_script, project_root
from tf2npu.launch.throw_away_copy import copy_project
from tf2npu.project.conversion import convert_project
from tf2npu.project.request import Request, UsageProblem
from tf2npu.project.workers import default_jobs
from tf2npu.refused_request import RefusedRequest
from tf2npu.report.model.report import Report
from tf2npu.report.work.entry_scripts import is_ordinary
from tf2npu.report.work.smoke_runs import is_seen, reason, seen
from tf2npu.runs import merge
from tf2npu.runs.stale_files import root_of
from tf2npu.scanner.notebooks.path import is_notebook
from tf2npu.scanner.text.source import SourceError

_NOT_SEEN = 1
"""Exit code for a script that was not seen to train."""
_SHOWN_LINES = 12
"""Last lines of a script that fails that are shown."""


def run(words: Sequence[str], options: Sequence[str], steps: int, seconds: int, report: Path | None) -> int:
    """`tf2npu run --smoke`; returns the exit code.  words: the script and its arguments.  options: of `tf2npu run`."""
    from tf2npu.launch.doctor import why_not_run

    script = Path(words[0])
    _check(script)
    if reason := why_not_run() or (merge.why_not_run(report) if report is not None else ""):
        raise RefusedRequest(reason)
    root = _base(script)
    inner = os.path.relpath(os.path.realpath(script), root)
    with orderly_end(), temporary_folder() as folder:
        project = SmokeProject(pristine_folder(folder), folder, told_from=_told_from(report, script, root))
        _copy(script, root, project.pristine)
        result = _run_entry(project, inner, words[1:], options, steps, seconds)
    _tell(result)
    if report is not None and result.made is not None:
        _put(result, report, root / project.told_from)
    return 0 if _is_seen(result) else _NOT_SEEN


def _check(script: Path) -> None:
    if not script.is_file():
        raise RefusedRequest(f"{script}: no such file")
    if script.suffix not in (".py", ".ipynb"):
        raise RefusedRequest(f"{script}: a smoke run takes a Python script or a notebook")
    refuse_pytorch("run --smoke", script)


def _base(script: Path) -> Path:
    """The folder that is copied: the current one where the script is below it, else the script's project."""
    root, current = project_root(script), Path(os.path.realpath(os.curdir))
    is_home = current in (Path.home(), Path(current.anchor))
    return current if root.is_relative_to(current) and not is_home else root


def _told_from(report: Path | None, script: Path, root: Path) -> str:
    """The folder below the root in which the files of a report lie, "" for the root itself."""
    if report is None or merge.is_file(report):
        return os.path.relpath(project_root(script), root).removeprefix(".")
    paths = [file.path for file in merge.load(report).files]
    found = Path(root_of((), paths, str(script)) or root)
    return os.path.relpath(found, root).removeprefix(".") if found.is_relative_to(root) else ""


def _copy(script: Path, root: Path, place: Path) -> None:
    """Copy a project, and convert the script's part of it where it is not migrated yet."""
    copy_project(root, place)
    try:
        if adapter_of_script(script) is not None:
            return
        part = project_root(script)
        inner = place / part.relative_to(root)
        request = Request(inner, load_config(part), None, default_jobs(), in_place=True, use_cache=False)
        done = convert_project(request)
        remove_tree_state(inner)
    except (UsageProblem, ConfigError) as error:
        raise RefusedRequest(str(error)) from None
    n_converted = sum(result.status.value == "converted" for result in done.results)
    click.echo(f"tf2npu run: converted for this run: {n_converted} of the files in {visible(str(part))}", err=True)


def _run_entry(
    project: SmokeProject, entry: str, words: Sequence[str], options: Sequence[str], steps: int, seconds: float
) -> SmokeResult:  # fmt: skip
    """The smoke run of a script, or of a notebook's cells.  entry: path below the project."""
    try:
        script = started_for(project.pristine, entry)
    except (SourceError, OSError) as error:
        return SmokeResult(entry, code=1, needs=["a notebook that can be read"], last_words=f"{entry}: {error}")
    folder = os.path.dirname(entry) if is_notebook(entry) else ""  # notebooks run in their own folder
    result = smoke_run(project, script, words, options, steps, seconds, folder or ".")
    if script != entry and result.made is not None:
        result.script = entry
        notebook, cells = (os.path.relpath(path, project.told_from or ".") for path in (entry, script))
        tell_of_notebook(result.made, notebook, cells, str(project.pristine / project.told_from))
    return result


def _is_seen(result: SmokeResult) -> bool:
    return result.made is not None and is_seen(result.made["run"])


def _tell(result: SmokeResult) -> None:
    """Say what was seen, what was made up, and what is missing."""
    if _is_seen(result) and result.made is not None:
        click.echo(visible(seen(result.made["run"])))
    else:
        told = {"steps": 0, "wanted": 0, **result.state}
        click.echo(visible(f"Not seen to train: {result.script} {reason(told, result.code)}."))
        lines = result.last_words.splitlines()[-_SHOWN_LINES:]
        click.echo(visible_lines("\n".join(f"  | {line}" for line in lines)), err=True)
    for one in result.state.get("made", ()):
        click.echo(visible(f"  made up: {one['path']}: {one['content']}"))
    for need in result.needs:
        click.echo(visible(f"  needs: {need}"))


def _put(result: SmokeResult, report: Path, root: Path) -> None:
    assert result.made is not None
    if merge.is_file(report):
        from tf2npu.runs import write

        write.write(result.made, report)
    else:
        merge.merge(report, result.made, str(root))
    click.echo(f"tf2npu run: the run is in {visible(str(report))}", err=True)


def of_report(report: Report, out: Path, steps: int, seconds: int, config: Any) -> None:
    """`tf2npu convert --smoke`: run the entry scripts of a conversion, and put what they show into the report.

    out: the folder that was written.
    """
    from tf2npu.launch.doctor import why_not_run

    if reason := why_not_run():
        raise RefusedRequest(f"--smoke: {reason}")
    root = Path(os.path.realpath(out if out.is_dir() else out.parent))
    scripts = [one.path for one in report.entries if is_ordinary(one) and (one.trains or is_notebook(one.path))]
    scripts = [script for script in scripts if is_notebook(script) or not is_for_pytorch(root / script)]
    if not scripts:
        click.echo("tf2npu convert: --smoke runs nothing: the report calls no script an entry that trains", err=True)
        return
    click.echo(f"tf2npu convert: --smoke executes code of the project: {', '.join(map(visible, scripts))}", err=True)
    with orderly_end(), temporary_folder() as folder:
        project = SmokeProject(pristine_folder(folder), folder)
        copy_project(root, project.pristine)
        for script in scripts:
            result = _run_entry(project, script, (), (), steps, seconds)
            _tell(result)
            if result.made is not None:
                merge.put(report, result.made, str(root), config)
