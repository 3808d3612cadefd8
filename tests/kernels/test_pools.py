"""Pools beyond the listed cases: any geometry by hypothesis, ties inside a real graph, channels first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from npu_runtime.errors import InvalidArgument, Unimplemented
from npu_runtime.kernels.fused.pooled_relu_gradient import max_pool_relu_grad
from npu_runtime.kernels.pool import pool_routing
from npu_runtime.kernels.pool.pooling import avg_pool, max_pool
from npu_runtime.kernels.pool.pooling_gradients import avg_pool_grad, max_pool_grad
from tests.how_many import drawn
from tests.kernels import oracle
from tests.kernels.cases.pool.pooling_gradients import of_forward
from tests.kernels.harness import Case, arr, call, case
from tests.kernels.test_oracle import assert_matches


@st.composite
def pools(draw: st.DrawFn) -> Case:
    """A pool that fits, over values with many ties."""
    small = st.integers(1, 4)
    kernel, stride = (draw(small), draw(small)), (draw(small), draw(small))
    extents = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    padding = draw(st.sampled_from(["SAME", "VALID"]))
    assume(padding == "SAME" or all(n >= k for n, k in zip(extents, kernel, strict=True)))
    x = arr(draw(small), *extents, draw(small))
    if draw(st.booleans()):
        x = np.maximum(np.rint(x), 0)
    op = draw(st.sampled_from(["MaxPool", "AvgPool"]))
    return case(op, x, ksize=[1, *kernel, 1], strides=[1, *stride, 1], padding=padding)


def both(one: Case) -> list[Case]:
    return [one, of_forward(one)]


@settings(deadline=None, max_examples=drawn(100))
@given(pools())
def test_any_pool_and_its_gradient(one: Case) -> None:
    for each in both(one):
        assert_matches(call(each, each.flat())[0], oracle.run(each)[0][0], each)


HARD = st.sampled_from([0.0, 0.0, 0.0, np.nan, -np.inf, np.inf, -1.0])


@settings(deadline=None, max_examples=drawn(150))
@given(pools(), st.sampled_from([1, 40, 1 << 18]), HARD, st.booleans())
def test_gradient_of_a_maximum_in_bands(one: Case, elements: int, hard: float, is_behind_relu: bool) -> None:
    """Any number of bands, windows with ties and without numbers; alone, and with the gradient of a Relu before the pool."""
    x = one.inputs[0].copy()
    x[..., :: max(1, x.shape[2] // 2), 0] += hard
    attrs = one.attrs
    gradient = of_forward(case("MaxPool", x, **attrs))
    before, y, dy = gradient.inputs
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool_routing, "BAND_ELEMENTS", elements)
        if is_behind_relu:
            mine, passed = max_pool_relu_grad(x, y, dy, **attrs)
        else:
            mine = max_pool_grad(x, y, dy, **attrs)
    np.testing.assert_array_equal(before, x)  # nothing is computed in the inputs
    expected = oracle.run(gradient)[0][0]
    if is_behind_relu:
        expected = oracle.run(case("ReluGrad", expected, x))[0][0]
        np.testing.assert_allclose(passed.sum(axis=(0, 1, 2)), expected.sum(axis=(0, 1, 2)), rtol=1e-5, atol=1e-5)
    assert_matches(mine, expected, gradient)


def nchw(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2))


@settings(deadline=None, max_examples=drawn(30))
@given(pools())
def test_channels_first_is_the_transposed_result(one: Case) -> None:
    """TensorFlow's CPU pools channels-last images only: that result, transposed, is the judge."""
    turned = {name: [v[0], v[3], v[1], v[2]] for name, v in one.attrs.items() if name in ("ksize", "strides")}
    keywords: dict[str, Any] = {**one.attrs, **turned, "data_format": "NCHW"}
    forward, gradient = both(one)
    x = nchw(one.inputs[0])
    dy = nchw(gradient.inputs[-1])
    if one.op == "MaxPool":
        y = max_pool(x, **keywords)
        dx = max_pool_grad(x, y, dy, **keywords)
    else:
        y = avg_pool(x, **keywords)
        dx = avg_pool_grad(np.array(x.shape, np.int32), dy, **keywords)
    assert_matches(y, nchw(oracle.run(forward)[0][0]), one)
    assert_matches(dx, nchw(oracle.run(gradient)[0][0]), one)


@pytest.mark.parametrize(("size", "stride"), [(2, 2), (3, 2), (3, 1)])
def test_ties_after_a_relu_in_a_graph(size: int, stride: int) -> None:
    """TensorFlow may swap its kernels inside a graph (oneDNN): the gradient still goes where ours does."""
    values = np.rint(arr(4, 9, 9, 8, low=-4, high=3))
    with tf.Graph().as_default(), tf.Session() as sess:
        fed = tf.placeholder(tf.float32, values.shape)
        active = tf.nn.relu(fed)
        pooled = tf.nn.max_pool(active, [1, size, size, 1], [1, stride, stride, 1], "SAME")
        weights = tf.constant(arr(*pooled.shape.as_list()))
        gradient = tf.gradients(tf.reduce_sum(pooled * weights), active)[0]
        x, y, dy, dx = sess.run([active, pooled, weights, gradient], {fed: values})
    mine = max_pool_grad(x, y, dy, ksize=[1, size, size, 1], strides=[1, stride, stride, 1], padding="SAME")
    np.testing.assert_allclose(mine, dx, rtol=1e-6, atol=1e-6)


def test_what_does_not_fit_is_an_invalid_argument() -> None:
    attrs: dict[str, Any] = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    with pytest.raises(InvalidArgument, match="negative"):
        max_pool(arr(1, 4, 4, 1), ksize=[1, 9, 9, 1], strides=[1, 1, 1, 1], padding="VALID")
    with pytest.raises(InvalidArgument, match="must be 4-dimensional"):
        max_pool(arr(4, 4, 1), **attrs)
    with pytest.raises(Unimplemented, match="batch dimension"):
        max_pool(arr(4, 4, 4, 1), **{**attrs, "ksize": [2, 2, 2, 1]})
    with pytest.raises(InvalidArgument, match=r"Expected grad shape to be \[1,2,2,1\], but got \[1,2,3,1\]"):
        max_pool_grad(arr(1, 4, 4, 1), arr(1, 2, 2, 1), arr(1, 2, 3, 1), **attrs)
    with pytest.raises(InvalidArgument, match=r"Expected grad shape to be \[1,2,2,1\], but got \[1,2,3,1\]"):
        avg_pool_grad(np.array([1, 4, 4, 1], np.int32), arr(1, 2, 3, 1), **attrs)
