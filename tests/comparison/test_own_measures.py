"""Steps of the element type and the rest of our columns, against counting by hand and numpy's own neighbours."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tf2npu.comparison.error_statistics import Measures, measures, narrower, steps
from tf2npu.comparison.metrics import figures

FLOATS = [np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64), np.dtype(ml_dtypes.bfloat16)]


def both_ways(x: np.ndarray, y: np.ndarray, rtol: float = 1e-3, atol: float = 1e-3) -> Measures:
    """The measures by the short way, where it can be gone, and by the long one: they are the same."""
    long = measures(x, y, rtol, atol)
    finite = figures(x, y, is_scalar=False, x_file="", y_file="").finite
    short = measures(x, y, rtol, atol, finite)
    assert (short.n_outside, short.ulp_worst, short.ulp_median, short.n_nan) == (
        long.n_outside, long.ulp_worst, long.ulp_median, long.n_nan,
    )  # fmt: skip
    assert short.signal_to_noise_db == pytest.approx(long.signal_to_noise_db, rel=1e-3, abs=1e-2)
    return long


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("start", [0.0, 1.0, -3.5, -0.0])
def test_a_neighbour_is_one_step_away(dtype, start):
    one = np.array([start], dtype)
    other = np.nextafter(one, np.array([10], dtype))
    assert steps(one, other, dtype).tolist() == steps(other, one, dtype).tolist() == [1]


def test_steps_across_zero_and_to_infinity():
    halves = np.array([-(2.0**-24), -0.0, 65504.0, -np.inf, np.nan, np.nan], np.float16)
    others = np.array([2.0**-24, 0.0, np.inf, np.inf, np.nan, 1.0], np.float16)
    assert steps(halves, others, np.dtype(np.float16)).tolist() == [2, 0, 1, 2 * 0x7C00, 0, 0xFFFF]


def test_the_narrower_type_is_counted_in():
    assert narrower(np.dtype(np.float32), np.dtype(np.float16)) == np.float16
    assert narrower(np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)) == ml_dtypes.bfloat16
    assert narrower(np.dtype(np.int32), np.dtype(np.bool_)) is None
    x = np.array([1.0009765625, 2.0], np.float16)
    assert both_ways(x, np.array([1.0, 2.0], np.float32)).ulp_worst == 1


def test_what_only_one_side_has_is_counted():
    x = np.array([1, np.nan, np.inf, np.inf, -np.inf, np.nan], np.float32)
    y = np.array([1, 2, np.inf, 3, np.inf, np.nan], np.float32)
    found = both_ways(x, y)
    assert (found.n_nan, found.n_infinite, found.n_outside) == (1, 2, 3)


def test_tolerances_follow_the_size_of_the_reference():
    small = np.full(1000, 1e-9, np.float32)
    assert both_ways(small * np.float32(1.01), small).share_outside == 1.0
    assert both_ways(small * np.float32(1.0001), small).share_outside == 0.0


def test_signal_to_noise():
    y = np.array([10, 10], np.float32)
    assert both_ways(y + 1, y).signal_to_noise_db == pytest.approx(20)
    assert measures(y, y, 0, 0).signal_to_noise_db == math.inf


def test_large_integers_that_differ_by_one_differ():
    assert measures(np.array([2**53 + 1]), np.array([2**53]), 0, 0).n_outside == 1


PAIRS = arrays.array_shapes(max_dims=1, max_side=40).flatmap(
    lambda shape: st.tuples(*(arrays.arrays(np.float32, shape, elements=st.floats(-1000, 1000, width=32)),) * 2)
)


@given(PAIRS)
def test_both_ways_agree_and_equal_arrays_have_no_steps(pair):
    assert both_ways(pair[0], pair[0]).ulp_worst == 0
    found = both_ways(*pair, rtol=0.0, atol=0.0)
    assert found.n_outside == int((pair[0] != pair[1]).sum())
