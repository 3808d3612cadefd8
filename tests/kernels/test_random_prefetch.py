"""Numbers of later calls made ahead: what every run gets is what TensorFlow gives it, whatever else changed in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_runtime.kernels.random import random_prefetch
from npu_runtime.kernels.random.normals import normals, uniform_float32
from npu_runtime.kernels.random.philox import Stream, fill
from npu_runtime.kernels.random.random_prefetch import fill_ahead
from tests.how_many import drawn
from tests.kernels.test_random import assert_same_bits

LOGITS = np.log([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]]).astype(np.float32)
DRAWS: dict[str, Callable[[], tf.Tensor]] = {
    "uniform": lambda: tf.random.uniform([5], seed=3),
    "uniform of 16 bits": lambda: tf.random.uniform([9], dtype=tf.bfloat16, seed=3),
    "normal": lambda: tf.random.normal([2, 3], seed=4),
    "normal of 16 bits": lambda: tf.random.normal([7], dtype=tf.float16, seed=4),
    "integers": lambda: tf.random.uniform([6], -4, 9, tf.int32, seed=5),
    "long integers": lambda: tf.random.uniform([3], -(2**40), 2**50, tf.int64, seed=5),
    "classes": lambda: tf.random.categorical(LOGITS, 3, seed=6),
    "candidates": lambda: tf.nn.log_uniform_candidate_sampler([[1, 2]], 2, 5, True, 30, seed=7)[0],
    "most of the candidates": lambda: tf.nn.uniform_candidate_sampler([[1, 2]], 2, 29, True, 30, seed=7)[0],
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_hundred_runs(name: str) -> None:
    """More than are ever made together."""
    assert_same_bits(DRAWS[name], 100)


def test_calls_of_other_sizes_in_between() -> None:
    sizes = [4, 4, 4, 9, 4, 4, 1, 4, 4, 4, 0, 4]
    with tf.Graph().as_default(), tf.Session() as session:
        size = tf.placeholder(tf.int32, [1])
        drawn = tf.raw_ops.RandomUniform(shape=size, dtype=tf.float32, seed=8, seed2=9)
        expected = [session.run(drawn, {size: [n]}) for n in sizes]
    for n, made, right in zip(sizes, _runs(sizes), expected, strict=True):
        np.testing.assert_array_equal(made, right, err_msg=str(n))


def _runs(sizes: Sequence[int]) -> list[np.ndarray]:
    stream, state, made = Stream(8, 9 << 64), {}, []
    for n in sizes:
        made.append(fill_ahead(np.empty(n, np.float32), state, stream, 256 * n, 4, uniform_float32))
        stream = stream.skip(256 * n)
    return made


@settings(max_examples=drawn(50), deadline=None)
@given(st.integers(0, 2**64 - 1), st.integers(0, 2**128 - 1), st.integers(1, 40), st.integers(1, 90))
def test_wherever_the_stream_is(key: int, counter: int, size: int, n_calls: int) -> None:
    """Also across the end of 32 and of 128 bits."""
    stream, state = Stream(key, counter), {}
    for _ in range(n_calls):
        expected = fill(np.empty(size, np.float32), stream, 4, normals)
        np.testing.assert_array_equal(fill_ahead(np.empty(size, np.float32), state, stream, 300, 4, normals), expected)
        stream = stream.skip(300)


def test_one_call_makes_nothing_for_later() -> None:
    """As an initialiser's."""
    state: dict[str, random_prefetch.Ahead] = {}
    fill_ahead(np.empty(10, np.float32), state, Stream(1, 2), 2560, 4, uniform_float32)
    assert len(state["ahead"].values) == 1


def test_what_is_handed_out_is_the_callers_own() -> None:
    state: dict[str, random_prefetch.Ahead] = {}
    first = fill_ahead(np.empty(4, np.float32), state, Stream(1, 2), 9, 4, uniform_float32)
    kept = first.copy()
    first.fill(7)
    np.testing.assert_array_equal(fill_ahead(np.empty(4, np.float32), state, Stream(1, 2), 9, 4, uniform_float32), kept)
