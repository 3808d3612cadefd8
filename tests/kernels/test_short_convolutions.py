"""Short convolutions, as those of a loop over frames: they stay on one thread, and have the bits that several threads give."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from npu_runtime.kernels.base import all_kernels
from npu_runtime.kernels.conv import im2col
from npu_runtime.kernels.conv.conv import conv2d
from npu_runtime.kernels.conv.conv_gradients import conv2d_backprop_filter, conv2d_backprop_input
from npu_runtime.kernels.threads import parallel
from npu_runtime.kernels.threads.parallel import alone, n_sections, set_n_threads
from npu_runtime.kernels.windows.windows import Layout
from tests.kernels.harness import arr

Shape = tuple[int, ...]


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = parallel.n_threads()
    set_n_threads(2)
    yield
    set_n_threads(before)


def three_ways(image: Shape, filter: Shape, stride: int) -> list[Callable[[], np.ndarray]]:
    """The convolution and its gradients by image and by filter."""
    x, w = arr(*image), arr(*filter, seed=1)
    attrs = {"strides": [1, stride, stride, 1], "padding": "SAME"}
    dy = np.ones_like(conv2d(x, w, **attrs))
    return [
        lambda: conv2d(x, w, **attrs),
        lambda: conv2d_backprop_input(np.array(image, np.int32), w, dy, **attrs),
        lambda: conv2d_backprop_filter(x, np.array(filter, np.int32), dy, **attrs),
    ]


def sections_of(run: Callable[[], object]) -> int:
    before = n_sections()
    run()
    return n_sections() - before


GATE = (16, 8, 8, 4), (3, 3, 4, 4)
"""One gate of a ConvLSTM2D of four channels over frames of 8 x 8."""


@pytest.mark.parametrize("way", range(3), ids=["forward", "by image", "by filter"])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_a_short_convolution_wakes_no_worker(way: int, stride: int) -> None:
    """A worker takes as long to begin and to end as all of it."""
    assert sections_of(three_ways(*GATE, stride)[way]) == 0


@pytest.mark.parametrize("way", range(3), ids=["forward", "by image", "by filter"])
def test_a_long_convolution_is_shared(way: int) -> None:
    assert sections_of(three_ways((64, 16, 16, 16), (3, 3, 16, 16), 1)[way]) > 0


def test_pixels_that_a_stride_leaves_out_are_cleared_on_one_thread() -> None:
    """The gradient of a shortcut of ResNet, whose filter of one pixel sees every fourth."""
    by_image = three_ways((16, 16, 16, 16), (1, 1, 16, 32), 2)[1]
    assert sections_of(by_image) == 0
    assert not by_image()[:, 1::2].any()


def test_small_paddings_wake_no_worker() -> None:
    pad, pairs = all_kernels()["Pad"].function, np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32)
    small, large = np.ones((16, 30, 30, 4), np.float32), np.ones((64, 62, 62, 16), np.float32)
    assert sections_of(lambda: pad(small, pairs)) == 0
    assert sections_of(lambda: pad(large, pairs)) == 1
    np.testing.assert_array_equal(pad(small, pairs), np.pad(small, pairs))


BLOCKS = [
    ((16, 8, 8, 4), (3, 3, 4, 4), {}),
    ((16, 8, 8, 1), (3, 3, 1, 4), {}),
    ((5, 19, 21, 2), (3, 2, 2, 3), {}),
    ((9, 15, 14, 3), (3, 3, 3, 5), {"stride": 2}),
    ((1, 25, 24, 4), (3, 3, 4, 6), {}),
    ((3, 17, 16, 5), (3, 3, 5, 7), {"dilation": 2}),
]
"""Images that are cut in several blocks, of whole images or of rows."""


@pytest.mark.parametrize(("image", "filter", "steps"), BLOCKS)
def test_windows_laid_out_at_once_give_the_same_bits(image: Shape, filter: Shape, steps: dict[str, int]) -> None:
    stride, dilation = steps.get("stride", 1), steps.get("dilation", 1)
    layout = Layout.of((1, stride, stride, 1), "SAME", "NHWC", (1, dilation, dilation, 1))
    rows, cols = layout.axes(image[1:3], filter[:2])
    x, w = arr(*image), arr(*filter, seed=1)
    window_bytes = 4 * w[..., 0].size
    assert len(im2col.blocks(len(x), rows, cols, window_bytes)) > 1
    assert len(x) * rows.out * cols.out * window_bytes <= im2col.AT_ONCE_BYTES
    dy = arr(len(x), rows.out, cols.out, filter[3], seed=2)
    for function, given, shape in ((im2col.convolve, w, dy.shape), (im2col.filter_gradient, dy, filter)):
        at_once, by_blocks = (np.empty(shape, np.float32) for _ in range(2))
        alone(function)(x, given, rows, cols, at_once)
        function(x, given, rows, cols, by_blocks)
        np.testing.assert_array_equal(at_once, by_blocks)


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize(("image", "filter", "steps"), BLOCKS)
def test_windows_hold_what_the_taps_see(image: Shape, filter: Shape, steps: dict[str, int], is_turned: bool) -> None:
    """Against numpy's padding and slices; of an image with the channels first too, whose view is not contiguous."""
    stride, dilation = steps.get("stride", 1), steps.get("dilation", 1)
    layout = Layout.of((1, stride, stride, 1), "VALID", "NHWC", (1, dilation, dilation, 1))
    rows, cols = layout.axes(image[1:3], filter[:2])
    x = arr(*image)
    given = np.ascontiguousarray(x.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1) if is_turned else x
    made = im2col.lay_out(given, rows, cols, im2col.Block(0, len(x), 0, rows.out))
    taps = [
        x[:, a * dilation :: stride, b * dilation :: stride][:, : rows.out, : cols.out]
        for a in range(filter[0])
        for b in range(filter[1])
    ]
    np.testing.assert_array_equal(made, np.concatenate(taps, axis=3).reshape(len(made), -1))
