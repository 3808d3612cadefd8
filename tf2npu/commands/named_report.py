"""The report that a command line names."""

from __future__ import annotations

from pathlib import Path

from tf2npu.project.walk import REPORT_FOLDER
from tf2npu.refused_request import refusing
from tf2npu.report.errors import NotAReport
from tf2npu.report.formats import as_json
from tf2npu.report.model.report import Report

_FILE = "report.json"


def file_of(named: Path) -> Path:
    """The report.json that is meant: of a folder the one in it, or in the report's folder below it."""
    if not named.is_dir():
        return named
    inner = named / REPORT_FOLDER / _FILE
    return inner if inner.is_file() and not (named / _FILE).is_file() else named / _FILE


def named_report(named: Path) -> Report:
    """The report in a file or a folder.  Raises: RefusedRequest where there is none that this version reads."""
    file = file_of(named)
    with refusing(str(file), NotAReport):
        return as_json.read(file)
