"""Layers: their values by formulas of numpy, their names, and what they refuse."""

from __future__ import annotations

import mindspore
import numpy as np
import pytest
from mindspore import Tensor, context, nn, ops
from mindspore.common.parameter import ParameterTuple

RANDOM = np.random.RandomState(3)
IMAGES = RANDOM.rand(4, 3, 6, 6).astype(np.float32)


@pytest.fixture(params=[context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])
def mode(request):
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield request.param
    context.set_context(mode=before)


def value(cell, *given):
    return cell(*map(Tensor, given)).asnumpy()


def names(cell):
    return [one.name for one in cell.get_parameters()]


def test_batch_norm_moves_once_in_a_step_with_its_gradient(mode):
    network = nn.BatchNorm2d(3)
    network.set_train()
    gradient = ops.GradOperation(get_by_list=True)(network, ParameterTuple(network.trainable_params()))
    images = Tensor(IMAGES)
    if mode == context.PYNATIVE_MODE:
        network(images)
    gradient(images)
    np.testing.assert_allclose(network.moving_mean.asnumpy(), 0.1 * IMAGES.mean((0, 2, 3)), rtol=1e-5)


def test_batch_norm_moves_by_the_unbiased_variance(mode):
    network = nn.BatchNorm2d(3, momentum=0.8)
    network.set_train()
    network(Tensor(IMAGES))
    unbiased = IMAGES.transpose(1, 0, 2, 3).reshape(3, -1).var(1, ddof=1)
    np.testing.assert_allclose(network.moving_variance.asnumpy(), 0.8 + 0.2 * unbiased, rtol=1e-5)
    network.set_train(False)
    before = network.moving_mean.asnumpy().copy()
    network(Tensor(IMAGES))
    np.testing.assert_array_equal(network.moving_mean.asnumpy(), before)


def test_batch_norm_keeps_its_statistics_in_float32_in_a_cell_of_float16():
    network = nn.BatchNorm1d(2).to_float(mindspore.float16)
    network.set_train()
    rows = np.array([[1000.25, 1.0], [1001.0, 3.0]], np.float32)
    assert network(Tensor(rows)).dtype is mindspore.float16
    assert network.moving_mean.asnumpy()[1] == np.float32(0.1) * 2 and network.moving_mean.dtype is mindspore.float32


def test_names_of_parameters_are_paths_of_attributes():
    class Network(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.SequentialCell([nn.Dense(2, 2), nn.ReLU(), nn.Dense(2, 1)])
            self.heads = nn.CellList([nn.Dense(2, 1, has_bias=False)])

    expected = ["layers.0.weight", "layers.0.bias", "layers.2.weight", "layers.2.bias", "heads.0.weight"]
    assert names(Network()) == expected
    assert names(nn.BatchNorm2d(1)) == ["mean", "variance", "gamma", "beta"]


def test_a_dense_layer_takes_inputs_of_more_axes(mode):
    layer = nn.Dense(3, 2, activation="relu")
    rows = RANDOM.rand(2, 4, 3).astype(np.float32) - 0.5
    expected = np.maximum(rows @ layer.weight.asnumpy().T + layer.bias.asnumpy(), 0)
    np.testing.assert_allclose(value(layer, rows), expected, atol=1e-6)


def test_lists_of_cells_are_read_and_changed_as_lists():
    cells = nn.CellList([nn.ReLU(), nn.Tanh(), nn.Sigmoid()])
    cells.insert(1, nn.ReLU6())
    del cells[0]
    assert [type(one).__name__ for one in cells] == ["ReLU6", "Tanh", "Sigmoid"] and len(cells[1:]) == 2
    assert list(cells.name_cells()) == ["0", "1", "2"] and isinstance(cells[-1], nn.Sigmoid)
    with pytest.raises(IndexError, match="3 cells"):
        cells[3]
    with pytest.raises(TypeError, match="takes cells"):
        cells.append(3)


def test_a_transposed_convolution_is_the_gradient_of_a_convolution(mode):
    transposed = nn.Conv2dTranspose(4, 3, 3, stride=2, weight_init="uniform")
    convolution = nn.Conv2d(3, 4, 3, stride=2, weight_init=Tensor(transposed.weight.asnumpy()))
    given = RANDOM.rand(4, 4, 3, 3).astype(np.float32)
    gradient = ops.GradOperation(sens_param=True)(convolution)(Tensor(IMAGES), Tensor(given)).asnumpy()
    np.testing.assert_allclose(value(transposed, given), gradient, atol=1e-5)


@pytest.mark.parametrize("settings", [{"padding": 1}, {"padding": (1, 0, 1, 0)}])
def test_a_depthwise_convolution_is_one_for_each_channel(settings):
    whole = nn.Conv2d(3, 6, 3, pad_mode="pad", group=3, weight_init="uniform", **settings)
    parts = [
        nn.Conv2d(1, 2, 3, pad_mode="pad", weight_init=Tensor(whole.weight.asnumpy()[2 * i : 2 * i + 2]), **settings)
        for i in range(3)
    ]
    expected = np.concatenate([value(part, IMAGES[:, i : i + 1]) for i, part in enumerate(parts)], 1)
    np.testing.assert_allclose(value(whole, IMAGES), expected, atol=1e-6)


def test_a_convolution_of_lines_is_that_of_images_of_one_row():
    layer = nn.Conv1d(3, 2, 3, pad_mode="pad", padding=1, has_bias=True, weight_init="uniform")
    lines = IMAGES[:, :, 0]
    padded = np.pad(lines, ((0, 0), (0, 0), (1, 1)))
    weight = layer.weight.asnumpy()[:, :, 0]
    expected = np.stack([np.einsum("nck,ock->no", padded[:, :, i : i + 3], weight) for i in range(6)], -1)
    np.testing.assert_allclose(value(layer, lines), expected, atol=1e-6)
    assert names(layer) == ["weight", "bias"]


def test_group_norm_and_layer_norm_have_no_mean_and_a_variance_of_one():
    groups = value(nn.GroupNorm(3, 3), IMAGES).reshape(12, -1)
    rows = value(nn.LayerNorm((6,)), IMAGES).reshape(-1, 6)
    for found in (groups, rows):
        np.testing.assert_allclose(found.mean(1), 0, atol=1e-5)
        np.testing.assert_allclose(found.std(1), 1, atol=1e-3)


def test_dropout_keeps_a_part_in_training_alone(mode):
    layer = nn.Dropout(keep_prob=0.8)
    ones = np.ones((100, 100), np.float32)
    np.testing.assert_array_equal(value(layer, ones), ones)
    layer.set_train()
    first, second = value(layer, ones), value(layer, ones)
    assert set(np.unique(first)) == {np.float32(0), np.float32(1.25)} and abs((first > 0).mean() - 0.8) < 0.02
    assert (first != second).any()


def test_an_embedding_by_one_hot_is_that_by_rows():
    table = RANDOM.rand(5, 3).astype(np.float32)
    ids = np.array([[0, 4], [2, 2]], np.int32)
    for use_one_hot in (False, True):
        layer = nn.Embedding(5, 3, use_one_hot, Tensor(table))
        np.testing.assert_array_equal(value(layer, ids), table[ids])
    np.testing.assert_array_equal(nn.Embedding(5, 3, padding_idx=1).embedding_table.asnumpy()[1], 0)
    with pytest.raises(ValueError, match="from 0 to 4"):
        nn.Embedding(5, 3, padding_idx=5)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: nn.Conv2d(3, 4, 3, pad_mode="SAME"), ValueError, "pad_mode"),
        (lambda: nn.Conv2d(3, 4, 3, padding=1), ValueError, 'pad is 0 unless pad_mode is "pad"'),
        (lambda: nn.Conv2d(3, 4, 3, group=2), ValueError, "do not divide by the groups"),
        (lambda: nn.Conv2d(3, 4, 3, data_format="NHWC"), ValueError, "on an Ascend NPU"),
        (lambda: nn.BatchNorm2d(0), ValueError, "num_features=0"),
        (lambda: nn.BatchNorm2d(2, momentum=2), ValueError, "from 0 to 1"),
        (lambda: nn.Dropout(keep_prob=0.0), ValueError, "above 0"),
        (lambda: nn.Dropout(keep_prob=1), TypeError, "float"),
        (lambda: nn.MaxPool2d(2, pad_mode="pad"), ValueError, "VALID"),
        (lambda: nn.Dense(3, 2, activation="swish"), KeyError, "relu"),
        (lambda: nn.SequentialCell(3), TypeError, "OrderedDict"),
        (lambda: nn.SoftmaxCrossEntropyWithLogits(reduction="max"), ValueError, "'mean', 'sum', 'none'"),
        (lambda: nn.Conv2dBnFoldQuant(3, 4, 3), RuntimeError, "docs/mindspore.md"),
        (lambda: nn.THOR(), RuntimeError, "docs/mindspore.md"),
    ],
)
def test_wrong_constructions_are_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize(
    ("cell", "given", "words"),
    [
        (nn.Dense(3, 2), np.ones((2, 4), np.float32), "in_channels=3"),
        (nn.Conv2d(3, 4, 3), np.ones((2, 5, 6, 6), np.float32), "the input has 5 channels"),
        (nn.BatchNorm2d(3), np.ones((2, 3), np.float32), "takes 4 axes"),
        (nn.MaxPool2d(9), IMAGES, "does not fit"),
    ],
)
def test_inputs_that_do_not_fit_are_refused_with_their_shapes(cell, given, words):
    with pytest.raises(ValueError, match=words):
        cell(Tensor(given))
