"""A network of one matrix with a loss and plain gradient descent, and datasets for it: small enough for tests of training."""

from __future__ import annotations

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor, nn
from mindspore._device.operation import apply
from npu_bridge.npu_init import tf

ROWS, INPUTS, OUTPUTS, BATCH = 32, 4, 3, 8


class Matrix(nn.Cell):
    """A product with a matrix."""

    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor(np.full((INPUTS, OUTPUTS), 0.1, np.float32)))

    def construct(self, x):
        return apply("product", tf.matmul, x, self.weight)


class SquaredError(nn.Cell):
    """The mean squared distance."""

    def construct(self, x, y):
        return ((x - y) * (x - y)).mean()


class Descent(nn.Cell):
    """Gradient descent."""

    is_one_graph = True

    def __init__(self, parameters, rate=0.5):
        super().__init__()
        self.parameters = ParameterTuple(parameters)
        self.learning_rate = Parameter(Tensor(rate, ms.float32), name="learning_rate")

    def construct(self, gradients):
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            ms.ops.AssignSub()(parameter, gradient * self.learning_rate)
        return True


def columns(n_rows=ROWS, n_columns=2):
    """Rows of inputs and of what a matrix makes of them, the same each time."""
    drawn = np.random.RandomState(3)
    inputs = drawn.randn(n_rows, INPUTS).astype(np.float32)
    labels = (inputs @ drawn.randn(INPUTS, OUTPUTS)).astype(np.float32)
    return (inputs, labels, labels)[:n_columns]


def dataset(n_rows=ROWS, n_columns=2, batch=BATCH, drop_remainder=False):
    """A dataset in the order of its rows."""
    names = ["data", "label", "third"][:n_columns]
    rows = ds.NumpySlicesDataset(columns(n_rows, n_columns), names, shuffle=False)
    return rows.batch(batch, drop_remainder=drop_remainder)


def model(rate=0.5, **options):
    """A Model of these parts; the network is its first result."""
    network = Matrix()
    return network, ms.Model(network, SquaredError(), Descent(network.trainable_params(), rate), **options)


def trained_by_numpy(n_steps, first=None, rates=None):
    """(losses, matrix) of the same training, computed by numpy.  first: the first matrix.  rates: one for each step."""
    inputs, labels = columns()
    weight, losses = np.full((INPUTS, OUTPUTS), 0.1) if first is None else first, []
    for step, rate in enumerate(rates or [0.5] * n_steps):
        at = slice(step * BATCH % ROWS, step * BATCH % ROWS + BATCH)
        x, y = inputs[at].astype(np.float64), labels[at].astype(np.float64)
        wrong = x @ weight - y
        losses.append(np.mean(wrong**2))
        weight = weight - rate * x.T @ wrong * 2 / wrong.size
    return losses, weight
