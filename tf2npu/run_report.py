"""`tf2npu run --report DIR`: what a run did goes into the migration report that lies there."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

from tf2npu.files.lock import Busy
from tf2npu.kept_runs import set_runs
from tf2npu.project.walk import REPORT_FOLDER
from tf2npu.report import as_json, folder
from tf2npu.report.model import Report
from tf2npu.report.run_document import RunDocument, checked, of_this_version
from tf2npu.report.visible import visible
from tf2npu.run_failure import Failure, Place, finding_at
from tf2npu.run_files import digests, loaded, root_of

_FILES = {
    "html": "index.html", "sarif": "report.sarif", "text": "report.txt", "gitlab": "gl-code-quality-report.json",
    "junit": "junit.xml", "md": "report.md", "csv": "findings.csv", "xlsx": "report.xlsx",
}  # fmt: skip


def why_not(place: Path) -> str:
    """Why a run or a check cannot go into the report of a folder; empty when it can."""
    try:
        load(place)
    except OSError as error:
        if (place / "report.json").exists():
            return f"--report {place}: report.json cannot be read: {error.strerror or error}"
        inner = place / REPORT_FOLDER
        if (inner / "report.json").is_file():
            return f"--report {place}: there is no report.json; there is one in {inner}"
        return f"--report {place}: there is no report.json; `tf2npu convert SRC OUT --report {place}` writes one"
    except as_json.NotAReport as error:
        return f"--report {place}: report.json cannot be read: {error}"
    return ""


def load(place: Path) -> Report:
    """The report in a folder.  Raises: OSError; NotAReport."""
    return as_json.read(place / "report.json")


def short(line: str) -> str:
    """A place without folders of this computer, which a report does not name."""
    relative = os.path.relpath(line) if line else ""
    return os.path.basename(line) if relative.startswith(os.pardir) else relative


def merge(place: Path, script: str, exit_code: int, failure: Failure | None = None) -> None:
    """Put what this process ran into every format of the report in a folder, in the place of an earlier run of the script."""
    hooks = sys.modules.get("npu_bridge._session_hooks")
    if hooks is None:
        return
    try:
        _merge(place, script, exit_code, failure, hooks)
    except (OSError, Busy, as_json.NotAReport) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        print(f"tf2npu run: the run cannot be put into the report in {place}: {reason}", file=sys.stderr)


def _merge(place: Path, script: str, exit_code: int, failure: Failure | None, hooks: ModuleType) -> None:
    report = load(place)
    document = hooks.run_document()
    for kind in ("sessions_left_open", "sessions_on_tensorflow"):
        document[kind] = [short(line) for line in document[kind]]
    for change in document["shape_changes"]:
        change["places"] = [short(line) for line in change["places"]]
    files, paths = loaded([*sys.modules.values()]), {file.path for file in report.files}
    root = root_of(files, paths, getattr(sys.modules.get("__main__"), "__file__", None) or "")
    if failure is not None:
        document["failure"] = _failure(report, failure, root)
    run = checked({"script": script, "exit_code": exit_code, **document, "files": digests(files, paths, root)})
    set_runs(report, [run, *(of_this_version(other) for other in report.runs if other["script"] != script)], root)
    print(f"tf2npu run: the run is in {visible(str(write_again(report, place)))}", file=sys.stderr)


def _failure(report: Report, failure: Failure, root: str) -> RunDocument:
    """What report.json holds of a failure."""
    found = finding_at(report, root, [failure.node_place, failure.place]) if root else None
    return {
        "type": failure.type, "message": failure.message, "place": _line(failure.place), "node": failure.node,
        "op": failure.op, "node_place": _line(failure.node_place),
        "finding": {"rule": found[1].rule, "path": found[0].path, "line": found[1].span.line} if found is not None else None,
    }  # fmt: skip


def _line(place: Place | None) -> str:
    return short(f"{place[0]}:{place[1]}") if place is not None else ""


def write_again(report: Report, place: Path) -> Path:
    """Write a report in every format that its folder has.  Returns: the file to open.  Raises: OSError; Busy."""
    formats = [name for name, file in _FILES.items() if (place / file).is_file()]
    if "xlsx" in formats:
        from tf2npu.report import as_xlsx  # brings the rules with it

        if not as_xlsx.is_possible():
            formats.remove("xlsx")
            print(
                f"tf2npu: {_FILES['xlsx']} stays as it was, since openpyxl is not installed: {as_xlsx.INSTALL}", file=sys.stderr
            )
    folder.write(report, place, [*formats, "json"], keep=True, force=True)  # the user named this report
    return place / ("index.html" if "html" in formats else "report.json")
