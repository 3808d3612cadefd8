"""The Philox-4x32-10 generator in vectorised numpy, and how TensorFlow seeds it and hands out its numbers.

Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011), for the generator; TensorFlow's CPU kernels
for seeding, the order of the numbers and how many of them one call takes.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from npu_runtime.kernels.native import philox_loops
from npu_runtime.kernels.threads.parallel import parallel_ranges, scratch

_WORD = 0xFFFFFFFF
"""The mask of an unsigned number of 32 bits."""
_LOW = (1 << 64) - 1
"""The mask of an unsigned number of 64 bits."""
_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
"""The multipliers of Philox 4x32.  Source: Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3 (2011)."""
_WEYL = 0x9E3779B9, 0xBB67AE85
"""Increments of the key of Philox 4x32 in each round: the golden ratio, and the square root of 3 less 1, as fractions of 2^32.
Source: as above."""
TILE = 65536
"""Blocks of four numbers computed at once. With fewer, two threads wait for each other between the calls of numpy."""
SERIAL = 6144
"""Blocks up to which one thread is faster than two."""
RESERVED_PER_OUTPUT = 256
"""Blocks that TensorFlow skips for each output of a call, whatever the distribution really takes."""

Make = Callable[[np.ndarray, np.ndarray], object]
"""make(bits, out) fills (n * k,) values from (n, 4) uint32, which it may use up."""


@dataclass(frozen=True)
class Stream:
    """A position in the sequence of a key.  key: 64 bits.  counter: 128 bits, one step is a block of four uint32."""

    key: int
    counter: int

    def skip(self, n_blocks: int) -> Stream:
        return Stream(self.key, (self.counter + n_blocks) % (1 << 128))

    def blocks(self, offsets: np.ndarray) -> np.ndarray:
        """The blocks at ascending offsets from here: (n,) uint64 -> (n, 4) uint32, valid until this thread's next call."""
        made = scratch("philox.made", (offsets.size, 2), np.uint64)
        start = 0
        while start < offsets.size:
            upper = self.counter + int(offsets[start]) >> 32
            stop = offsets.size
            if self.counter + int(offsets[-1]) >> 32 != upper:  # the lowest word overflows on the way
                stop = int(np.searchsorted(offsets, np.uint64((upper + 1 << 32) - self.counter)))
            low = np.uint64(self.counter - (upper << 32) & _LOW)
            words = (low, *_words(self.key, upper % (1 << 96)))
            if not philox_loops.rounds(offsets[start:stop], words, made[start:stop]):
                _scramble(made[start:stop], offsets[start:stop], low, _operands(self.key, upper % (1 << 96), stop - start))
            start = stop
        return made.view(np.uint32)


@lru_cache(maxsize=512)
def _words(key: int, upper: int) -> tuple[np.uint64, ...]:
    """The three upper words of a counter, and the two words of a key."""
    return tuple(np.uint64(word) for word in (*(upper >> 32 * place & _WORD for place in range(3)), key & _WORD, key >> 32))


@lru_cache(maxsize=512)
def _operands(key: int, upper: int, n: int) -> tuple[np.ndarray, ...]:
    """The operands of the rounds beside the blocks when these differ in the lowest word of their counters only.

    upper: the three words above.  Returns: both multipliers, the shift and the mask; what the two rounds need that have a word of
    the same value in all blocks; the pairs of keys of the other eight. Each is (n,) with stride 0: numpy takes it for the scalar
    that it is, in a third of the time that a call with a scalar costs.
    """
    keys = [[(word + weyl * i) & _WORD for i in range(10)] for word, weyl in zip((key & _WORD, key >> 32), _WEYL, strict=True)]
    second, third, fourth = (upper >> 32 * place & _WORD for place in range(3))
    product = _MULTIPLIERS[1] * third
    next_product = _MULTIPLIERS[0] * (product >> 32 ^ second ^ keys[0][0])
    alike = (fourth ^ keys[1][0], product & _WORD ^ keys[0][1], next_product >> 32 ^ keys[1][1], next_product & _WORD)
    later = [word for pair in zip(keys[0][2:], keys[1][2:], strict=True) for word in pair]
    words = np.array([*_MULTIPLIERS, 32, _WORD, *alike, *later], np.uint64)
    return tuple(np.broadcast_to(words[:, None], (len(words), n)))


def _scramble(made: np.ndarray, offsets: np.ndarray, first: np.uint64, operands: tuple[np.ndarray, ...]) -> None:
    """The lowest words of counters, offsets (n,) uint64 from the first, to the random words of each in pairs, (n, 2) uint64.

    x and y are words 0 and 2, then their products; low_x and low_y words 1 and 3, to which the high halves of the products are
    added, so that they become words 0 and 2 of the next round.
    """
    m0, m1, shift, mask, word2, word0, next_word2, word3, *keys = operands
    x, y, low_x, low_y, high = scratch("philox", (5, offsets.size), np.uint64)
    np.add(offsets, first, x)
    np.multiply(x, m0, x)
    np.right_shift(x, shift, y)
    np.bitwise_xor(y, word2, y)
    np.multiply(y, m1, y)
    np.right_shift(y, shift, low_x)
    np.bitwise_xor(low_x, word0, low_x)
    np.bitwise_and(x, mask, low_y)
    np.bitwise_xor(low_y, next_word2, low_y)
    np.bitwise_and(y, mask, y)
    np.copyto(x, word3)
    x, y, low_x, low_y = low_x, low_y, y, x
    for key0, key1 in zip(keys[::2], keys[1::2], strict=True):
        np.multiply(x, m0, x)
        np.multiply(y, m1, y)
        np.right_shift(y, shift, high)
        np.bitwise_xor(low_x, high, low_x)
        np.bitwise_xor(low_x, key0, low_x)
        np.bitwise_and(y, mask, y)
        np.right_shift(x, shift, high)
        np.bitwise_xor(low_y, high, low_y)
        np.bitwise_xor(low_y, key1, low_y)
        np.bitwise_and(x, mask, x)
        x, y, low_x, low_y = low_x, low_y, y, x
    for place, word, low in ((0, x, low_x), (1, y, low_y)):
        np.left_shift(low, shift, low)
        np.bitwise_or(word, low, made[:, place])


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


_OFFSETS = np.arange(TILE, dtype=np.uint64)


def fill(out: np.ndarray, stream: Stream, per_block: int, make: Make) -> np.ndarray:
    """Fill an array from a stream, each block giving per_block values; the values do not depend on the threads."""
    flat = out.reshape(-1)

    def work(start: int, stop: int) -> None:
        bits = stream.skip(start).blocks(_OFFSETS[: stop - start])
        place = flat[start * per_block : stop * per_block]
        if place.size == len(bits) * per_block:
            make(bits, place)
        else:
            whole = np.empty(len(bits) * per_block, flat.dtype)
            make(bits, whole)
            place[...] = whole[: place.size]

    n_blocks = -(-flat.size // per_block)
    parallel_ranges(n_blocks, work, min(TILE, max(SERIAL, -(-n_blocks // 2))))
    return out
