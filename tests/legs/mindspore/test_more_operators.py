"""Operators that no recording holds: their values by numpy and by examples of MindSpore's pages."""

from __future__ import annotations

import mindspore
import numpy as np
import pytest
from mindspore import Parameter, Tensor, nn, ops

from tests.legs.mindspore.function_cells import Network, floats

RANDOM = np.random.RandomState(5)


def test_boxes_are_encoded_and_decoded_as_on_the_pages():
    anchors, truths = floats([2, 2, 2, 3], [2, 2, 2, 3]), floats([1, 2, 1, 4], [1, 2, 1, 4])
    encoded = ops.BoundingBoxEncode()(anchors, truths)
    np.testing.assert_allclose(encoded.asnumpy()[0], [-1, 0.25, 0, 0.40551758], atol=1e-3)
    np.testing.assert_allclose(ops.BoundingBoxDecode((768, 1280))(anchors, encoded).asnumpy(), truths.asnumpy(), atol=1e-5)
    decoded = ops.BoundingBoxDecode((768, 1280))(floats([4, 1, 2, 1], [2, 2, 2, 3]), floats([3, 1, 2, 2], [1, 2, 1, 4]))
    np.testing.assert_allclose(decoded.asnumpy(), [[4.1953125, 0, 0, 5.1953125], [2.140625, 0, 3.859375, 60.59375]], rtol=2e-3)


def test_boxes_overlap_and_are_suppressed_as_mindspore_2_10_computes_it():
    anchors, truths = floats([0, 0, 4, 4], [1, 1, 2, 3]), floats([1, 1, 3, 5], [0, 0, 1, 1], [8, 8, 9, 9])
    wanted = [[0.42857143, 0.4], [0.16, 0.11111111], [0, 0]]
    np.testing.assert_allclose(ops.IOU()(anchors, truths).asnumpy(), wanted, rtol=1e-6)
    np.testing.assert_allclose(ops.IOU("iof")(anchors, truths).asnumpy(), [[0.8, 0.4], [1, 0.25], [0, 0]], rtol=1e-6)
    assert ops.CheckValid()(anchors, floats(5, 4, 1)).asnumpy().tolist() == [False, True]
    boxes, numbers, kept = ops.NMSWithMask(0.3)(floats([0, 0, 4, 4, 0.5], [1, 1, 4, 4, 0.9], [6, 6, 8, 8, 0.7]))
    assert boxes.asnumpy()[:, 4].tolist() == pytest.approx([0.9, 0.7, 0.5])
    assert numbers.asnumpy().tolist() == [0, 1, 2] and kept.asnumpy().tolist() == [True, True, False]


def lstm_by_numpy(x, weight, bias, h, c):
    sigmoid = lambda value: 1 / (1 + np.exp(-value))  # noqa: E731
    found = []
    for row in x:
        i, j, f, o = np.split(np.concatenate([row, h], 1) @ weight + bias, 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(j)
        h = sigmoid(o) * np.tanh(c)
        found.append(h)
    return np.stack(found), h, c


def test_an_lstm_of_two_directions_is_two_that_read_from_both_ends():
    layer = nn.LSTM(3, 4, bidirectional=True, batch_first=True)
    x, h, c = RANDOM.rand(2, 5, 3), RANDOM.rand(2, 2, 4), RANDOM.rand(2, 2, 4)
    y, (last_h, last_c) = layer(*map(Tensor, (x.astype(np.float32),)), (Tensor(h), Tensor(c)))
    weights, biases = ([one.asnumpy().astype(float) for one in part] for part in (layer.w_list, layer.b_list))
    x = x.transpose(1, 0, 2)
    there = lstm_by_numpy(x, weights[0], biases[0], h[0], c[0])
    back = lstm_by_numpy(x[::-1], weights[1], biases[1], h[1], c[1])
    np.testing.assert_allclose(y.asnumpy(), np.concatenate([there[0], back[0][::-1]], 2).transpose(1, 0, 2), atol=5e-3)
    np.testing.assert_allclose(last_h.asnumpy(), [there[1], back[1]], atol=5e-3)
    np.testing.assert_allclose(last_c.asnumpy(), [there[2], back[2]], atol=5e-3)
    assert [one.name for one in layer.get_parameters()] == ["weight_fw0", "weight_bw0", "bias_fw0", "bias_bw0"]


def test_parameters_are_written_at_places(mode):
    table = Parameter(Tensor(np.zeros((3, 2), np.float32)), "table")
    places, rows = Tensor(np.array([0, 2, 0], np.int32)), floats([1, 2], [3, 4], [5, 6])
    Network(lambda a, b: ops.ScatterAdd()(table, a, b))(places, rows)
    np.testing.assert_array_equal(table.asnumpy(), [[6, 8], [0, 0], [3, 4]])
    Network(lambda a, b: ops.ScatterNdUpdate()(table, a, b))(Tensor(np.array([[1, 1]], np.int32)), floats(9))
    np.testing.assert_array_equal(table.asnumpy(), [[6, 8], [0, 9], [3, 4]])


def test_random_numbers_are_drawn_anew_and_follow_from_a_seed(mode):
    draw = Network(lambda x: ops.StandardNormal()((100,)) + x)
    first, second = draw(floats(0)).asnumpy(), draw(floats(0)).asnumpy()
    assert (first != second).all() and abs(first.mean()) < 0.5
    masked, found = ops.RandomChoiceWithMask(count=4)(Tensor(np.array([[True, False], [False, True]])))
    assert sorted(map(tuple, masked.asnumpy()[found.asnumpy()])) == [(0, 0), (1, 1)] and found.asnumpy().sum() == 2
    whole = ops.UniformInt()((50,), Tensor(np.int32(3)), Tensor(np.int32(5))).asnumpy()
    assert set(whole) == {3, 4}


def test_two_random_operators_of_one_graph_draw_two_times():
    cell = Network(lambda x: ops.Dropout(0.5)(x)[0] - ops.Dropout(0.5)(x)[0])
    assert (cell(Tensor(np.ones((50, 50), np.float32))).asnumpy() != 0).any()


def test_a_mask_of_dropout_keeps_a_part(mode):
    def dropped(x):
        return ops.DropoutDoMask()(x, ops.DropoutGenMask()(x.shape, Tensor(np.float32(0.75))), Tensor(np.float32(0.75)))

    found = Network(dropped)(Tensor(np.ones((100, 100), np.float32))).asnumpy()
    assert abs((found > 0).mean() - 0.75) < 0.03 and found.max() == np.float32(1 / 0.75)


def test_the_float_status_lies_in_the_tensor_that_it_was_asked_with():
    def overflows(x):
        status = ops.NPUAllocFloatStatus()()
        cleared = ops.NPUClearFloatStatus()(status)
        y = ops.Exp()(ops.depend(x, cleared))
        got = ops.NPUGetFloatStatus()(status)
        ops.ControlDepend()(y, got)
        return ops.ReduceSum()(status, (0,)), y

    status, _ = Network(overflows)(floats(1, 2))
    assert status.asnumpy() == 0 and status.dtype is mindspore.float32


def test_a_gradient_can_be_seen_and_changed():
    seen = []
    doubled = Network(lambda x: ops.InsertGradientOf(lambda gradient: gradient * 2.0)(x) * 3.0)
    np.testing.assert_array_equal(ops.GradOperation()(doubled)(floats(1.0)).asnumpy(), [6])
    hooked = Network(lambda x: ops.HookBackward(seen.append)(x) * 3.0)
    np.testing.assert_array_equal(ops.GradOperation()(hooked)(floats(1.0)).asnumpy(), [3])
    assert len(seen) == 1


def test_print_prints_when_the_graph_runs(capsys):
    cell = Network(lambda x: ops.Print()("the sum:", ops.ReduceSum()(x))[1])
    for _ in range(2):
        cell(floats(1, 2))
    assert capsys.readouterr().out.split("\n")[:2] == ["the sum:", "3.0"]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ops.MatMul()(floats([1, 2]), floats(1, 2)), ValueError, "takes two matrices"),
        (lambda: ops.Reshape()(floats(1, 2, 3), (2, -1)), ValueError, "3 elements do not fit"),
        (lambda: ops.Squeeze(0)(floats(1, 2)), ValueError, "takes out axes of one element"),
        (lambda: ops.Split(0, 2)(floats(1, 2, 3)), ValueError, "does not divide"),
        (lambda: ops.SmoothL1Loss()(floats(1), floats(1, 2)), ValueError, "have to be equal"),
        (lambda: ops.Conv2D(1, 1, pad=1), ValueError, "pad is 0"),
        (lambda: ops.AvgPool(2, 2, "full"), ValueError, "'VALID', 'SAME'"),
        (lambda: ops.IOU("giou")(floats([0, 0, 1, 1]), floats([0, 0, 1, 1])), KeyError, "iof"),
        (lambda: ops.ReduceSum(keepdims=True), TypeError, "keep_dims"),
        (lambda: ops.DynamicRNN(direction="BIDIRECTIONAL"), ValueError, "UNIDIRECTIONAL"),
        (lambda: ops.Assign()(floats(1), floats(2)), TypeError, "Parameter"),
    ],
)
def test_wrong_calls_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


SIGNS = np.sign(0.5 * np.array([2.0, -1.0]))
UPDATES = {
    "ApplyAdaMax": ((0.9, 0.1, 0.5, 0.75, 0.0), lambda g: 1 - 0.1 / (1 - 0.9) * 0.5 * g / np.abs(g)),
    "ApplyAdadelta": ((1.0, 0.5, 1.0), lambda g: 1 - g / np.sqrt(0.5 * g**2 + 1)),
    "ApplyAddSign": ((0.1, 1.0, 0.5, 0.5), lambda g: 1 - 0.1 * (1 + 0.5 * np.sign(g) * SIGNS) * g),
    "ApplyPowerSign": ((0.1, 2.0, 0.5, 0.5), lambda g: 1 - 0.1 * np.exp(2 * 0.5 * np.sign(g) * SIGNS) * g),
    "ApplyProximalGradientDescent": ((0.1, 0.5, 0.0), lambda g: np.maximum(np.abs(1 - 0.1 * g) - 0.05, 0)),
    "ApplyGradientDescent": ((0.1,), lambda g: 1 - 0.1 * g),
}
"""First steps from ones, with moments of zeros: numbers of the call, and the parameter after it."""


@pytest.mark.parametrize("name", UPDATES)
def test_first_steps_of_update_operators_follow_their_formulas(name):
    operator = getattr(ops, name)()
    written = [Parameter(Tensor(np.full(2, float(i == 0), np.float32)), f"part{i}") for i in range(operator.n_written)]
    numbers, formula = UPDATES[name]
    gradient = np.array([2.0, -1.0], np.float32)
    step = Network(lambda given: operator(*written, *numbers, given))
    step(Tensor(gradient))
    np.testing.assert_allclose(written[0].asnumpy(), formula(gradient), rtol=1e-5)


def test_blocks_of_images_become_a_batch_and_come_back(mode):
    images = RANDOM.rand(1, 2, 4, 4).astype(np.float32)
    batch = ops.SpaceToBatch(2, [[0, 0], [0, 0]])(Tensor(images))
    np.testing.assert_array_equal(batch.asnumpy(), [images[0, :, i::2, j::2] for i in range(2) for j in range(2)])
    np.testing.assert_array_equal(ops.BatchToSpaceND([2, 2], [[0, 0], [0, 0]])(batch).asnumpy(), images)
    deep = ops.SpaceToDepth(2)(Tensor(images))
    assert deep.shape == (1, 8, 2, 2)
    np.testing.assert_array_equal(ops.DepthToSpace(2)(deep).asnumpy(), images)


def test_images_are_compared_and_cut():
    image = RANDOM.rand(1, 3, 16, 16).astype(np.float32)
    assert nn.SSIM()(Tensor(image), Tensor(image)).asnumpy() == pytest.approx([1], abs=1e-4)
    np.testing.assert_allclose(nn.PSNR()(Tensor(image), Tensor(image + np.float32(0.1))).asnumpy(), [20], atol=1e-3)
    np.testing.assert_array_equal(nn.CentralCrop(0.5)(Tensor(image)).asnumpy(), image[..., 4:12, 4:12])
    dy, dx = nn.ImageGradients()(Tensor(image))
    np.testing.assert_allclose(dy.asnumpy()[:, :, :-1], np.diff(image, axis=2), atol=1e-6)
    np.testing.assert_allclose(dx.asnumpy()[..., :-1], np.diff(image, axis=3), atol=1e-6)
