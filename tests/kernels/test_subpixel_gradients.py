"""Gradients by images of strided convolutions as sub-pixel convolutions, against TensorFlow's."""

from __future__ import annotations

from functools import partial
from unittest import mock

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from npu_runtime.kernels.conv import im2col, subpixel_input_gradient
from npu_runtime.kernels.conv.conv_gradients import SUBPIXEL, _way_by_input, conv2d_backprop_input
from npu_runtime.kernels.windows.windows import Layout
from tests.kernels import oracle
from tests.kernels.cases.conv.conv_gradients import gradients
from tests.kernels.harness import Case, arr, case
from tests.kernels.test_convolutions import axes_of, convolutions, few, judged
from tests.kernels.test_oracle import assert_matches


@few
@given(convolutions(most_dilation=1), st.sampled_from([1, 1 << 8, 1 << 20]))
def test_any_stride_and_padding_in_blocks_of_any_size(one: Case, block_bytes: int) -> None:
    by_image = gradients(one)[0]
    (_, w, dy), expected = by_image.inputs, oracle.run(by_image)[0][0]
    rows, cols = axes_of(one)
    assume(dy.size and subpixel_input_gradient.can_take(rows, cols))
    dx = np.empty_like(expected)
    im2col.blocks.cache_clear()
    cut = partial(im2col.blocks, block_bytes=block_bytes)
    with mock.patch.object(im2col, "MIN_POSITIONS", 1), mock.patch.object(subpixel_input_gradient, "blocks", cut):
        subpixel_input_gradient.input_gradient(dy, w, rows, cols, dx)
    im2col.blocks.cache_clear()
    assert_matches(dx, expected, judged(by_image))


def _strided(kernel: int) -> Case:
    x, w = arr(3, 12, 12, 5, seed=1), arr(kernel, kernel, 5, 6, seed=2)
    return gradients(case("Conv2D", x, w, strides=[1, 2, 2, 1], padding="SAME"))[0]


def test_a_gradient_that_is_not_finite_reaches_only_what_had_read_it() -> None:
    one = _strided(3)
    sizes, w, dy = one.inputs
    dy = dy.copy()
    dy[0, 2, 2, 1], dy[1, 0, 0, 0] = np.inf, np.nan
    one = Case(one.op, (sizes, w, dy), one.attrs)
    rows, cols = Layout.of([1, 2, 2, 1], "SAME", "NHWC").axes((12, 12), (3, 3))
    assert subpixel_input_gradient.has_zeros(rows, cols)
    expected = oracle.run(one)[0][0]
    made = conv2d_backprop_input(sizes, w, dy, strides=[1, 2, 2, 1], padding="SAME")
    np.testing.assert_array_equal(np.isfinite(made), np.isfinite(expected))


def test_small_strided_gradients_are_taken_so() -> None:
    one = _strided(4)
    sizes, w, dy = one.inputs
    rows, cols = Layout.of([1, 2, 2, 1], "SAME", "NHWC").axes((12, 12), (4, 4))
    assert _way_by_input(dy, w, rows, cols)[0] == SUBPIXEL
    made = conv2d_backprop_input(sizes, w, dy, strides=[1, 2, 2, 1], padding="SAME")
    assert_matches(made, oracle.run(one)[0][0], one)
