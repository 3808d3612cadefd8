"""The file of decisions that a command was asked to carry out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npu_formats.escape import visible
from tf2npu.findings import FileResult
from tf2npu.project.request import Again
from tf2npu.refused_request import refusing
from tf2npu.report.model.report import Report

if TYPE_CHECKING:
    from tf2npu.decisions.document import Decisions


@dataclass(frozen=True)
class DecisionsFile:
    """file, held: None without one."""

    file: Path | None = None
    held: Decisions | None = None

    @classmethod
    def asked(cls, options: dict[str, Any]) -> DecisionsFile:
        """Raises: RefusedRequest for a file that is missing or holds no decisions."""
        file = options["decisions"]
        if file is None:
            return cls()
        from tf2npu.decisions import document

        hint = "; a report exports it on its page of decisions"
        with refusing(f"--decisions {file}", document.NotDecisions, missing=hint, end="; nothing was done"):
            return cls(file, document.read(file))

    def revise(self, result: FileResult, again: Again) -> FileResult:
        """A file's result with the code that was decided on; `again` converts it with unsafe fixes."""
        if self.held is None:
            return result
        from tf2npu.decisions.revision import revised

        return revised(result, self.held, again)

    def settle(self, report: Report) -> None:
        """Mark what was accepted, and tell of decisions that fit no more."""
        if self.held is None or self.file is None:
            return
        from tf2npu.decisions.settlement import settle

        settle(report, self.held, visible(self.file.name))
