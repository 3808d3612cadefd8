"""The generator by its authors' published answers, and carries of the counter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_runtime.kernels.random.philox import Stream

ALL_ONES = 2**64 - 1
# counter words, key words, answer: the known-answer tests of Random123 for philox4x32-10
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def number(words: tuple[int, ...]) -> int:
    return sum(word << 32 * place for place, word in enumerate(words))


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_published_answers(counter: tuple[int, ...], key: tuple[int, ...], answer: tuple[int, ...]) -> None:
    block = Stream(number(key), number(counter)).blocks(np.zeros(1, np.uint64))
    assert tuple(int(n) for n in block[0]) == answer


@given(st.integers(0, ALL_ONES), st.integers(0, 2**128 - 1), st.integers(0, 2**20), st.integers(0, 2**20))
def test_skipping_is_an_offset(key: int, counter: int, skipped: int, offset: int) -> None:
    """Also across the end of 64 and of 128 bits."""
    stream = Stream(key, counter)
    there = stream.blocks(np.array([skipped + offset], np.uint64)).copy()
    np.testing.assert_array_equal(stream.skip(skipped).blocks(np.array([offset], np.uint64)), there)


@pytest.mark.parametrize("n_bits", [32, 64, 96, 128])
def test_a_carry_inside_a_batch(n_bits: int) -> None:
    stream = Stream(5, (7 << n_bits | (1 << n_bits) - 3) % (1 << 128))
    together = stream.blocks(np.arange(6, dtype=np.uint64)).copy()
    alone = [stream.skip(n).blocks(np.zeros(1, np.uint64))[0].copy() for n in range(6)]
    np.testing.assert_array_equal(together, alone)


@given(st.integers(0, 2**128 - 1), st.lists(st.integers(0, 2**34), max_size=9).map(sorted))
def test_offsets_far_apart(counter: int, offsets: list[int]) -> None:
    """The lowest word of the counter carries any number of times between two of them."""
    stream = Stream(2**40 + 3, counter)
    together = stream.blocks(np.array(offsets, np.uint64)).copy()
    alone = [stream.skip(n).blocks(np.zeros(1, np.uint64))[0].copy() for n in offsets]
    np.testing.assert_array_equal(together, np.reshape(alone, (-1, 4)))
