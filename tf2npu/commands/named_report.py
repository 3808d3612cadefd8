"""The report that a command line names."""

from __future__ import annotations

from pathlib import Path

from tf2npu.refused_request import refusing
from tf2npu.report.errors import NotAReport
from tf2npu.report.formats import as_json
from tf2npu.report.model.report import Report


def named_report(file: Path) -> Report:
    """The report in a file.  Raises: RefusedRequest where there is none that this version reads."""
    with refusing(str(file), NotAReport):
        return as_json.read(file)
