"""The report that a command line names."""

from __future__ import annotations

from pathlib import Path

from tf2npu.refused_request import RefusedRequest
from tf2npu.report import as_json
from tf2npu.report.model import Report


def named_report(file: Path) -> Report:
    """The report in a file.  Raises: RefusedRequest where there is none that this version reads."""
    try:
        return as_json.read(file)
    except OSError as error:
        raise RefusedRequest(f"{file}: cannot be read: {error.strerror or error}") from None
    except as_json.NotAReport as error:
        raise RefusedRequest(f"{file}: {error}") from None
