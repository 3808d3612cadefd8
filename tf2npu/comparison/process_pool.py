"""Rows by processes: each takes groups of operators of a pairing that it inherits, and hands back their rows.

Only where that pays, and where a process can be forked: no other thread runs.  Large files stay in this process, one after
another, so that the memory which is needed does not grow with the processes.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain
from typing import Protocol

from tf2npu.comparison.rows import Row
from tf2npu.comparison.unreadable import Unreadable
from tf2npu.project.workers import default_jobs

_LARGE_BYTES = 16 << 20
"""Bytes of an operator's files from which on they are large: a process needs some three times as much."""
_BYTES_WORTH_A_PROCESS = 4 << 20
"""Bytes of files from which on a process saves more than the 30 ms that it costs."""
_CHUNKS = 8
"""Pieces of the work for each process: small, so that none is left with a long rest at the end."""


class Pairing(Protocol):
    """Interface of what makes rows, a group of operators at a time."""

    unreadable: dict[str, Unreadable]

    def n_groups(self) -> int:
        """The number of groups."""

    def n_bytes(self, index: int) -> int:
        """Bytes of the group's dump files."""

    def group_rows(self, index: int) -> list[Row]:
        """The rows of a group; files that cannot be read are in `unreadable` afterwards."""


_inherited: list[Pairing] = []
"""The pairing, for processes that are forked while it stands here."""


def all_rows(pairing: Pairing) -> list[Row]:
    """The rows of all groups, in order."""
    sizes = [pairing.n_bytes(index) for index in range(pairing.n_groups())]
    small = [index for index, size in enumerate(sizes) if size < _LARGE_BYTES]
    n_processes = min(default_jobs(), sum(sizes[index] for index in small) // _BYTES_WORTH_A_PROCESS)
    found: dict[int, list[Row]] = {}
    if n_processes > 1 and sys.platform == "linux" and threading.active_count() == 1:
        found = _by_processes(pairing, _chunks(small, sizes, n_processes * _CHUNKS), n_processes)
    rows = []
    for index in range(len(sizes)):
        rows += found.pop(index) if index in found else pairing.group_rows(index)
    return rows


def _chunks(indices: Sequence[int], sizes: Sequence[int], n: int) -> list[list[int]]:
    """Split groups into so many runs, of about as many bytes each."""
    wanted = sum(sizes[index] for index in indices) // n + 1
    chunks: list[list[int]] = [[]]
    held = 0
    for index in indices:
        if held > wanted:
            chunks.append([])
            held = 0
        chunks[-1].append(index)
        held += sizes[index]
    return chunks


def _by_processes(pairing: Pairing, chunks: list[list[int]], n_processes: int) -> dict[int, list[Row]]:
    """The rows by group; those of a process that died are missing, and this process makes them."""
    found: dict[int, list[Row]] = {}
    _inherited.append(pairing)
    try:
        with ProcessPoolExecutor(n_processes, multiprocessing.get_context("fork")) as pool:
            for made, unreadable in pool.map(_work, chunks):
                found.update(made)
                pairing.unreadable |= {str(path): Unreadable(path, reason) for path, reason in unreadable}
    except BrokenProcessPool:
        pass
    finally:
        _inherited.clear()
    return found


def _work(indices: list[int]):
    """Rows of groups, made in a process: without what reads their tensors again; and what could not be read."""
    (pairing,) = _inherited
    made = {index: pairing.group_rows(index) for index in indices}
    for row in chain(*made.values()):
        row.beside = None
    return made, [(error.path, error.reason) for error in pairing.unreadable.values()]
