"""Depthwise convolutions of any geometry, cut into pieces of any size, against TensorFlow; what the taps of an axis see."""

from __future__ import annotations

from unittest import mock

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from npu_runtime.kernels.conv import depthwise_sums
from npu_runtime.kernels.threads import parallel
from npu_runtime.kernels.windows.windows import Axis, spans
from tests.how_many import drawn
from tests.kernels import oracle
from tests.kernels.cases.conv.depthwise import triple
from tests.kernels.harness import Case, arr, call
from tests.kernels.test_convolutions import channels_first, judged, nchw
from tests.kernels.test_oracle import assert_matches

few = settings(deadline=None, max_examples=drawn(60))
small = st.integers(1, 4)


@st.composite
def geometries(draw: st.DrawFn) -> list[Case]:
    """A depthwise convolution that fits, and its gradients: padding of more than the kernel too, several filters a channel."""
    kernel, stride = (draw(small), draw(small)), draw(st.integers(1, 3))
    x = (draw(st.integers(1, 3)), draw(st.integers(1, 12)), draw(st.integers(1, 12)), draw(small))
    padding = draw(st.sampled_from(["SAME", "VALID", "EXPLICIT"]))
    pads = [0, 0, *(draw(st.integers(0, 5)) for _ in range(4)), 0, 0]
    room = (pads[2] + pads[3], pads[4] + pads[5]) if padding == "EXPLICIT" else (0, 0)
    assume(padding == "SAME" or all(n + r >= k for n, r, k in zip(x[1:3], room, kernel, strict=True)))
    attrs = {"explicit_paddings": pads} if padding == "EXPLICIT" else {}
    return triple(x, (*kernel, x[3], draw(st.integers(1, 2))), stride, padding, **attrs)


@few
@given(geometries(), st.sampled_from([64, 1000, 10**6]), st.sampled_from([1, 8, 1000]), st.booleans(), st.booleans())
def test_pieces_of_any_size(todo: list[Case], n_bytes: int, line: int, is_long: bool, is_serial: bool) -> None:
    sizes = {
        "BLOCK_BYTES": n_bytes, "SUMMED_BYTES": n_bytes, "LINE_ELEMENTS": line, "SHORTEST_LINE": line // 2,
        "LONG_CHANNELS": 1 if is_long else 100, "SERIAL_TAPS": 10**9 if is_serial else 0,
    }  # fmt: skip
    with mock.patch.multiple(depthwise_sums, **sizes):
        made = [call(one, one.flat())[0] for one in todo]
    for one, result in zip(todo, made, strict=True):
        assert_matches(result, oracle.run(one)[0][0], judged(one))


@few
@given(geometries())
def test_channels_first_is_the_transposed_result(todo: list[Case]) -> None:
    """One channel too: turned to the end, its stride is none that memory has. The judge is TensorFlow's NHWC result, turned."""
    forward, by_input, by_filter = todo
    turned, dy = nchw(forward.inputs[0]), nchw(by_input.inputs[2])
    keywords = channels_first(forward)
    y = Case(forward.op, (turned, forward.inputs[1]), keywords)
    dx = Case(by_input.op, (np.array(turned.shape, np.int32), by_input.inputs[1], dy), keywords)
    dw = Case(by_filter.op, (turned, by_filter.inputs[1], dy), keywords)
    for first, last, turn in ((y, forward, nchw), (dx, by_input, nchw), (dw, by_filter, np.asarray)):
        assert_matches(call(first, first.flat())[0], turn(oracle.run(last)[0][0]), judged(last))


def test_the_number_of_threads_does_not_change_a_filters_gradient() -> None:
    axis = Axis(40, 3, 1, 1, 1, 40)
    x, dy, before = arr(5, 40, 40, 24), arr(5, 40, 40, 24, seed=1), parallel.n_threads()
    made = []
    try:
        for count in (1, 2, 3):
            parallel.set_n_threads(count)
            with mock.patch.object(depthwise_sums, "SUMMED_BYTES", 1 << 16):
                made.append(depthwise_sums.filter_gradient(x, dy, axis, axis))
    finally:
        parallel.set_n_threads(before)
    assert np.array_equal(made[0], made[1]) and np.array_equal(made[0], made[2])


@given(st.integers(1, 9), st.integers(0, 4), small, small, st.integers(-4, 6), st.integers(1, 9))
def test_spans_name_the_taps_that_each_output_sees(
    extent: int, kernel: int, stride: int, dilation: int, before: int, out: int
) -> None:
    found = spans(Axis(extent, kernel, stride, dilation, before, out))
    assert [span.first for span in found] == [0, *[span.last for span in found[:-1]]] and found[-1].last == out
    for span in found:
        for output in range(span.first, span.last):
            start = output * stride - before
            inside = [tap for tap in range(kernel) if 0 <= start + tap * dilation < extent]
            assert inside == list(range(span.low, span.high))
