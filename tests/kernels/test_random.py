"""Random numbers bit for bit: large counts, run after run of one session, and the initial weights of real layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.device.denormals import flushed
from npu_runtime.kernels.base import all_kernels
from npu_runtime.kernels.random import normals, philox
from npu_runtime.kernels.threads import parallel

Build = Callable[[], tf.Tensor]


class Device:
    """Runs the ops of a TensorFlow graph by our kernels, the state of each op kept from run to run as a session does."""

    def __init__(self) -> None:
        self._states: dict[str, dict[str, Any]] = {}

    def run(self, tensor: tf.Tensor) -> np.ndarray:
        op = tensor.op
        if op.type == "Const":
            return tf.make_ndarray(op.get_attr("value"))
        inputs = [self.run(x) for x in op.inputs]
        made = all_kernels()[op.type]
        attrs: dict[str, Any] = {name: op.get_attr(name) for name in made.attrs}
        attrs = {name: v.name if isinstance(v, tf.DType) else v for name, v in attrs.items()}
        if made.is_stateful:
            attrs["state"] = self._states.setdefault(op.name, {})
        result = made.function(*inputs, **attrs)
        return result[tensor.value_index] if isinstance(result, tuple) else result


def assert_same_bits(build: Build, n_runs: int = 3) -> None:
    """Every run of one session gives the same bits from TensorFlow and from us."""
    device = Device()
    with tf.Graph().as_default(), tf.device("/cpu:0"), tf.Session() as sess:
        tf.set_random_seed(1234)
        tensor = build()
        for run in range(n_runs):
            expected, actual = sess.run(tensor), device.run(tensor)
            assert actual.dtype == expected.dtype
            wrong = np.count_nonzero(actual != expected)
            assert wrong == 0, f"{wrong} of {expected.size} values differ in run {run}"


DRAWS = ("RandomUniform", "RandomStandardNormal", "TruncatedNormal")


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 1023, 24577, 65537, 200001])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("raw", DRAWS)
def test_runs_of_a_session(raw: str, dtype: str, size: int) -> None:
    assert_same_bits(lambda: getattr(tf.raw_ops, raw)(shape=[size], dtype=dtype, seed=87654321, seed2=7))


@pytest.mark.parametrize("raw", DRAWS)
@pytest.mark.parametrize("seeds", [(1, 0), (0, 5), (2**40 + 3, 2**50 + 9), (-3, -2)])
def test_seeds(raw: str, seeds: tuple[int, int]) -> None:
    assert_same_bits(lambda: getattr(tf.raw_ops, raw)(shape=[3, 333], dtype=tf.float32, seed=seeds[0], seed2=seeds[1]), n_runs=2)


@pytest.mark.parametrize("raw", ["RandomStandardNormal", "TruncatedNormal"])
def test_millions_of_normals(raw: str) -> None:
    assert_same_bits(lambda: getattr(tf.raw_ops, raw)(shape=[2_000_003], dtype=tf.float32, seed=3, seed2=4), n_runs=2)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("size", [1, 2, 5, 70001])
def test_integers(dtype: str, size: int) -> None:
    low, high = tf.dtypes.as_dtype(dtype).limits
    for bounds in ((0, 10), (-100, 3), (low, high)):
        assert_same_bits(
            lambda b=bounds: tf.raw_ops.RandomUniformInt(
                shape=[size], minval=tf.constant(b[0], dtype), maxval=tf.constant(b[1], dtype), seed=5, seed2=6
            )
        )


@pytest.mark.parametrize("shape", [(1,), (2,), (5,), (6,), (1000,), (7, 3), (1001, 2)])
def test_shuffles(shape: tuple[int, ...]) -> None:
    rows = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    assert_same_bits(lambda: tf.random_shuffle(tf.constant(rows), seed=9))


@pytest.mark.parametrize("n_samples", [1, 2, 4, 7])
def test_choices(n_samples: int) -> None:
    logits = np.random.default_rng(0).normal(size=(6, 11)).astype(np.float32)
    assert_same_bits(lambda: tf.raw_ops.Multinomial(logits=logits, num_samples=n_samples, seed=3, seed2=8))


@pytest.mark.parametrize("op_seed", [None, 77])
def test_seeds_of_graph_and_op(op_seed: int | None) -> None:
    """get_seed's results are attributes of the node, whichever of the two seeds is set."""
    assert_same_bits(lambda: tf.random_uniform([100], -1.0, 3.0, seed=op_seed))
    assert_same_bits(lambda: tf.random_normal([100], 2.0, 0.5, seed=op_seed))
    assert_same_bits(lambda: tf.truncated_normal([100], 2.0, 0.5, seed=op_seed))


@pytest.mark.parametrize("keep", [0.3, 0.5, 0.9])
def test_dropout_drops_the_same(keep: float) -> None:
    """The pattern of tf.nn.dropout: where keep_prob + uniform reaches 1."""
    assert_same_bits(lambda: tf.random_uniform([64, 100], seed=11) >= 1 - keep)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_stateless_by_python_api(dtype: str) -> None:
    for draw in (tf.random.stateless_uniform, tf.random.stateless_normal, tf.random.stateless_truncated_normal):
        assert_same_bits(lambda f=draw: f([1001], seed=[5, -6], dtype=dtype), n_runs=1)
    assert_same_bits(lambda: tf.random.stateless_uniform([1001], [5, 6], -4, 1000, tf.int64), n_runs=1)


def test_no_seeds_give_new_numbers() -> None:
    draw = all_kernels()["RandomUniform"].function
    shape = np.array([64], np.int32)
    first, second = ({}, {})
    one = draw(shape, dtype="float32", state=first)
    assert (one != draw(shape, dtype="float32", state=second)).any()
    assert (one != draw(shape, dtype="float32", state=first)).any()
    assert one.min() >= 0 and one.max() < 1


@pytest.mark.parametrize("raw", DRAWS)
def test_the_number_of_threads_does_not_matter(raw: str) -> None:
    before = parallel.n_threads()
    drawn = []
    for count in (1, 3):
        parallel.set_n_threads(count)
        drawn.append(all_kernels()[raw].function(np.array([300_007], np.int64), dtype="float32", seed=1, seed2=2, state={}))
    parallel.set_n_threads(before)
    np.testing.assert_array_equal(drawn[0], drawn[1])


def add_layers() -> None:
    """Layers as TF1 scripts write them; each initialiser is the default or a usual one."""
    x = tf.placeholder(tf.float32, [None, 8, 8, 3])
    y = tf.layers.conv2d(x, 5, 3, kernel_initializer=tf.truncated_normal_initializer(stddev=0.1, seed=3))
    y = tf.layers.conv2d(y, 4, 3, kernel_initializer=tf.glorot_normal_initializer(seed=4))
    y = tf.layers.dense(tf.layers.flatten(y), 7)
    y = tf.layers.dense(y, 6, kernel_initializer=tf.variance_scaling_initializer(2.0, seed=5))
    y = tf.layers.dense(y, 5, kernel_initializer=tf.random_normal_initializer(1.0, 0.3, seed=6))
    tf.layers.dense(y, 4, kernel_initializer=tf.random_uniform_initializer(-0.2, 0.4, seed=8))


def test_initial_weights_of_layers() -> None:
    device = Device()
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(42)
        add_layers()
        kernels = [v.initial_value for v in tf.trainable_variables() if "kernel" in v.name]
        assert len(kernels) == 6
        for _ in range(2):
            for tensor, expected in zip(kernels, sess.run(kernels), strict=True):
                np.testing.assert_array_equal(device.run(tensor), expected)


def test_a_mask_by_the_bits_is_the_comparison_of_the_numbers() -> None:
    """Over all mantissas, of which the numbers are multiples: bounds between two are alike. And for each kind of bound."""
    mantissas = np.arange(normals.N_MANTISSAS, dtype=np.uint32)
    bits = mantissas | np.random.default_rng(1).integers(0, 1 << 9, mantissas.size, np.uint32) << np.uint32(23)
    numbers = np.empty(bits.size, np.float32)
    blocks = range(0, bits.size, 4 * philox.TILE)
    for first in blocks:
        part = slice(first, first + 4 * philox.TILE)
        normals.uniform_float32(bits[part].reshape(-1, 4).copy(), numbers[part])
    np.testing.assert_array_equal(numbers.astype(np.float64) * normals.N_MANTISSAS, mantissas)
    near = [np.nextafter(np.float32(b), np.float32(to)) for b in (0.1, 0.5, 1.0, 0.25 + 2.0**-23) for to in (0, 2)]
    bounds = [*near, 0.0, -0.0, 1e-40, 2.0**-126, 2.0**-24, 0.1, 0.5, 1.0, -0.5, 7.0, np.inf, -np.inf, np.nan, 1 - 2.0**-24]
    made = np.empty(bits.size, bool)
    with flushed():
        for bound in np.array(bounds, np.float32):
            for first in blocks:
                part = slice(first, first + 4 * philox.TILE)
                normals.uniform_at_least(float(bound))(bits[part].reshape(-1, 4).copy(), made[part])
            np.testing.assert_array_equal(made, numbers >= bound, err_msg=str(bound))


@pytest.mark.parametrize("size", [0, 1, 3, 5, 24577, 200001])
def test_masks_of_any_size_are_those_of_the_numbers(size: int) -> None:
    kernels = all_kernels()
    drawn: dict[str, Any] = {}
    masked: dict[str, Any] = {}
    bound = np.array(0.3, np.float32)
    shape = np.array([size], np.int32)
    for _ in range(3):
        numbers = kernels["RandomUniform"].function(shape, dtype="float32", seed=4, seed2=5, state=drawn)
        mask = kernels["_RandomMask"].function(shape, bound, seed=4, seed2=5, state=masked)
        np.testing.assert_array_equal(mask, numbers >= bound)
