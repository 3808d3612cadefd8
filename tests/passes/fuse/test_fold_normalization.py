"""Widening 1x1 convolutions with the normalisation behind them: what joins, and that the numbers are those of float64."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.analysis.node_work import node_work
from npu_runtime.graph.ir import Graph
from npu_runtime.kernels.fused import normalized_product_gradients, normalized_products
from npu_runtime.passes.fuse.fold_normalization import fold_normalization
from npu_runtime.passes.fuse.fuse_normalization_gradients import fuse_normalization_gradients
from tests.passes.graphs import imported, ops, run_passes
from tests.runtime.device import device_session

SHAPE, FILTERS = (4, 32, 33, 16), 64
FUSED = ["_NormalizedProduct", "_NormalizedProductGrad", "_NormalizedProductInputGrad"]
ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "none": lambda y: y,
    "relu": tf.nn.relu,
    "relu6": tf.nn.relu6,
    "leaky": partial(tf.nn.leaky_relu, alpha=0.3),
}


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def images(shift: float = 0.0, shared: float = 0.0, seed: int = 1) -> np.ndarray:
    """shift: added to all.  shared: how much larger than its own part is what a pixel's channels have in common."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(SHAPE) + shift + shared * rng.standard_normal((*SHAPE[:3], 1))
    return x.astype(np.float32)


def weights(narrow: int = 0) -> np.ndarray:
    """narrow: columns whose weights sum to zero, so that what channels have in common is lost in them."""
    w = np.random.default_rng(2).standard_normal((1, 1, SHAPE[3], FILTERS)) / 4
    w[..., :narrow] -= w[..., :narrow].mean(axis=2, keepdims=True)
    return w.astype(np.float32)


def network(dtype: Any, activation: str, w: np.ndarray, mask: np.ndarray, has_side: bool) -> tuple[Any, list[Any]]:
    """(images, [the result, the gradients of images, weights, scale and offset, each doubled, and the statistics])."""
    rng = np.random.default_rng(3)
    x = tf.placeholder(dtype, SHAPE)
    kernel = tf.Variable(w.astype(dtype), use_resource=True)
    scale, offset = (tf.Variable(rng.uniform(0.5, 1.5, FILTERS).astype(dtype), use_resource=True) for _ in range(2))
    pixels = tf.nn.conv2d(x, kernel, 1, "SAME")
    if dtype == np.float32:
        normalised, mean, variance = tf.nn.fused_batch_norm(pixels, scale, offset, epsilon=1e-3)
    else:
        mean, variance = tf.nn.moments(pixels, [0, 1, 2])
        normalised = tf.nn.batch_normalization(pixels, mean, variance, offset, scale, 1e-3)
        variance *= np.prod(SHAPE[:3]) / (np.prod(SHAPE[:3]) - 1)
    side = tf.constant(rng.standard_normal((*SHAPE[:3], FILTERS)), dtype) * 0.5
    y = ACTIVATIONS[activation](normalised + side if has_side else normalised)
    factors = tf.constant(rng.standard_normal((*SHAPE[:3], FILTERS)) * mask, dtype)
    gradients = tf.gradients(tf.reduce_sum(y * factors), [x, kernel, scale, offset])
    return x, [y, *[gradient * 2.0 for gradient in gradients], mean, variance]


def run(make: Callable[[], tf.Session], dtype: Any, value: np.ndarray, *args: Any) -> list[np.ndarray]:
    with tf.Graph().as_default():
        x, fetched = network(dtype, *args)
        with make() as session:
            session.run(tf.global_variables_initializer())
            return [np.asarray(one, np.float64) for one in session.run(fetched, {x: value})]


def away_from_corners(activation: str, value: np.ndarray, w: np.ndarray, has_side: bool) -> np.ndarray:
    """1 where rounding cannot decide on which side of an activation's corner an element is."""
    z = run(tf.Session, np.float64, value, "none", w, np.ones(1), has_side)[0]
    corners = {"none": (), "relu6": (0.0, 6.0)}.get(activation, (0.0,))
    return np.all([np.abs(z - corner) > 1e-2 for corner in corners], axis=0) if corners else np.ones(1)


INPUTS = {
    "plain": (images(), weights(), 2e-6),
    "far from zero": (images(shift=100.0), weights(), 2e-6),
    "correlated": (images(shared=100.0), weights(narrow=9), 1e-5),
    "badly correlated": (images(shared=1000.0), weights(narrow=9), 1e-5),
    "constant": (np.zeros(SHAPE, np.float32), weights(), 2e-6),
}
"""Images, weights, and how far from float64 a result may be, by its norm."""


@pytest.mark.whole(beyond=4)
@pytest.mark.parametrize("has_side", [False, True])
@pytest.mark.parametrize("activation", list(ACTIVATIONS))
@pytest.mark.parametrize("given", list(INPUTS))
def test_numbers_are_as_close_to_float64_as_tensorflow_s(given: str, activation: str, has_side: bool) -> None:
    value, w, share = INPUTS[given]
    args = (value, activation, w, away_from_corners(activation, value, w, has_side), has_side)
    exact, theirs, ours = (
        run(make, dtype, *args)
        for make, dtype in ((tf.Session, np.float64), (tf.Session, np.float32), (device_session, np.float32))
    )
    for true, peer, mine in zip(exact, theirs, ours, strict=True):
        size = np.linalg.norm(true)
        allowed = max(share * size, 3 * np.linalg.norm(peer - true), 1e-30)
        assert np.linalg.norm(mine - true) <= allowed


def compiled(fetched: list[Any], x: Any, shape: tuple[int, ...] = SHAPE) -> Graph:
    """The graph of some fetches behind the passes up to the one that folds."""
    graph = imported(fetched, {x: shape})
    run_passes(graph, last=fold_normalization)
    return graph


@pytest.mark.whole(but=("relu*", "none*"))
@pytest.mark.parametrize("has_side", [False, True])
@pytest.mark.parametrize("activation", list(ACTIVATIONS))
def test_a_convolution_its_normalisation_and_their_gradients_are_three_nodes(activation: str, has_side: bool) -> None:
    x, fetched = network(np.float32, activation, weights(), np.ones(1), has_side)
    found = ops(compiled(fetched, x))
    assert [op for op in found if op.startswith("_Normalized")] == FUSED
    assert not [op for op in found if "Conv2D" in op or "BatchNorm" in op]


def test_without_a_gradient_by_the_image_there_are_two_nodes() -> None:
    x, fetched = network(np.float32, "relu", weights(), np.ones(1), False)
    found = ops(compiled([fetched[0], *fetched[2:]], x))
    assert [op for op in found if op.startswith("_Normalized")] == FUSED[:2]


def _trained(size: int = 1, stride: int = 1, filters: int = FILTERS, training: bool = True) -> tuple[Any, Any, Any, list[Any]]:
    """(images, the convolution's result, the activation's, the doubled gradients)."""
    x = tf.placeholder(tf.float32, SHAPE)
    pixels = tf.layers.conv2d(x, filters, size, stride, padding="same", use_bias=False)
    y = tf.nn.relu(tf.layers.batch_normalization(pixels, training=training))
    return x, pixels, y, [2.0 * one for one in tf.gradients(tf.square(y), [x, *tf.trainable_variables()])]


@pytest.mark.parametrize("changes", [{"size": 3}, {"stride": 2}, {"filters": 4}, {"training": False}], ids=str)
def test_other_convolutions_and_normalisations_stay(changes: dict[str, Any]) -> None:
    x, _, _, fetched = _trained(**changes)
    assert not set(FUSED) & set(ops(compiled(fetched, x)))


def test_what_somebody_else_sees_stays() -> None:
    x, pixels, y, doubled = _trained()
    by_pixels, by_w = (tf.gradients(tf.square(y), one)[0] for one in (pixels, tf.trainable_variables()[0]))
    for seen in (pixels, tf.reduce_max(pixels), by_pixels, tf.reduce_max(by_pixels), by_w):
        assert not set(FUSED) & set(ops(compiled([*doubled, seen], x)))


def test_reserved_outputs_that_are_fetched_stay_zeros() -> None:
    x, _, _, fetched = _trained()
    graph = tf.get_default_graph()
    (gradient,) = [op for op in graph.get_operations() if op.type == "FusedBatchNormGradV3"]
    assert not set(FUSED) & set(ops(compiled([*fetched, *gradient.outputs[3:]], x)))


def test_the_gradient_of_another_convolution_stays() -> None:
    x, pixels, y, _ = _trained()
    (by_pixels,) = tf.gradients(tf.square(y), pixels)
    by_filter = tf.nn.conv2d_backprop_filter(x, [3, 3, SHAPE[3], FILTERS], by_pixels, [1, 1, 1, 1], "SAME")
    assert not set(FUSED) & set(ops(compiled([2.0 * by_filter], x)))


@pytest.mark.parametrize("is_resource", [False, True])
def test_weights_that_change_before_the_gradient(is_resource: bool) -> None:
    """A resource variable's value stays once it is read; a ref variable is read where it stood."""
    x, kernel = tf.placeholder(tf.float32, SHAPE), tf.Variable(weights(), use_resource=is_resource)
    scale, offset = (tf.Variable(np.full(FILTERS, value, np.float32), use_resource=True) for value in (1.5, 0.1))
    y = tf.nn.relu(tf.nn.fused_batch_norm(tf.nn.conv2d(x, kernel, 1, "SAME"), scale, offset)[0])
    with tf.control_dependencies([y]), tf.control_dependencies([tf.group(kernel.assign(kernel * 0.5 + 1.0))]):
        from_there = tf.constant(1.0) * x[..., :1]
    gradients = tf.gradients(y, [kernel, scale, offset], grad_ys=tf.ones_like(y) * from_there)
    fetched = [2.0 * gradient for gradient in gradients]
    assert bool(set(FUSED) & set(ops(compiled(fetched, x)))) == is_resource
    results = []
    for make in (tf.Session, device_session):
        with make() as session:
            session.run(tf.global_variables_initializer())
            results.append(session.run(fetched, {x: images()}))
    for theirs, mine in zip(*results, strict=True):
        assert np.linalg.norm(mine - theirs) <= 1e-4 * np.linalg.norm(theirs)


@pytest.mark.parametrize("is_resource", [False, True])
def test_weights_that_an_optimizer_updates_are_folded(is_resource: bool) -> None:
    with tf.variable_scope("net", use_resource=is_resource):
        x, _, y, _ = _trained()
    loss = tf.reduce_mean(tf.square(y))
    with tf.control_dependencies([tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)]):
        fetched = [loss, *[variable.read_value() for variable in tf.trainable_variables()]]
    assert set(FUSED[:2]) <= set(ops(compiled(fetched, x)))
    results = []
    for make in (tf.Session, device_session):
        with make() as session:
            session.run(tf.global_variables_initializer())
            for variable in tf.trainable_variables():
                variable.load(np.random.default_rng(6).uniform(-0.5, 0.5, variable.shape).astype(np.float32), session)
            results.append([session.run(fetched, {x: images(seed=seed)}) for seed in range(3)])
    for theirs, mine in zip(*results, strict=True):
        for peer, one in zip(theirs, mine, strict=True):
            assert np.linalg.norm(one - peer) <= 1e-4 * np.linalg.norm(peer)


def test_the_work_is_that_of_the_separate_nodes() -> None:
    x, fetched = network(np.float32, "relu6", weights(), np.ones(1), False)
    whole, folded = imported(fetched, {x: SHAPE}), compiled(fetched, x)
    run_passes(whole, last=fuse_normalization_gradients)
    assert sum(node_work(whole, node) for node in whole) == sum(node_work(folded, node) for node in folded)


def test_a_nan_among_the_pixels_is_everywhere_behind_the_normalisation() -> None:
    value = images()
    value[1, 2, 3, 4] = np.nan
    args = (value, "relu", weights(), np.ones(1), False)
    theirs, mine = (run(make, np.float32, *args) for make in (tf.Session, device_session))
    for peer, one in zip(theirs[1:], mine[1:], strict=True):
        np.testing.assert_array_equal(np.isnan(one), np.isnan(peer))


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other cuts give the same up to rounding: no row is left out or taken twice."""
    args = (images(), "relu", weights(), np.ones(1), True)
    expected = run(device_session, np.float32, *args)
    for module in (normalized_products, normalized_product_gradients):
        monkeypatch.setattr(
            module, "blocks_of", lambda pixels, filters: (1, tuple(slice(i, i + 97) for i in range(0, pixels, 97)))
        )
    for mine, one in zip(run(device_session, np.float32, *args), expected, strict=True):
        assert np.linalg.norm(mine - one) <= 1e-5 * np.linalg.norm(one)


def test_running_averages_are_tensorflow_s() -> None:
    """The op itself mixes the batch's statistics into those before, as in Keras layers."""
    rng = np.random.default_rng(5)
    x, kernel = tf.placeholder(tf.float32, SHAPE), tf.Variable(weights(), use_resource=True)
    scale, offset, mean = (tf.Variable(rng.uniform(0.5, 1.5, FILTERS).astype(np.float32), use_resource=True) for _ in range(3))
    y, *kept = tf.nn.fused_batch_norm(
        tf.nn.conv2d(x, kernel, 1, "SAME"), scale, offset, mean, mean + 1.0, exponential_avg_factor=0.25
    )
    fetched = [2.0 * one for one in tf.gradients(tf.nn.relu(y), [x, kernel, scale, offset])] + kept
    assert set(FUSED) <= set(ops(compiled(fetched, x)))
    results = []
    for make in (tf.Session, device_session):
        with make() as session:
            session.run(tf.global_variables_initializer())
            results.append(session.run(fetched, {x: images(shift=0.5)}))
    for theirs, mine in zip(*results, strict=True):
        assert np.linalg.norm(mine - theirs) <= 1e-4 * np.linalg.norm(theirs)


def test_sums_over_many_pixels_keep_their_digits() -> None:
    """Pixels of which no divisor is left, so that every one is a line of its own."""
    rng = np.random.default_rng(7)
    x, dz = (rng.uniform(0, 1, (1, 1, 40009, n)).astype(np.float32) for n in (SHAPE[3], FILTERS))
    w, scale = weights(), np.ones(FILTERS, np.float32)
    empty = np.empty(0, np.float32)
    made = normalized_products.normalized_product(x, w, scale, scale, empty, empty)
    given = (made[4], made[6], made[7])
    _, _, by_offset, *_ = normalized_product_gradients.normalized_product_grad(dz, x, w, scale, *given)
    np.testing.assert_allclose(by_offset, dz.sum((0, 1, 2), dtype=np.float64), rtol=2e-7)


def test_numbers_whose_squares_overflow_are_normalised() -> None:
    x = images() * np.float32(1e18)
    empty, ones = np.empty(0, np.float32), np.ones(FILTERS, np.float32)
    y = normalized_products.normalized_product(x, weights() * np.float32(0.1), ones, ones, empty, empty)[0]
    exact = x.astype(np.float64).reshape(-1, SHAPE[3]) @ (weights().reshape(SHAPE[3], FILTERS) * np.float32(0.1))
    expected = (exact - exact.mean(0)) / exact.std(0) + 1
    np.testing.assert_allclose(y.reshape(expected.shape), expected, atol=1e-4)
