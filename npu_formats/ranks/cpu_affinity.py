"""The cores that a rank computes on."""

from __future__ import annotations

import os


def share_cores(process: int, number: int, n_ranks: int) -> None:
    """Give a rank's process its part of the cores, so that the ranks' threads do not wait for each other's."""
    if not hasattr(os, "sched_setaffinity"):
        return
    cores = sorted(os.sched_getaffinity(0))
    mine = cores[number::n_ranks] or [cores[number % len(cores)]]
    try:
        os.sched_setaffinity(process, mine)
    except OSError:  # it has ended already
        return
