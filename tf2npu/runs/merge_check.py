"""`tf2npu check --report DIR`: what a check found goes into the migration report that lies there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from npu_formats.escape import visible
from npu_formats.files.lock import Busy
from tf2npu.accuracy_check.document import Document, ModeEntry
from tf2npu.accuracy_check.sentences import place as place_of
from tf2npu.report.errors import NotAReport
from tf2npu.runs.carry_over import sources_digest
from tf2npu.runs.merge import load, write_again
from tf2npu.runs.write import short


def merge(folder: Path, found: Document) -> None:
    """Put a check into every format of the report in a folder, in the place of an earlier one; a line says where, or why not."""
    try:
        report = load(folder)
        report.check = {**section(found), "sources": sources_digest(report)}
        main_file = write_again(report, folder)
    except (OSError, Busy, NotAReport) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        print(f"tf2npu check: the verdict cannot be put into the report in {folder}: {reason}", file=sys.stderr)
        return
    print(f"tf2npu check: the verdict is in {visible(str(main_file))}", file=sys.stderr)


def section(found: Document) -> dict[str, Any]:
    """The section "check" of report.json."""
    return {"script": short(found.script), "steps": found.steps, "modes": [_mode(entry) for entry in found.modes]}


def _mode(entry: ModeEntry) -> dict[str, Any]:
    first = entry.first_difference
    return {
        "mode": entry.mode, "verdict": entry.verdict, "cause": entry.cause or "",
        "first_difference": {
            "node": first.node, "op": first.op, "place": place_of(short(first.file), first.line)
        } if first is not None else None,
        "least_change": list(entry.least_change),
    }  # fmt: skip
