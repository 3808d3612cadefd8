"""Element-wise bodies in tiles: the same values as in one call, whatever broadcasts, is strided or is cut where."""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_runtime.kernels.threads import tiling
from npu_runtime.kernels.threads.tiling import run_tiled
from tests.how_many import drawn

MOST_TILES = 5000
"""Calls of a body in one example, each some 10 microseconds: four axes of 70 in tiles of one element take minutes."""
MOST_ELEMENTS = 3 * 70**3
"""Elements of one example: all four axes may be long but for one, and its arrays are 8 MB each."""


@st.composite
def broadcasts(draw: st.DrawFn) -> tuple[tuple[int, ...], list[tuple[int, ...]], int]:
    """A shape, up to three that broadcast to it, and a size of tiles."""
    shapes = st.lists(st.sampled_from([1, 2, 3, 70]), min_size=1, max_size=4)
    shape = tuple(draw(shapes.filter(lambda shape: math.prod(shape) <= MOST_ELEMENTS)))
    tile = draw(st.sampled_from([n for n in (1, 7, 64, 1000) if math.prod(shape) <= n * MOST_TILES]))
    inputs = []
    for _ in range(draw(st.integers(1, 3))):
        kept = [n if draw(st.booleans()) else 1 for n in shape]
        inputs.append(tuple(kept[draw(st.integers(0, len(shape))) :]))
    return shape, inputs, tile


@settings(deadline=None, max_examples=drawn(200))
@given(broadcasts(), st.booleans())
def test_tiles_give_what_one_call_gives(drawn: tuple[tuple[int, ...], list[tuple[int, ...]], int], is_strided: bool) -> None:
    shape, inputs, tile = drawn
    random = np.random.default_rng(5)
    values = [random.standard_normal((*x, 2))[..., 0] if is_strided else random.standard_normal(x) for x in inputs]
    seen = np.zeros(shape)

    def body(out: np.ndarray, *operands: np.ndarray) -> None:
        np.copyto(out, sum(k * x for k, x in enumerate(operands, 1)))
        out += 1

    with mock.patch.object(tiling, "SMALL", 0):
        assert run_tiled(body, seen, *[np.asarray(v) for v in values], tile=tile) is seen
    expected = sum(k * np.broadcast_to(v, shape) for k, v in enumerate(values, 1)) + 1
    np.testing.assert_array_equal(seen, expected)
