"""`tf2npu run --report DIR`: what a run did goes into the migration report that lies there."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from npu_formats.files.lock import Busy
from tf2npu.config import Config, ConfigError, load_config
from tf2npu.project.walk import REPORT_FOLDER
from tf2npu.report import manifest, writer
from tf2npu.report.errors import NotAReport
from tf2npu.report.formats import as_json
from tf2npu.report.model.report import Report
from tf2npu.report.runs.document import RunDocument, checked, of_this_version
from tf2npu.report.runs.record import RunRecord
from tf2npu.runs.carry_over import set_runs
from tf2npu.runs.failure import worst_around
from tf2npu.runs.limit_findings import NO_SETTINGS, renew, rule_of_failure
from tf2npu.runs.source_map import Placement, placed

_FILES = {
    "html": "index.html", "sarif": "report.sarif", "text": "report.txt", "gitlab": "gl-code-quality-report.json",
    "junit": "junit.xml", "md": "report.md", "csv": "findings.csv", "xlsx": "report.xlsx",
}  # fmt: skip


def is_file(place: Path) -> bool:
    """Whether --report names a file run.json in the place of the folder of a report."""
    return place.suffix == ".json" and not place.is_dir()


def why_not_run(place: Path) -> str:
    """The reason that a run can go neither into the report of a folder nor into a file; empty when it can."""
    if not is_file(place):
        return why_not(place)
    if not place.parent.is_dir():
        return f"--report {place}: there is no folder {place.parent}"
    if place.name == "report.json":
        return f"--report {place}: name the folder {place.parent} to put the run into its report"
    return ""


def why_not(place: Path) -> str:
    """The reason that a run or a check cannot go into the report of a folder; empty when it can."""
    try:
        load(place)
    except OSError as error:
        if (place / "report.json").exists():
            return f"--report {place}: report.json cannot be read: {error.strerror or error}"
        inner = place / REPORT_FOLDER
        if (inner / "report.json").is_file():
            return f"--report {place}: there is no report.json; there is one in {inner}"
        return f"--report {place}: there is no report.json; `tf2npu convert SRC OUT --report {place}` writes one"
    except NotAReport as error:
        return f"--report {place}: report.json cannot be read: {error}"
    return ""


def load(place: Path) -> Report:
    """The report in a folder, in the language in which it was written there.  Raises: OSError; NotAReport."""
    report, written = as_json.read(place / "report.json"), manifest.load(place)
    report.language, report.prefix, report.paths = written.language, written.prefix, written.paths
    return report


def merge(place: Path, made: RunRecord, root: str = "") -> Path:
    """Put a run into every format of the report in a folder, in the place of an earlier run of the script.

    root: folder of the files that were run, "" where it is not known.  Returns: the file to open.
    Raises: OSError; Busy; NotAReport.
    """
    report = load(place)
    put(report, made, root, settings_near(Path(root) if root else place))
    return write_again(report, place)


def link_pages(place: Path) -> None:
    """Let the report in a folder, if there is one, lead to the pages that were put beside it; a line says where it cannot."""
    if not (place / "report.json").is_file() or not (place / _FILES["html"]).is_file():
        return
    try:
        write_again(load(place), place)
    except (OSError, Busy, NotAReport) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        print(f"tf2npu: the report in {place} does not lead to the new page: {reason}", file=sys.stderr)


def settings_near(folder: Path) -> Config:
    """The settings for findings of runs: those of the project in a folder; where they cannot be read a line says so."""
    try:
        return load_config(folder)
    except ConfigError as error:
        print(f"tf2npu: the findings of the run are made without the project's settings: {error}", file=sys.stderr)
        return Config()


def put(report: Report, made: RunRecord, root: str = "", config: Config = NO_SETTINGS) -> None:
    """Give a report a run, and what it shows as findings.  Raises: NotAReport."""
    files = made["run"].get("files", {})
    placement = Placement(report, "" if root else folder_of(files, report), files)
    run = checked({**made["run"], **placed(made["evidence"], placement)})
    if run.get("failure") is not None:
        run["failure"] = {**run["failure"], "finding": _failed_finding(made["evidence"]["failed_at"], placement, run)}
    run["files"] = {placement.folder + path: digest for path, digest in files.items()}
    earlier = [of_this_version(other) for other in report.runs if other["script"] != run["script"]]
    set_runs(report, [run, *earlier], root)
    renew(report, config, root)


def folder_of(files: Iterable[str], report: Report) -> str:
    """The folder of a report's files below which most of a run's files lie, with a slash at the end; "" for the root."""
    paths = [file.path for file in report.files]
    found = Counter(path[: -len(file)] for file in files for path in paths if path == file or path.endswith(f"/{file}"))
    return min(found, key=lambda folder: (-found[folder], len(folder), folder)) if found else ""


def _failed_finding(places: Iterable[str], placement: Placement, run: RunDocument) -> RunDocument | None:
    """The finding on the first of these lines that has one, or will have one as the device ended the run there."""
    rule = rule_of_failure(run)
    for place in places:
        at, file = placement.at(place), placement.file(place.rpartition(":")[0])
        if rule and at is not None:
            return {"rule": rule, **at}
        found = worst_around(file, at["line"]) if file is not None and at is not None else None
        if file is not None and found is not None:
            return {"rule": found.rule, "path": file.path, "line": found.span.line}
    return None


def write_again(report: Report, place: Path) -> Path:
    """Write a report in every format that its folder has.  Returns: the file to open.  Raises: OSError; Busy."""
    formats = [name for name, file in _FILES.items() if (place / file).is_file()]
    if "xlsx" in formats:
        from tf2npu.report.formats import as_xlsx  # brings the rules with it

        if not as_xlsx.is_possible():
            formats.remove("xlsx")
            print(
                f"tf2npu: {_FILES['xlsx']} stays as it was, since openpyxl is not installed: {as_xlsx.INSTALL}", file=sys.stderr
            )
    writer.write(report, place, [*formats, "json"], keep=True, force=True)  # the user named this report
    return place / ("index.html" if "html" in formats else "report.json")
