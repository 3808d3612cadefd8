"""The rounds of Philox 4x32-10 over many counters in one pass.  Source: as `kernels/random/philox.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.kernels.native.compiled import loop

CHUNK = 512
"""Counters that are worked on together: their words stay in the nearest cache, and a round is a loop over all of them."""


@loop("void(u8[::1], UniTuple(u8, 6), u8[:,::1])")
def rounds(offsets: Any, words: Any, made: Any) -> None:
    """made = the random words of counters, in pairs.

    offsets: (n,) uint64.  words: what is added to them for the lowest word of the counter, its three other words, and the two
    words of the key.  made: (n, 2) uint64, words 0 and 1, then 2 and 3.
    """
    mask, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    m0, m1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
    weyl0, weyl1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
    x0, x1 = np.empty(CHUNK, np.uint32), np.empty(CHUNK, np.uint32)
    x2, x3 = np.empty(CHUNK, np.uint32), np.empty(CHUNK, np.uint32)
    for begin in range(0, offsets.size, CHUNK):
        n = min(CHUNK, offsets.size - begin)
        key0, key1 = words[4], words[5]
        for i in range(n):
            x0[i] = np.uint32((offsets[begin + i] + words[0]) & mask)
            x1[i], x2[i], x3[i] = np.uint32(words[1]), np.uint32(words[2]), np.uint32(words[3])
        for _ in range(10):
            for i in range(n):
                left, right = np.uint64(x0[i]) * m0, np.uint64(x2[i]) * m1
                x0[i] = np.uint32(((right >> shift) ^ np.uint64(x1[i]) ^ key0) & mask)
                x1[i] = np.uint32(right & mask)
                x2[i] = np.uint32(((left >> shift) ^ np.uint64(x3[i]) ^ key1) & mask)
                x3[i] = np.uint32(left & mask)
            key0, key1 = (key0 + weyl0) & mask, (key1 + weyl1) & mask
        for i in range(n):
            made[begin + i, 0] = np.uint64(x0[i]) | (np.uint64(x1[i]) << shift)
            made[begin + i, 1] = np.uint64(x2[i]) | (np.uint64(x3[i]) << shift)
