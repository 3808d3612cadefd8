"""Batch normalisation in layouts and types where TensorFlow's CPU has no kernel or leaves outputs undefined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npu_runtime.errors import InvalidArgument
from npu_runtime.kernels.elementwise.elementwise_gradients import relu6_grad
from npu_runtime.kernels.fused.normalized_activation_gradient import batch_norm_activation_grad
from npu_runtime.kernels.norm.normalization import fused_batch_norm_v3
from npu_runtime.kernels.norm.normalization_gradients import fused_batch_norm_grad_v3
from tests.kernels import oracle
from tests.kernels.cases.norm.normalization import norm
from tests.kernels.cases.norm.normalization_gradients import grad
from tests.kernels.harness import Case, arr, call
from tests.kernels.test_oracle import assert_matches

LAYOUTS = {"NCHW": (3, 4, 5, 6), "NDHWC": (3, 2, 4, 5, 6), "NCDHW": (3, 2, 4, 5, 6)}
each_layout = pytest.mark.parametrize("layout", list(LAYOUTS))
each_mode = pytest.mark.parametrize("is_training", [True, False])


def turned(x: np.ndarray, layout: str) -> np.ndarray:
    """A channels-last array in a layout."""
    return np.ascontiguousarray(np.moveaxis(x, -1, 1)) if "C" in layout[:2] else x


def as_images(one: Case, layout: str) -> Case:
    """The case with its arrays of pixels as channels-last images of rank 4, which TensorFlow computes."""
    flat = tuple(v.reshape(len(v), -1, 1, v.shape[-1]) if v.ndim > 1 else v for v in one.inputs)
    return Case(one.op, flat, one.attrs)


def assert_same_pixels(actual: list[np.ndarray], expected: list[np.ndarray], layout: str, one: Case) -> None:
    assert_matches(actual[0], turned(expected[0].reshape(LAYOUTS[layout]), layout), one)
    for mine, theirs in zip(actual[1:3], expected[1:3], strict=True):
        assert_matches(mine, theirs, one)


@each_layout
@each_mode
def test_any_layout_is_the_turned_channels_last_result(layout: str, is_training: bool) -> None:
    one = norm("FusedBatchNormV3", arr(*LAYOUTS[layout]), "", is_training=is_training)
    inputs = [turned(v, layout) if v.ndim > 1 else v for v in one.inputs]
    actual = fused_batch_norm_v3(*inputs, data_format=layout, is_training=is_training)
    assert_same_pixels(list(actual), oracle.run(as_images(one, layout))[0], layout, one)


@each_layout
@each_mode
def test_gradient_of_any_layout_is_the_turned_channels_last_result(layout: str, is_training: bool) -> None:
    one = grad("FusedBatchNormGradV3", LAYOUTS[layout], "", is_training=is_training)
    inputs = [turned(v, layout) if v.ndim > 1 else v for v in one.inputs]
    actual = fused_batch_norm_grad_v3(*inputs, data_format=layout, is_training=is_training)
    assert_same_pixels(list(actual), oracle.run(as_images(one, layout))[0], layout, one)


@each_mode
@pytest.mark.parametrize("op", ["FusedBatchNormV2", "FusedBatchNormV3"])
def test_half_precision(op: str, is_training: bool) -> None:
    forward = norm(op, arr(3, 4, 5, 6, dtype="float16"), "", is_training=is_training)
    backward = grad(op.replace("Norm", "NormGrad"), (3, 4, 5, 6), "", "float16", is_training=is_training)
    for one in (forward, backward):
        actual, expected = call(one, one.flat()), oracle.run(one)[0]
        for mine, theirs in zip(actual[:3], expected[:3], strict=True):
            assert_matches(mine, theirs, one)


@each_mode
@pytest.mark.parametrize("target", ["new", "gradients", "x"])
@pytest.mark.parametrize("mean", [0.0, 50.0])
def test_an_activation_s_gradient_inside_changes_no_bit(is_training: bool, target: str, mean: float) -> None:
    """Over several blocks, with a NaN among the gradients, wherever the result goes."""
    shape, channels = (13, 28, 27, 31), 31
    dy, features, x = arr(*shape), arr(*shape, low=-1, high=7, seed=1), arr(*shape, seed=2) + np.float32(mean)
    dy[0, 0, 0, 0] = np.nan
    vectors = [arr(channels, low=0.5, seed=3), np.full(channels, mean, np.float32), arr(channels, low=0.5, seed=4)]
    passed = np.empty_like(dy)
    relu6_grad(passed, dy, features)
    expected = fused_batch_norm_grad_v3(passed, x, *vectors, arr(0), is_training=is_training)
    buffer = {"new": np.empty_like(x), "gradients": dy, "x": x}[target]
    out = (buffer, *[np.empty_like(v) for v in expected[1:]])
    actual = batch_norm_activation_grad(
        dy, features, x, *vectors, arr(0), activation="Relu6Grad", is_training=is_training, out=out
    )
    assert actual[0] is buffer
    for mine, theirs in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"x": arr(2, 3, 4)}, "input must be 4-dimensional"),
    ({"scale": arr(4)}, r"scale must have the same number of elements as the channels of x, got \[4\] and 3"),
]


@pytest.mark.parametrize(("changes", "message"), BAD, ids=["rank", "channels"])
def test_what_does_not_fit_is_an_invalid_argument(changes: dict[str, Any], message: str) -> None:
    inputs = {"x": arr(2, 2, 2, 3), "scale": arr(3), "offset": arr(3), "mean": arr(0), "variance": arr(0), **changes}
    with pytest.raises(InvalidArgument, match=message):
        fused_batch_norm_v3(*inputs.values())
