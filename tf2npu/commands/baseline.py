"""The baseline that a command was asked to use or to write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tf2npu.refused_request import RefusedRequest, refusing
from tf2npu.report.model import baseline
from tf2npu.report.model.report import Report


@dataclass(frozen=True)
class Baseline:
    """file: None without one.  renews: write what is found there.  known: what stands in it."""

    file: Path | None
    renews: bool
    known: set[str]

    @classmethod
    def asked(cls, options: dict[str, Any]) -> Baseline:
        """Raises: RefusedRequest for a file that is missing or no baseline."""
        file, renews = options["baseline"], options["write_baseline"]
        if file is None and renews:
            raise RefusedRequest("--write-baseline needs --baseline FILE, the file to write")
        if file is None or renews:
            return cls(file, renews, set())
        with refusing(f"--baseline {file}", baseline.NotABaseline, missing="; --write-baseline makes it"):
            return cls(file, renews, baseline.read(file))

    def apply(self, report: Report) -> None:
        """Mark what is known; with `renews` everything becomes so, and is written down."""
        if self.file is None:
            return
        if not self.renews:
            return baseline.mark_known(report, self.known)
        try:
            baseline.write(report, self.file)
            baseline.mark_known(report, baseline.read(self.file))
        except OSError as error:
            raise RefusedRequest(f"--baseline {self.file}: cannot be written: {error.strerror}") from None
