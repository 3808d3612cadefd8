"""SummaryRecord: accepted, and nothing is written."""

from __future__ import annotations

import sys
from typing import Any

RECORDED = ("SummaryRecord",)
"""Names that are accepted and change nothing."""


class SummaryRecord:
    """Accepts what would be written for MindInsight; a line on stderr says that it is not."""

    def __init__(
        self, log_dir: str, file_prefix: str = "events", file_suffix: str = "_MS", network: Any = None,
        max_file_size: int | None = None,
    ) -> None:  # fmt: skip
        self.log_dir = log_dir
        print(f"mindspore: SummaryRecord writes nothing to {log_dir!r} here", file=sys.stderr)

    def __enter__(self) -> SummaryRecord:
        return self

    def __exit__(self, *err: Any) -> None:
        self.close()

    def set_mode(self, mode: str) -> None:
        """Accepts "train" or "eval".  Raises: ValueError for another mode."""
        if mode not in ("train", "eval"):
            raise ValueError(f'SummaryRecord.set_mode({mode!r}): "train" or "eval"')

    def add_value(self, plugin: str, name: str, value: Any) -> None:
        """Accepts a value."""

    def record(self, step: int, train_network: Any = None, plugin_filter: Any = None) -> bool:
        """Accepts the values of a step; gives True, as r1.1 does."""
        return True

    def flush(self) -> None:
        """Accepts that what is there be written."""

    close = flush
