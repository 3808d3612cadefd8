"""The random numbers of a node's next calls, made together: of a few numbers the calls of numpy take longer than the numbers.

A generator's position after a call follows from the call before it, so the numbers of later calls are known as soon as two calls
have asked for as many. What a call gets is the same, whether it was made ahead or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from npu_runtime.kernels.random.philox import Make, Stream, fill

MOST_CALLS = 64
"""Calls of a node whose numbers are made together, at most."""
MOST_BLOCKS = 8192
"""Blocks of random words of all calls that are made together."""
GROWTH = 4
"""Factor by which more calls are made ahead than the last time. A node that runs once, as an initialiser does, makes nothing for
later."""


@dataclass(frozen=True)
class Ahead:
    """values: (calls, numbers of a call), made by `make`, the first ones from `stream` on, each `step` blocks behind the last."""

    stream: Stream
    step: int
    make: Make
    values: np.ndarray

    def row(self, stream: Stream, step: int, make: Make, size: int) -> int:
        """The index of the call that a stream is at; their number for the one after them, -1 for any other call."""
        calls, numbers = self.values.shape
        if (make, step, stream.key) != (self.make, self.step, self.stream.key) or numbers < size:
            return -1
        row, rest = divmod(stream.counter - self.stream.counter, step)
        return row if not rest and 0 <= row <= calls else -1


def fill_ahead(out: np.ndarray, state: dict[str, Any], stream: Stream, step: int, per_block: int, make: Make) -> np.ndarray:
    """Fill an array as `fill` does.

    state: of the node.  step: blocks from this call's first to the next one's, no fewer than a call takes.  make: the same
    object in each call.
    """
    n_blocks = -(-out.size // per_block)
    if not 0 < 2 * n_blocks <= MOST_BLOCKS:
        return fill(out, stream, per_block, make)
    ahead: Ahead | None = state.get("ahead")
    row = -1 if ahead is None else ahead.row(stream, step, make, out.size)
    if ahead is None or row in (-1, len(ahead.values)):
        wanted = 1 if ahead is None or row < 0 else GROWTH * row
        n_calls = min(wanted, MOST_CALLS, MOST_BLOCKS // n_blocks)
        ahead = state["ahead"] = Ahead(stream, step, make, _made(stream, step, n_calls, n_blocks, per_block, make, out.dtype))
        row = 0
    np.copyto(out.reshape(-1), ahead.values[row, : out.size])
    return out


def _made(
    stream: Stream, step: int, n_calls: int, n_blocks: int, per_block: int, make: Make, dtype: np.dtype
) -> np.ndarray:  # fmt: skip
    """Returns: (n_calls, n_blocks * per_block)."""
    offsets = np.add.outer(np.arange(n_calls, dtype=np.uint64) * np.uint64(step), np.arange(n_blocks, dtype=np.uint64))
    values = np.empty(offsets.size * per_block, dtype)
    make(stream.blocks(offsets.reshape(-1)), values)
    return values.reshape(n_calls, -1)
