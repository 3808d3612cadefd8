"""Tells when step after step overflows: a loss-scale optimizer skips them all, and a loop that waits for its step never ends.

_endless_training.py gets such a loop out where it is certain; this warns of all.
"""

from __future__ import annotations

from collections.abc import Hashable

from npu_bridge._log import log

from npu_runtime.device import float_status

_FIRST_WARNING = 20
"""Steps in a row with an overflow, after which a run is warned. The next warnings come after ten times as many each."""
_TOLD = (
    "each of the last %d steps had a result too large for 16 bits, first of %s; a loss-scale optimizer skips such steps, so "
    "neither variables nor the global step move, and a fixed scale never gets out of it. Lower the loss scale, keep such nodes "
    "in 32 bits (modify_mixlist, keep_dtype_scope), or run with --option precision_mode=must_keep_origin_dtype"
)


class OverflowWatch:
    """Counts, for one session, the runs of a kind that overflowed one after another."""

    def __init__(self) -> None:
        self._in_a_row: dict[Hashable, int] = {}
        self._seen = float_status.overflows.total()

    def look(self, kind: Hashable) -> None:
        """Called after a run of some kind; warns at the 20th, 200th ... in a row with an overflow."""
        seen, self._seen = self._seen, float_status.overflows.total()
        if self._seen <= seen:  # less: the run log was cleared
            if self._in_a_row:
                self._in_a_row.pop(kind, None)
            return
        n = self._in_a_row[kind] = self._in_a_row.get(kind, 0) + 1
        if n in (_FIRST_WARNING * 10**power for power in range(6)):
            log.warning(_TOLD, n, next(iter(float_status.overflows)))
