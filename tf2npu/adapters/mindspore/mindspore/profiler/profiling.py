"""Profiler: accepted, as the profile is an option of the run."""

from __future__ import annotations

import sys
from typing import Any

RECORDED = ("Profiler",)
"""Names that are accepted and change nothing."""


class Profiler:
    """Accepts its settings; a line on stderr names the option that profiles."""

    def __init__(self, **kwargs: Any) -> None:
        print(
            "mindspore: Profiler writes nothing here: `tf2npu run --profile` profiles the run",
            file=sys.stderr,
        )

    def analyse(self) -> None:
        """Accepts the end of the profile."""
