"""The Philox-4x32-10 generator in vectorised numpy, and how TensorFlow seeds it and hands out its numbers.

Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011), for the generator; TensorFlow's CPU kernels
for seeding, the order of the numbers and how many of them one call takes.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from npu_runtime.kernels.parallel import parallel_ranges, scratch

_MASK = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_MULTIPLIERS = np.array([[0xD2511F53], [0xCD9E8D57]], np.uint64)
_WEYL = np.arange(10, dtype=np.uint64)[:, None, None] * np.array([[0x9E3779B9], [0xBB67AE85]], np.uint64)
_LOW = (1 << 64) - 1
TILE = 16384
"""Blocks of four numbers computed at once: half a megabyte of working arrays, which stays in the L2 cache."""
RESERVED_PER_OUTPUT = 256
"""Blocks that TensorFlow skips for each output of a call, whatever the distribution really takes."""

Make = Callable[[np.ndarray], np.ndarray]
"""make(bits) turns (n, 4) uint32 into the n * k values they give, in order."""


@dataclass(frozen=True)
class Stream:
    """A position in the sequence of a key.  key: 64 bits.  counter: 128 bits, one step is a block of four uint32."""

    key: int
    counter: int

    def skip(self, n_blocks: int) -> Stream:
        return Stream(self.key, (self.counter + n_blocks) % (1 << 128))

    def blocks(self, offsets: np.ndarray) -> np.ndarray:
        """The blocks at some offsets from here: (n,) uint64 -> (n, 4) uint32, valid until this thread's next call."""
        low, high = np.uint64(self.counter & _LOW), self.counter >> 64
        count = offsets.size
        a, b = (scratch(f"philox.{name}", (2, count), np.uint64) for name in "ab")
        np.add(offsets, low, out=b[0])
        a[1], b[1] = high & 0xFFFFFFFF, high >> 32
        has_wrapped = b[0] < low
        if has_wrapped.any():
            high = (high + 1) & _LOW
            a[1, has_wrapped], b[1, has_wrapped] = high & 0xFFFFFFFF, high >> 32
        np.bitwise_and(b[0], _MASK, out=a[0])
        np.right_shift(b[0], _SHIFT, out=b[0])
        _ten_rounds(self.key, a, b)
        made = scratch("philox.made", (count, 4), np.uint32)
        made[:, 0], made[:, 1], made[:, 2], made[:, 3] = a[0], b[0], a[1], b[1]
        return made


def _ten_rounds(key: int, a: np.ndarray, b: np.ndarray) -> None:
    """Scramble in place: a holds words 0 and 2 of the counters, b words 1 and 3, each (2, n) uint64 below 2^32."""
    product = scratch("philox.product", a.shape, np.uint64)
    words = np.array([[key & 0xFFFFFFFF], [key >> 32]], np.uint64)
    for round_words in (words + _WEYL) & _MASK:
        np.multiply(a, _MULTIPLIERS, out=product)
        np.right_shift(product, _SHIFT, out=a)
        np.bitwise_xor(a[::-1], b, out=b)
        np.bitwise_xor(b, round_words, out=a)
        np.bitwise_and(product[::-1], _MASK, out=b)


def seeded(seed: int, seed2: int) -> Stream:
    """The stream of an op's seeds; a random one when both are 0.  Source: TensorFlow's GuardedPhiloxRandom."""
    if seed == 0 and seed2 == 0:
        seed, seed2 = secrets.randbits(64), secrets.randbits(64)
    return Stream(seed & _LOW, (seed2 & _LOW) << 64)


_reserving = threading.Lock()


def reserve(state: dict[str, Any], seed: int, seed2: int, n_blocks: int) -> Stream:
    """The stream for this call; the next call of the same node gets the numbers n_blocks further on."""
    with _reserving:
        stream: Stream = state.get("stream") or seeded(seed, seed2)
        state["stream"] = stream.skip(n_blocks)
    return stream


def fill(out: np.ndarray, stream: Stream, per_block: int, make: Make) -> np.ndarray:
    """Fill an array from a stream, each block giving per_block values; the values do not depend on the threads."""
    flat = out.reshape(-1)

    def work(start: int, stop: int) -> None:
        for first in range(start, stop, TILE):
            last = min(first + TILE, stop)
            values = make(stream.blocks(np.arange(first, last, dtype=np.uint64)))
            place = flat[first * per_block : last * per_block]
            place[...] = values[: place.size]

    parallel_ranges(-(-flat.size // per_block), work, TILE)
    return out
