"""SummaryCollector, which gathers nothing here."""

from __future__ import annotations

import sys
from typing import Any

from mindspore.train.callback._callback import Callback

RECORDED = ("SummaryCollector",)
"""Names that are accepted and change nothing."""


class SummaryCollector(Callback):
    """Accepts what would be gathered for MindInsight; a line on stderr says that it is not."""

    def __init__(
        self, summary_dir: str, collect_freq: int = 10, collect_specified_data: Any = None, keep_default_action: bool = True,
        custom_lineage_data: Any = None, collect_tensor_freq: int | None = None, max_file_size: int | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(summary_dir, str) or not summary_dir:
            raise ValueError(f"SummaryCollector(summary_dir={summary_dir!r}): a folder")
        if not isinstance(collect_freq, int) or collect_freq < 1:
            raise ValueError(f"SummaryCollector(collect_freq={collect_freq!r}): a whole number above 0")
        print(
            f"mindspore: SummaryCollector writes nothing to {summary_dir!r} here: `tf2npu run --profile` shows the run",
            file=sys.stderr,
        )
