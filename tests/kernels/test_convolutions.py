"""Convolutions beyond the listed cases: any geometry by hypothesis, layouts and gradients that TensorFlow's CPU lacks."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.algorithm_choice import placeholder
from npu_runtime.kernels.base import all_kernels
from npu_runtime.kernels.conv import (
    col2im,
    column_winograd,
    conv_interior,
    im2col,
    line_winograd,
    strided_input_gradient,
    winograd,
)
from npu_runtime.kernels.conv.conv import choose_algorithm, conv2d, conv_shape, fastest_way
from npu_runtime.kernels.conv.conv_gradients import conv2d_backprop_filter, conv2d_backprop_input
from npu_runtime.kernels.conv.zero_windows import blank_windows
from npu_runtime.kernels.fused import bias_activation
from npu_runtime.kernels.linalg import gemm_unpacked
from npu_runtime.kernels.windows.windows import Axis, Layout, phases
from tests.how_many import drawn
from tests.kernels import oracle
from tests.kernels.cases.conv.conv import COLUMNS, FEW_CHANNELS, ONE_CHANNEL, SMALL_IMAGES, WINOGRAD
from tests.kernels.cases.conv.conv_gradients import gradients
from tests.kernels.harness import Case, arr, call, case
from tests.kernels.test_oracle import RELATIVE, assert_matches

few = settings(deadline=None, max_examples=drawn(60))
COLUMN = COLUMNS[0].inputs[0].shape, COLUMNS[0].inputs[1].shape


@st.composite
def convolutions(draw: st.DrawFn, most_dilation: int = 3) -> Case:
    """A Conv2D that fits: odd sizes, any stride, dilation and padding."""
    small = st.integers(1, 4)
    kernel = draw(small), draw(small)
    stride = draw(small), draw(small)
    dilation = draw(st.integers(1, most_dilation)), draw(st.integers(1, most_dilation))
    extents = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    padding = draw(st.sampled_from(["SAME", "VALID", "EXPLICIT"]))
    attrs: dict[str, Any] = {"strides": [1, *stride, 1], "dilations": [1, *dilation, 1], "padding": padding}
    pads = [0, 0, *(draw(st.integers(0, min(kernel) - 1)) for _ in range(4)), 0, 0]
    room = [pads[2] + pads[3], pads[4] + pads[5]] if padding == "EXPLICIT" else [0, 0]
    if padding == "EXPLICIT":
        attrs["explicit_paddings"] = pads
    if padding != "SAME":
        fits = [n + r >= (k - 1) * d + 1 for n, r, k, d in zip(extents, room, kernel, dilation, strict=True)]
        assume(all(fits))
    depth, filters, batch = draw(small), draw(small), draw(st.integers(1, 3))
    return case("Conv2D", arr(batch, *extents, depth), arr(*kernel, depth, filters, seed=1), **attrs)


def judged(one: Case) -> Case:
    """The case with a tolerance for its sums: a rounding error is relative to the terms, which may cancel in the result."""
    inputs = tuple(np.abs(v) if v.dtype.kind == "f" else v for v in one.inputs)
    terms = oracle.run(replace(one, inputs=inputs))[0][0]
    return replace(one, atol=RELATIVE["float32"] * float(terms.max(initial=0.0)))


def assert_same_as_tensorflow(one: Case) -> None:
    expected, _ = oracle.run(one)
    assert_matches(call(one, one.flat())[0], expected[0], judged(one))


@few
@given(convolutions())
def test_any_convolution(one: Case) -> None:
    assert_same_as_tensorflow(one)


@few
@given(convolutions(most_dilation=1))
def test_any_gradient(one: Case) -> None:
    for gradient in gradients(one):
        assert_same_as_tensorflow(gradient)


@pytest.mark.parametrize("rows", [6, 8, 9, 10, 20])
def test_tall_filters_over_words(rows: int) -> None:
    """Filters as high as a text is long, as networks for texts have them: a tile of Winograd has no outputs of nine rows."""
    one = case("Conv2D", arr(2, 20, 8, 1), arr(rows, 8, 1, 100, seed=1), strides=[1, 1, 1, 1], padding="VALID")
    assert_same_as_tensorflow(one)
    for gradient in gradients(one):
        assert_same_as_tensorflow(gradient)


def _inner(a: np.ndarray, b: np.ndarray) -> float:
    return float((a.astype(np.float64) * b).sum())


def assert_gradients_are_adjoint(one: Case) -> None:
    """A gradient of a linear map is its adjoint: <dx, x'> = <dy, conv(x', w)> for any x', with TensorFlow's own conv."""
    x, w = one.inputs
    by_input, by_filter = gradients(one)
    dx, dw = call(by_input, by_input.flat())[0], call(by_filter, by_filter.flat())[0]
    dy = by_filter.inputs[2]
    for seed in range(3):
        other_x, other_w = arr(*x.shape, seed=seed + 5), arr(*w.shape, seed=seed + 5)
        by_x = oracle.run(Case("Conv2D", (other_x, w), one.attrs))[0][0]
        by_w = oracle.run(Case("Conv2D", (x, other_w), one.attrs))[0][0]
        scale = max(1.0, float(np.abs(dy).sum()))
        assert abs(_inner(dx, other_x) - _inner(dy, by_x)) < 2e-5 * scale
        assert abs(_inner(dw, other_w) - _inner(dy, by_w)) < 2e-5 * scale


@settings(deadline=None, max_examples=drawn(30))
@given(convolutions())
def test_gradients_with_dilation_are_adjoint(one: Case) -> None:
    assert_gradients_are_adjoint(one)


@pytest.mark.parametrize("stride", [1, 2])
def test_gradients_of_groups_are_adjoint(stride: int) -> None:
    assert_gradients_are_adjoint(
        case("Conv2D", arr(2, 7, 6, 6), arr(3, 3, 2, 9, seed=1), strides=[1, stride, stride, 1], padding="SAME")
    )


def channels_first(one: Case) -> dict[str, Any]:
    """The attributes of a case for data_format NCHW."""
    turned = {name: [v[0], v[3], v[1], v[2]] for name, v in one.attrs.items() if name in ("strides", "dilations")}
    pads = one.attrs.get("explicit_paddings", [])
    explicit = {"explicit_paddings": [*pads[:2], *pads[6:], *pads[2:6]]} if pads else {}
    return {**one.attrs, **turned, **explicit, "data_format": "NCHW"}


def nchw(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2))


@settings(deadline=None, max_examples=drawn(30))
@given(convolutions(most_dilation=1))
def test_channels_first_is_the_transposed_result(one: Case) -> None:
    """TensorFlow's CPU has no NCHW convolution: its NHWC one, transposed, is the judge."""
    x, w = one.inputs
    keywords = channels_first(one)
    assert_matches(conv2d(nchw(x), w, **keywords), nchw(oracle.run(one)[0][0]), judged(one))
    by_input, by_filter = gradients(one)
    sizes = np.array(nchw(x).shape, np.int32)
    dx = conv2d_backprop_input(sizes, w, nchw(by_input.inputs[2]), **keywords)
    assert_matches(dx, nchw(oracle.run(by_input)[0][0]), judged(by_input))
    dw = conv2d_backprop_filter(nchw(x), by_filter.inputs[1], nchw(by_input.inputs[2]), **keywords)
    assert_matches(dw, oracle.run(by_filter)[0][0], judged(by_filter))
    assert conv_shape(Spec(nchw(x).shape), Spec(w.shape), **keywords) == conv2d(nchw(x), w, **keywords).shape


EMPTY = [
    ("Conv2D", (0, 7, 6, 3), (3, 3, 3, 4)),
    ("Conv2D", (2, 0, 6, 3), (3, 3, 3, 4)),
    ("Conv2D", (2, 7, 6, 3), (3, 3, 3, 0)),
    ("DepthwiseConv2dNative", (0, 7, 6, 3), (3, 3, 3, 2)),
]


@pytest.mark.parametrize(("op", "image", "weights"), EMPTY)
@pytest.mark.parametrize("stride", [1, 2])
def test_empty(op: str, image: tuple[int, ...], weights: tuple[int, ...], stride: int) -> None:
    """Judged by TensorFlow's shape inference: its oneDNN kernels return the input's shape, its gradients are undefined."""
    attrs = {"strides": [1, stride, stride, 1], "padding": "SAME"}
    x, w = np.ones(image, "f"), np.ones(weights, "f")
    y = all_kernels()[op].function(x, w, **attrs)
    with tf.Graph().as_default():
        inferred = (tf.raw_ops.Conv2D if op == "Conv2D" else tf.raw_ops.DepthwiseConv2dNative)(input=x, filter=w, **attrs)
        assert list(y.shape) == inferred.shape.as_list()
    sizes = {"Input": (np.array(image, np.int32), w, y), "Filter": (x, np.array(weights, np.int32), y)}
    for kind, inputs in sizes.items():
        gradient = all_kernels()[f"{op}Backprop{kind}"].function(*inputs, **attrs)
        assert gradient.shape == (image if kind == "Input" else weights)
        assert not gradient.any()


def way_of(x: tuple[int, ...], w: tuple[int, ...], padding: str) -> Any:
    """The algorithm of a convolution without stride."""
    rows, cols = Layout.of([1, 1, 1, 1], padding, "NHWC").axes(x[1:3], w[:2])
    image, filters = np.ones(x, "f"), placeholder(w, np.dtype("f"))
    way = choose_algorithm(image, filters, rows, cols, placeholder((x[0], rows.out, cols.out, w[3]), np.dtype("f")))
    return way.args[0].convolve if isinstance(way, partial) else way


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_the_cases_of_winograd_take_it(padding: str) -> None:
    assert {way_of(x, w, padding) for x, w in WINOGRAD} == {winograd.convolve}
    assert {way_of(x, w, padding) for x, w in FEW_CHANNELS} == {line_winograd.convolve}


@pytest.mark.parametrize(("image", "weights"), [*WINOGRAD[:2], *FEW_CHANNELS[:4], COLUMN])
def test_a_window_of_zeros_gives_zero(image: tuple[int, ...], weights: tuple[int, ...]) -> None:
    """A ReLU behind a bias of zero passes no gradient at the empty margin of a digit; rounding would decide otherwise."""
    random = np.random.default_rng(4)
    x, w = random.standard_normal(image).astype("f"), random.standard_normal(weights).astype("f")
    x[:, image[1] // 3 :] = 0
    attrs = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    expected = oracle.run(case("Conv2D", x, w, **attrs))[0][0]
    assert (expected == 0).any()
    np.testing.assert_array_equal(conv2d(x, w, **attrs) == 0, expected == 0)


@pytest.mark.parametrize(("image", "weights"), [*WINOGRAD[:2], *FEW_CHANNELS[:4], COLUMN])
def test_the_bias_behind_a_window_of_zeros_is_all_there_is(image: tuple[int, ...], weights: tuple[int, ...]) -> None:
    """In a convolution that adds the bias and applies a ReLU itself."""
    x, w = arr(*image), arr(*weights, seed=1) / 16
    x[:, image[1] // 3 :] = 0
    bias = np.where(np.arange(weights[3]) % 2, 0.0, 0.25).astype("f")
    attrs = {"strides": [1, 1, 1, 1], "padding": "SAME", "fused_ops": ["BiasAdd", "Relu"]}
    made = bias_activation.fused_conv2d(x, w, bias, **attrs)
    expected = oracle.run(case("_FusedConv2D", x, w, [bias], [], TArgs=["float32"], num_args=1, **attrs))[0][0]
    np.testing.assert_allclose(made, expected, rtol=1e-4, atol=1e-4)
    blank = np.s_[:, image[1] // 3 + weights[0] :]
    np.testing.assert_array_equal(made[blank], np.broadcast_to(bias, made.shape)[blank])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize(("image", "weights"), [*WINOGRAD[:2], *FEW_CHANNELS[:4], COLUMN])
def test_a_value_that_is_not_finite_stays_within_its_windows(
    image: tuple[int, ...], weights: tuple[int, ...], value: float
) -> None:
    """A huge one as well, whose sums with its neighbours would overflow."""
    x, w = arr(*image), np.abs(arr(*weights, seed=1)) / 16
    x[0, image[1] // 2, 2, 0] = value
    attrs = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    forward = case("Conv2D", x, w, **attrs)
    dy = np.ones(oracle.run(forward)[0][0].shape, "f")
    dy[0, image[1] // 2, 1, 0] = value / 4
    backward = case("Conv2DBackpropInput", np.array(image, np.int32), w, dy, **attrs)
    by_filter = case("Conv2DBackpropFilter", x, np.array(weights, np.int32), np.ones_like(dy), **attrs)
    for one in (forward, backward, by_filter):
        made, expected = call(one, list(one.inputs))[0], oracle.run(one)[0][0]
        assert not np.isfinite(expected).all() or value == 3e38
        np.testing.assert_array_equal(np.isfinite(made), np.isfinite(expected))
        is_near = np.abs(expected) < 1e30
        np.testing.assert_allclose(made[is_near], expected[is_near], rtol=1e-3, atol=1e-3)


@given(st.data())
@settings(deadline=None, max_examples=drawn(200))
def test_blank_windows_are_those_that_sum_to_zero(data: st.DataObject) -> None:
    """Against TensorFlow's sums of windows of positive numbers."""
    extents = data.draw(st.tuples(st.integers(1, 9), st.integers(1, 9)))
    kernel = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    strides = [1, *data.draw(st.tuples(st.integers(1, 3), st.integers(1, 3))), 1]
    pads = data.draw(st.tuples(*[st.integers(0, 6)] * 4))
    padding = data.draw(st.sampled_from([{"padding": "SAME"}, {"padding": "EXPLICIT", "explicit_paddings": [0, 0, *pads, 0, 0]}]))
    covered = np.add(extents, 9 if padding["padding"] == "SAME" else np.add(pads[::2], pads[1::2]))
    assume((covered >= kernel).all())
    is_set = data.draw(st.lists(st.integers(0, extents[0] * extents[1] * 6 - 1), max_size=30))
    x = np.zeros(extents[0] * extents[1] * 6, "f")
    x[is_set] = 0.5
    x = x.reshape(1, *extents, 6)
    rows, cols = Layout.of(strides, data_format="NHWC", **padding).axes(extents, kernel)
    ones = np.ones((*kernel, 6, 1), "f")
    blank = oracle.run(case("Conv2D", x, ones, strides=strides, **padding))[0][0] == 0
    found = blank_windows(x, rows, cols)
    np.testing.assert_array_equal(np.zeros_like(blank[..., 0]) if found is None else found, blank[..., 0])


def test_the_cases_of_small_images_are_taken_as_such() -> None:
    for x, w in SMALL_IMAGES:
        assert way_of(x, w, "SAME") is conv_interior.convolve
        rows, cols = (phases(axis)[0].axis for axis in Layout.of([1, 1, 1, 1], "VALID", "NHWC").axes(x[1:3], w[:2]))
        dy, turned = np.empty((x[0], rows.extent, cols.extent, w[3]), "f"), np.empty((*w[:2], *w[:1:-1]), "f")
        assert choose_algorithm(dy, turned, rows, cols, np.empty(x, "f")) is conv_interior.convolve


def test_the_cases_of_one_channel_are_taken_as_such() -> None:
    for one in ONE_CHANNEL:
        _, w, dy = gradients(one)[0].inputs
        assert col2im.is_worth_it(dy, w)
        assert_gradients_are_adjoint(one)


@few
@given(convolutions(most_dilation=1), st.sampled_from([1, 1 << 9, 1 << 20]))
def test_gradients_by_images_scattered_in_chunks_of_any_size(one: Case, chunk_bytes: int) -> None:
    one = gradients(one)[0]
    (_, w, dy), expected = one.inputs, oracle.run(one)[0][0]
    explicit = one.attrs.get("explicit_paddings", ())
    rows, cols = Layout.of(one.attrs["strides"], one.attrs["padding"], "NHWC", explicit_paddings=explicit).axes(
        expected.shape[1:3], w.shape[:2]
    )
    assume(dy.size)
    dx = np.empty_like(expected)
    with mock.patch.object(col2im, "CHUNK_BYTES", chunk_bytes):
        col2im.input_gradient(dy, w, rows, cols, dx)
    assert_matches(dx, expected, judged(one))


@few
@given(convolutions(1), st.sampled_from([1 << 9, 1 << 12, 1 << 20]), st.sampled_from([0, 5, 40, 10**6]), st.booleans())
def test_winograd_by_lines_in_blocks_and_products_of_any_size(one: Case, block_bytes: int, small: int, is_whole: bool) -> None:
    one = replace(one, attrs={**one.attrs, "strides": [1] * 4})
    by_filter = gradients(one)[1]
    (x, w), dy = one.inputs, by_filter.inputs[2]
    layout = Layout.of([1] * 4, one.attrs["padding"], "NHWC", explicit_paddings=one.attrs.get("explicit_paddings", ()))
    rows, cols = layout.axes(x.shape[1:3], w.shape[:2])
    assume(line_winograd.is_possible(x, rows, cols))
    y, dw, apart = np.empty_like(dy), np.empty_like(w), np.empty((*dy.shape[:2], dy.shape[2] * 2, dy.shape[3]), "f")[:, :, ::2]
    turned = np.ascontiguousarray(w.swapaxes(2, 3)).swapaxes(2, 3)
    sizes = {"BLOCK_BYTES": block_bytes, "SMALL_PRODUCT": small * cols.kernel * x.shape[3] * dy.shape[3]}
    sizes["MOST_WHOLE"] = 10**6 if is_whole else 0
    with mock.patch.multiple(line_winograd, **sizes, FEWEST_STACKED=2, FEWEST_SUMMED=3, MOST_PARTS=3):
        line_winograd._plan.cache_clear()
        line_winograd.convolve(np.asfortranarray(x), w, rows, cols, y)
        line_winograd.convolve(x, turned, rows, cols, apart)
        line_winograd.filter_gradient(x, dy, rows, cols, dw)
    line_winograd._plan.cache_clear()
    assert_matches(y, oracle.run(one)[0][0], judged(one))
    assert_matches(np.ascontiguousarray(apart), oracle.run(one)[0][0], judged(one))
    assert_matches(dw, oracle.run(by_filter)[0][0], judged(by_filter))


def axes_of(one: Case) -> tuple[Axis, Axis]:
    x, w = one.inputs
    layout = Layout.of(
        one.attrs["strides"], one.attrs["padding"], "NHWC", explicit_paddings=one.attrs.get("explicit_paddings", ())
    )
    return layout.axes(x.shape[1:3], w.shape[:2])


def in_panels(one: Case, filters: int, depth: int) -> Case:
    """The case with so many filters and channels: those that panels hold."""
    x, w = one.inputs
    inputs = np.repeat(x, depth, axis=3)[..., :depth], arr(*w.shape[:2], depth, filters, seed=1)
    return replace(one, inputs=inputs)


BLOCKS = st.fixed_dictionaries(
    {
        "BLOCK_BYTES": st.sampled_from([1, 1 << 16, 1 << 23]),
        "FEWEST_LINES": st.sampled_from([2, 10**6]),
        "PART_BYTES": st.sampled_from([0, 1 << 22]),
    }
)


@few
@given(
    convolutions(most_dilation=1), BLOCKS, st.sampled_from([16, 48, 128]), st.sampled_from([0, 10**4, 10**6]), st.integers(1, 4)
)
def test_columns_by_themselves_in_blocks_and_products_of_any_size(
    one: Case, blocks: dict[str, int], filters: int, small: int, longest: int
) -> None:
    one = in_panels(one, filters, 3)
    by_filter = gradients(one)[1]
    (x, w), dy = one.inputs, by_filter.inputs[2]
    rows, cols = axes_of(one)
    assume(column_winograd.is_possible(x, w, rows, cols))
    longest = max(column_winograd.bands_of(rows).count * cols.out, longest)
    y, dw, other = np.empty_like(dy), np.empty_like(w), np.empty_like(dy)
    turned = np.ascontiguousarray(w.swapaxes(2, 3)).swapaxes(2, 3)
    with (
        mock.patch.multiple(column_winograd, **blocks, LONGEST=longest),
        mock.patch.object(gemm_unpacked, "SMALL_PRODUCT", small),
    ):
        column_winograd.convolve(np.asfortranarray(x), w, rows, cols, y)
        column_winograd.convolve(x, turned, rows, cols, other)
        column_winograd.filter_gradient(x, dy, rows, cols, dw)
    assert_matches(y, oracle.run(one)[0][0], judged(one))
    assert_matches(other, oracle.run(one)[0][0], judged(one))
    assert_matches(dw, oracle.run(by_filter)[0][0], judged(by_filter))


@few
@given(
    convolutions(1), st.sampled_from([(2, 2), (1, 2), (2, 1)]), BLOCKS, st.sampled_from([16, 128]), st.sampled_from([0, 10**6])
)
def test_phases_of_a_stride_at_once_in_blocks_of_any_size(
    one: Case, strides: tuple[int, int], blocks: dict[str, int], depth: int, small: int
) -> None:
    one = replace(in_panels(one, 3, depth), attrs={**one.attrs, "strides": [1, *strides, 1]})
    by_image = gradients(one)[0]
    _, w, dy = by_image.inputs
    rows, cols = axes_of(one)
    assume(strided_input_gradient.can_take(dy, w, rows, cols))
    dx, seen = np.empty_like(one.inputs[0]), []
    with mock.patch.multiple(column_winograd, **blocks), mock.patch.object(gemm_unpacked, "SMALL_PRODUCT", small):
        strided_input_gradient.input_gradient(dy, w, rows, cols, dx, lambda part: seen.append(part.copy()))
    assert_matches(dx, oracle.run(by_image)[0][0], judged(by_image))
    by_place = sorted(seen, key=lambda part: next(i for i in range(len(dx)) if (dx[i] == part[0]).all()))
    np.testing.assert_array_equal(np.concatenate(by_place), dx)


def test_the_cases_of_columns_are_taken_as_such() -> None:
    """As on machines where BLAS multiplies small matrices without packing them."""
    fastest_way.cache_clear()
    with mock.patch.object(column_winograd, "SMALL_PRODUCT", 10**6):
        for one in COLUMNS:
            x, w = one.inputs
            assert fastest_way(x.shape, x.dtype, w.shape, *axes_of(one)) is column_winograd
    fastest_way.cache_clear()


@few
@given(convolutions(most_dilation=1), st.sampled_from([1, 40, 10**6]))
def test_taps_inside_the_image_in_chunks_of_any_size(one: Case, chunk_positions: int) -> None:
    one = replace(one, attrs={**one.attrs, "strides": [1] * 4})
    by_filter = gradients(one)[1]
    (x, w), dy = one.inputs, by_filter.inputs[2]
    layout = Layout.of([1] * 4, one.attrs["padding"], "NHWC", explicit_paddings=one.attrs.get("explicit_paddings", ()))
    rows, cols = layout.axes(x.shape[1:3], w.shape[:2])
    y, dw = np.empty_like(dy), np.empty_like(w)
    with mock.patch.multiple(conv_interior, CHUNK_POSITIONS=chunk_positions, MOST_INSIDE=1.0):
        assume(conv_interior.cost_ns(x, w, rows, cols) < math.inf)
        conv_interior.convolve(np.asfortranarray(x), w, rows, cols, y)
        conv_interior.filter_gradient(x, dy, rows, cols, dw)
        turned = np.ascontiguousarray(w.swapaxes(2, 3)).swapaxes(2, 3)
        conv_interior.convolve(x, turned, rows, cols, other := np.empty_like(y))
    assert_matches(y, oracle.run(one)[0][0], judged(one))
    assert_matches(other, oracle.run(one)[0][0], judged(one))
    assert_matches(dw, oracle.run(by_filter)[0][0], judged(by_filter))


@st.composite
def tileable(draw: st.DrawFn) -> Case:
    """A Conv2D of few channels that Winograd's algorithm can compute: two to five taps, any padding, sizes of parts of tiles."""
    kernel = draw(st.integers(2, 5)), draw(st.integers(2, 5))
    extents = draw(st.integers(5, 30)), draw(st.integers(5, 30))
    depth, filters, batch = draw(st.integers(1, 5)), draw(st.integers(1, 5)), draw(st.integers(1, 5))
    padding = draw(st.sampled_from(["SAME", "VALID"]))
    return case("Conv2D", arr(batch, *extents, depth), arr(*kernel, depth, filters, seed=1), strides=[1] * 4, padding=padding)


@few
@given(tileable(), st.sampled_from([1 << 12, 1 << 16, 1 << 20]), st.sampled_from([4, 20]), st.sampled_from([0, 1, 2]))
def test_winograd_in_blocks_and_chunks_of_any_size(one: Case, block_bytes: int, chunk_tiles: int, panel: int) -> None:
    """panel: columns of one, none where 0."""
    by_filter = gradients(one)[1]
    (x, w), dy = one.inputs, by_filter.inputs[2]
    rows, cols = Layout.of(one.attrs["strides"], one.attrs["padding"], "NHWC").axes(x.shape[1:3], w.shape[:2])
    y, dw, other = np.empty_like(dy), np.empty_like(w), np.empty_like(dy)
    turned = np.ascontiguousarray(w.swapaxes(2, 3)).swapaxes(2, 3)
    products = {"IS_AMD": panel > 0, "WIDTH": panel, "SMALL_PRODUCT": 12, "FEWEST_ROWS": 2, "FEWEST_INNER": 1}
    sizes = {"BLOCK_BYTES": block_bytes, "CHUNK_TILES": chunk_tiles, "MIN_TILES": 17, "FEWEST_BY_PANELS": 1}
    with mock.patch.multiple(winograd, **sizes), mock.patch.multiple(gemm_unpacked, **products):
        winograd.convolve(x, w, rows, cols, y)
        winograd.convolve(x, turned, rows, cols, other)
        winograd.filter_gradient(x, dy, rows, cols, dw)
    assert_matches(y, oracle.run(one)[0][0], judged(one))
    assert_matches(other, oracle.run(one)[0][0], judged(one))
    assert_matches(dw, oracle.run(by_filter)[0][0], judged(by_filter))


@few
@given(st.integers(1, 200), st.integers(1, 7), st.integers(1, 7), st.integers(0, 100), st.sampled_from([1, 600]), st.booleans())
def test_turned_products_in_pieces_of_any_size(n: int, m: int, k: int, size: int, at_once: int, is_by_tap: bool) -> None:
    """Whole numbers, whose sums are exact in any order."""
    a, b = arr(n, m).round(), arr(n, k, seed=1).round()
    sizes = {"SMALL_PRODUCT": size * m * k, "FEWEST_TURNED": 16, "TURNED_BYTES": at_once}
    with mock.patch.multiple(im2col, **sizes):
        im2col.multiply_turned(np.asfortranarray(a) if is_by_tap else a, b, out := np.empty((m, k), "f"))
    np.testing.assert_array_equal(out, a.T.astype(np.float64) @ b)


@few
@given(st.integers(0, 50), st.integers(1, 9), st.sampled_from([1, 20, 40, 8192]), st.booleans())
def test_a_bias_added_by_lines_of_any_length_is_the_sum(rows: int, channels: int, elements: int, is_apart: bool) -> None:
    block, bias = arr(rows, 2 * channels)[:, :channels], arr(channels, seed=1)
    made = block if is_apart else block.copy()
    expected = made + bias
    with mock.patch.object(bias_activation, "LINE_ELEMENTS", elements):
        bias_activation.make_epilogue(bias, channels, ["BiasAdd"], 0.0)(made)
    np.testing.assert_array_equal(made, expected)


BAD = [
    (arr(1, 5, 5, 3), arr(3, 3, 2, 4), {}, "input depth must be evenly divisible by filter depth: 3 vs 2"),
    (arr(1, 2, 2, 3), arr(3, 3, 3, 4), {"padding": "VALID"}, "negative"),
    (arr(5, 5, 3), arr(3, 3, 3, 4), {}, "input must be 4-dimensional"),
    (arr(1, 5, 5, 3), arr(3, 3, 3, 4), {"strides": [2, 1, 1, 1]}, "batch and depth"),
]


@pytest.mark.parametrize(("x", "w", "attrs", "message"), BAD, ids=[message[:20] for *_, message in BAD])
def test_what_does_not_fit_is_an_invalid_argument(x: np.ndarray, w: np.ndarray, attrs: dict[str, Any], message: str) -> None:
    keywords = {"strides": [1, 1, 1, 1], "padding": "SAME", **attrs}
    if message == "negative":
        w = arr(6, 6, 3, 4)
    with pytest.raises(InvalidArgument, match=message):
        conv2d(x, w, **keywords)
    with pytest.raises(InvalidArgument, match=message):
        conv_shape(Spec(x.shape), Spec(w.shape), **keywords)


def test_gradient_of_another_size_is_an_invalid_argument() -> None:
    with pytest.raises(InvalidArgument, match=r"doesn't match computed: actual = \[1,5,4,2\], computed = \[1,5,5,2\]"):
        conv2d_backprop_filter(
            arr(1, 5, 5, 3), np.array([3, 3, 3, 2], np.int32), arr(1, 5, 4, 2), strides=[1, 1, 1, 1], padding="SAME"
        )


@st.composite
def frames(draw: st.DrawFn) -> tuple[tuple[int, int], Axis, Axis, im2col.Block]:
    """Images and what some block of outputs reads of them: few sizes, so that one frame often follows another of its shape."""
    extents = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rows, cols = (Axis(n, draw(st.integers(1, 3)), 1, 1, draw(st.integers(-1, 2)), draw(st.integers(1, 4))) for n in extents)
    top = draw(st.integers(0, rows.out - 1))
    return extents, rows, cols, im2col.Block(0, 2, top, draw(st.integers(top + 1, rows.out)))


@given(st.lists(frames(), min_size=2, max_size=20))
@settings(deadline=None)
def test_frames_that_follow_each_other_have_zeros_around_their_own_part(
    todo: list[tuple[tuple[int, int], Axis, Axis, im2col.Block]],
) -> None:
    for index, (extents, rows, cols, block) in enumerate(todo):
        x = np.full((2, *extents, 3), index + 1, np.float32)
        edges = [axis.reach(*part) for axis, part in ((rows, (block.top, block.bottom)), (cols, (0, cols.out)))]
        far = np.pad(x, ((0, 0), (9, 9), (9, 9), (0, 0)))
        wanted = far[:, edges[0][0] + 9 : edges[0][1] + 9, edges[1][0] + 9 : edges[1][1] + 9]
        np.testing.assert_array_equal(im2col.framed(x, rows, cols, block, must_copy=True), wanted)
