"""Rounding fp32 storage to the numbers of 16-bit types: numpy's float16 and ml_dtypes' bfloat16 are the judges."""

from __future__ import annotations

import threading

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from npu_runtime.device import float_status
from npu_runtime.device.denormals import flushed
from npu_runtime.kernels.base import all_kernels
from npu_runtime.kernels.elementwise.rounding import ROUND, round_to_grid
from npu_runtime.kernels.fused.elementwise_regions import body_of
from npu_runtime.kernels.threads import parallel
from tests.how_many import drawn

TYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


@pytest.fixture(autouse=True)
def clear_overflows():
    float_status.overflows.clear()
    float_status.begin(saturates=False)
    yield
    float_status.begin(saturates=False)
    float_status.overflows.clear()


def wanted(x: np.ndarray, dtype: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        return x.astype(TYPES[dtype]).astype(np.float32)


def assert_same_bits(found: np.ndarray, right: np.ndarray) -> None:
    assert found.dtype == np.float32
    np.testing.assert_array_equal(np.isnan(found), np.isnan(right))
    numbers = ~np.isnan(right)
    np.testing.assert_array_equal(found[numbers].view(np.uint32), right[numbers].view(np.uint32))


def near_every_half_number() -> np.ndarray:
    """All 65,536 fp16 numbers, the middle between each and the next, and the fp32 neighbours of all of those."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    bits = halves[np.isfinite(halves)].view(np.int32)
    return np.concatenate([(bits + step + near).view(np.float32) for step in (0, 0x1000) for near in (-1, 0, 1)] + [halves])


@pytest.mark.parametrize("dtype", TYPES)
def test_every_half_number_and_what_lies_between(dtype: str) -> None:
    x = np.concatenate([near_every_half_number(), np.float32([65519.996, 65520, 65535, -65520, 3.4e38, -0.0, 1e-45, np.nan])])
    assert_same_bits(round_to_grid(x, dtype=dtype, source="x"), wanted(x, dtype))


@settings(max_examples=drawn(60), deadline=None)
@given(
    st.sampled_from(sorted(TYPES)),
    hnp.arrays(np.uint32, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=7), elements=st.integers(0, 2**32 - 1)),
)
def test_any_bits_in_any_shape(dtype: str, bits: np.ndarray) -> None:
    x = bits.view(np.float32)
    found = round_to_grid(x, dtype=dtype, source="x")
    assert found.shape == x.shape
    assert_same_bits(np.atleast_1d(found), np.atleast_1d(wanted(x, dtype)))


@pytest.mark.parametrize("n", [7, 5000])
def test_denormals_of_fp16_survive_where_those_of_fp32_are_flushed(n: int) -> None:
    """A step runs with denormals flushed; the smallest fp16 numbers are none of fp32's."""
    x = np.linspace(-(2.0**-14), 2.0**-14, n).astype(np.float32)
    right = wanted(x, "float16")
    with flushed():
        found = round_to_grid(x, dtype="float16", source="x")
    assert_same_bits(found, right)


@pytest.mark.parametrize("dtype", TYPES)
def test_large_strided_and_in_place(dtype: str) -> None:
    x = np.random.default_rng(0).standard_normal((300, 800), np.float32)
    right = wanted(x, dtype)
    out = np.empty_like(x)
    assert round_to_grid(x, dtype=dtype, source="x", out=out) is out
    assert_same_bits(out, right)
    assert_same_bits(round_to_grid(x.T, dtype=dtype, source="x"), right.T)
    assert_same_bits(round_to_grid(x, dtype=dtype, source="x", out=x), right)


def test_fused_into_regions_it_gives_the_same() -> None:
    x = near_every_half_number()
    body = body_of(ROUND, {"dtype": "float16", "source": "conv"})
    assert body is not None
    out = np.empty_like(x)
    body(out, x)
    assert_same_bits(out, wanted(x, "float16"))


def test_what_is_too_large_is_counted_under_its_node() -> None:
    round_to_grid(np.float32([1, 65519, np.inf, np.nan]), dtype="float16", source="fine")
    assert not float_status.overflows, "an infinity that was there before did not become one here"
    round_to_grid(np.float32([1, 65520]), dtype="float16", source="conv")
    round_to_grid(np.full((400, 400), -1e30, np.float32), dtype="float16", source="conv")
    round_to_grid(np.float32([3.4e38]), dtype="bfloat16", source="wide")
    assert float_status.overflows == {"conv": 2, "wide": 1}
    assert not float_status.has_overflowed(), "in infinity mode the numbers themselves tell"


def test_saturation_mode_cuts_and_raises_the_status() -> None:
    float_status.begin(saturates=True)
    found = round_to_grid(np.float32([1e9, -np.inf, np.nan, 65519, -0.0]), dtype="float16", source="conv")
    assert_same_bits(found, np.float32([65504, -65504, np.nan, 65504, -0.0]))
    assert float_status.has_overflowed() and float_status.overflows == {"conv": 1}


def test_a_tile_of_another_thread_sets_the_status_of_the_step() -> None:
    body = body_of(ROUND, {"dtype": "float16", "source": "conv"})
    assert body is not None
    n_threads_before = parallel.n_threads()
    parallel.set_n_threads(2)
    started = threading.Barrier(2)  # each of the two pieces waits for the other: two threads are at work
    threads = set()

    def work(start: int, stop: int) -> None:
        started.wait(timeout=60)
        threads.add(threading.get_ident())
        if threading.get_ident() != caller:
            body(x[start:stop], x[start:stop])

    caller = threading.get_ident()
    try:
        for saturates in (True, False, True):
            x = np.full(8192, 1e9, np.float32)
            float_status.begin(saturates)
            parallel.parallel_ranges(8192, work, 4096)
            assert len(threads) == 2 and float_status.has_overflowed() == saturates
            assert set(x) == {np.float32(1e9), np.float32(65504 if saturates else np.inf)}
    finally:
        parallel.set_n_threads(n_threads_before)


def test_registered_so_that_its_result_may_take_its_inputs_place() -> None:
    assert all_kernels()[ROUND].takes_out and all_kernels()[ROUND].inplace == (0,)
