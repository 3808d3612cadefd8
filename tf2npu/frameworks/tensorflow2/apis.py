"""The API table for scripts of TensorFlow 2: what is published of TensorFlow 1.15, without what its rules and releases say."""

from __future__ import annotations

from functools import lru_cache

from tf2npu.api_support.table import TensorFlowTable, rows
from tf2npu.findings import Verdict

_OF_1 = "the published list is of TensorFlow 1.15"
_KEPT = frozenset({Verdict.RUNS.value, Verdict.HOST.value})


@lru_cache(maxsize=1)
def apis() -> TensorFlowTable:
    """The table with "unknown" where the verdict rests on a rule for TensorFlow 1, or on the lack of a name in 1.15."""
    return TensorFlowTable([_for_2(row) for row in rows()])


def _for_2(row: list[str]) -> list[str]:
    name, kind, verdict, rule, source, _, *rest = row
    if verdict in _KEPT and not rule:
        return row
    return [name, kind, Verdict.UNKNOWN.value, "", source, _OF_1, *rest]
