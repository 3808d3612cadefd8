"""The ranks of this run beside each other, for the report that rank 0 writes."""

from __future__ import annotations

import os
from typing import Any

from npu_formats.environment import TF2NPU_COLLECTIVES
from npu_runtime.collectives.rank_totals import tell_from
from npu_runtime.session.session_state import run_log


def install() -> None:
    """Let this rank tell the coordinator of its steps when it ends, where there are several."""
    if os.environ.get(TF2NPU_COLLECTIVES):
        tell_from(lambda: run_log().training())


def ranks() -> list[dict[str, Any]]:
    """A document for each rank, as report.json holds it; none where this is not rank 0 of several."""
    if not os.environ.get(TF2NPU_COLLECTIVES) or int(os.environ.get("RANK_ID") or 0):
        return []
    from npu_runtime.collectives.communicator import communicator

    told, waited = communicator().ranks_of_job()
    waited_for = {rank: (times, seconds) for rank, times, seconds in waited.get("last", [])}
    return [_entry(rank, document, *waited_for.get(rank, (0, 0.0))) for rank, document in told]


def _entry(rank: int, document: dict[str, Any], times_last: int, seconds_awaited: float) -> dict[str, Any]:
    return {
        "rank": rank,
        "steps": document.get("steps", 0),
        "step_seconds": document.get("step_seconds", 0.0),
        "collective_seconds": document.get("collective_seconds", 0.0),
        "times_last": times_last,
        "seconds_awaited": seconds_awaited,
        "scalars": document.get("scalars", []),
    }
