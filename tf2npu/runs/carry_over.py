"""Runs and the check that a conversion keeps: those of the report that was there, marked where files have changed since."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from tf2npu.config import Config
from tf2npu.report import manifest
from tf2npu.report.errors import NotAReport
from tf2npu.report.formats import as_json
from tf2npu.report.model.report import Report
from tf2npu.report.runs.check_texts import CheckDocument
from tf2npu.report.runs.document import RunDocument, of_this_version
from tf2npu.runs.limit_findings import NO_SETTINGS, renew
from tf2npu.runs.stale_files import changed

_FILE = "report.json"


def keep_runs(report: Report, folder: Path, root: Path, config: Config = NO_SETTINGS) -> None:
    """Give a report the runs and the check that the one in a folder holds, when it is ours, and the findings of these runs.

    root: the folder, or the single file, that the runs have run: what a conversion has written, or SRC.
    """
    if _FILE not in manifest.load(folder).names:
        return  # a tree may bring along any file of this name
    try:
        earlier = as_json.read(folder / _FILE)
    except (OSError, NotAReport):
        return
    paths = {file.path for file in report.files}
    runs = [of_this_version(run) for run in earlier.runs]
    of_this_project = [run for run in runs if not run.get("files") or paths & set(run["files"])]
    place = os.path.realpath(root if root.is_dir() else root.parent)
    set_runs(report, of_this_project, place)
    renew(report, config, place)
    if earlier.check is not None:
        report.check = _kept_check(earlier.check, report)


def sources_digest(report: Report) -> str:
    """Digest of all sources that a report shows, by which a check knows whether they are still those that it compared."""
    digest = hashlib.sha256()
    for file in report.files:
        if file.source is not None:
            digest.update(f"{file.path}\0{file.source}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:32]


def _kept_check(check: CheckDocument, report: Report) -> CheckDocument:
    unmarked = {key: value for key, value in check.items() if key != "is_stale"}
    is_stale = check.get("sources", "") != sources_digest(report)
    return {**unmarked, "is_stale": True} if is_stale else unmarked


def set_runs(report: Report, runs: list[RunDocument], root: str) -> None:
    """Give a report its runs, the last one first, each with the files that are no longer as it ran them."""
    marked = [_marked(run, root) for run in runs]
    report.run, report.earlier_runs = (marked[0], marked[1:]) if marked else (None, [])


def _marked(run: RunDocument, root: str) -> RunDocument:
    unmarked = {key: value for key, value in run.items() if key != "changed_files"}
    files = changed(run.get("files", {}), root) if root else []
    return {**unmarked, "changed_files": files} if files else unmarked
