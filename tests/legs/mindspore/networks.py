"""Small networks and batches that real MindSpore and the project's package both train: the recorder and the tests share them.

They are written with names of r1.1 that MindSpore 2.10 still has. Weights and batches come from numpy's generators, so that both
sides begin with the same numbers.
"""

from __future__ import annotations

import mindspore.nn as nn
import numpy as np
from mindspore import Tensor
from mindspore.common import dtype as mstype
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.ops import composite as C
from mindspore.ops import functional as F
from mindspore.ops import operations as P

STEPS = 20
BATCH = 8
CLASSES = 4
WORDS, LENGTH = 12, 6
DRAWN = ("weight", "bias", "embedding_table", "gamma", "beta")
"""Last parts of the names of parameters that get drawn values; the moving averages keep those that they begin with."""


class LeNet(nn.Cell):
    """Two convolutions, two maximum poolings and two dense layers for images of 12 x 12 pixels."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 3, 3, pad_mode="valid")
        self.conv2 = nn.Conv2d(3, 4, 2, pad_mode="valid", has_bias=True)
        self.relu = nn.ReLU()
        self.max_pool2d = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(16, 10, activation="relu")
        self.fc2 = nn.Dense(10, CLASSES)

    def construct(self, x):
        x = self.max_pool2d(self.relu(self.conv1(x)))
        x = self.max_pool2d(self.relu(self.conv2(x)))
        return self.fc2(self.fc1(self.flatten(x)))


class BatchNormNetwork(nn.Cell):
    """A strided convolution with padding 'same', batch normalization, average pooling, and one more normalization of rows."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, stride=2)
        self.bn = nn.BatchNorm2d(4)
        self.relu = nn.ReLU()
        self.pool = nn.AvgPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(36, 6)
        self.bn1 = nn.BatchNorm1d(6, momentum=0.8)
        self.fc2 = nn.Dense(6, CLASSES)

    def construct(self, x):
        x = self.pool(self.relu(self.bn(self.conv(x))))
        return self.fc2(self.relu(self.bn1(self.fc1(self.flatten(x)))))


class Attention(nn.Cell):
    """Self-attention with two heads, as the model zoo's BERT writes it with primitives."""

    def __init__(self, size):
        super().__init__()
        self.query = nn.Dense(size, size)
        self.key = nn.Dense(size, size)
        self.value = nn.Dense(size, size)
        self.output = nn.Dense(size, size)
        self.split = (-1, LENGTH, 2, size // 2)
        self.joined = (-1, LENGTH, size)
        self.scale = Tensor(1.0 / (size // 2) ** 0.5, mstype.float32)
        self.reshape = P.Reshape()
        self.transpose = P.Transpose()
        self.scores = P.BatchMatMul(transpose_b=True)
        self.mixed = P.BatchMatMul()
        self.softmax = nn.Softmax()

    def heads(self, x):
        return self.transpose(self.reshape(x, self.split), (0, 2, 1, 3))

    def construct(self, x):
        weights = self.softmax(self.scores(self.heads(self.query(x)), self.heads(self.key(x))) * self.scale)
        x = self.transpose(self.mixed(weights, self.heads(self.value(x))), (0, 2, 1, 3))
        return self.output(self.reshape(x, self.joined))


class Block(nn.Cell):
    """One layer of a Transformer's encoder."""

    def __init__(self, size):
        super().__init__()
        self.attention = Attention(size)
        self.norm1 = nn.LayerNorm((size,), epsilon=1e-5)
        self.up = nn.Dense(size, 2 * size)
        self.gelu = nn.GELU()
        self.down = nn.Dense(2 * size, size)
        self.norm2 = nn.LayerNorm((size,), epsilon=1e-5)
        self.add = P.TensorAdd()

    def construct(self, x):
        x = self.norm1(self.add(x, self.attention(x)))
        return self.norm2(self.add(x, self.down(self.gelu(self.up(x)))))


class Transformer(nn.Cell):
    """An embedding, two blocks in a CellList, and a dense layer on the mean over the words."""

    def __init__(self, size=8):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, size)
        self.layers = nn.CellList([Block(size), Block(size)])
        self.mean = P.ReduceMean(keep_dims=False)
        self.fc = nn.Dense(size, CLASSES)

    def construct(self, words):
        x = self.embedding(words)
        for layer in self.layers:
            x = layer(x)
        return self.fc(self.mean(x, 1))


class Perceptron(nn.Cell):
    """Two dense layers with a normalization between them, whose gamma and beta are not decayed: for the optimizers."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(6, 5)
        self.norm = nn.LayerNorm((5,), epsilon=1e-5)
        self.tanh = nn.Tanh()
        self.fc2 = nn.Dense(5, CLASSES)

    def construct(self, x):
        return self.fc2(self.tanh(self.norm(self.fc1(x))))


class OwnTrainOneStepCell(nn.Cell):
    """The training step that guides write themselves: the gradient of all weights, and the optimizer after it."""

    def __init__(self, network, optimizer, sens=1.0):
        super().__init__(auto_prefix=False)
        self.network = network
        self.network.set_grad()
        self.weights = ParameterTuple(network.trainable_params())
        self.optimizer = optimizer
        self.grad = C.GradOperation(get_by_list=True, sens_param=True)
        self.sens = sens

    def construct(self, data, label):
        weights = self.weights
        loss = self.network(data, label)
        sens = P.Fill()(P.DType()(loss), P.Shape()(loss), self.sens)
        grads = self.grad(self.network, weights)(data, label, sens)
        return F.depend(loss, self.optimizer(grads))


class Branches(nn.Cell):
    """A loss that takes one of two ways: the test is on a tensor, so both become branches of the graph."""

    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor(np.ones((6, CLASSES), np.float32)), name="weight")
        self.matmul = P.MatMul()
        self.mean = P.ReduceMean()
        self.square = P.Square()
        self.abs = P.Abs()

    def construct(self, x):
        y = self.matmul(x, self.weight)
        if self.mean(y) > 0.0:
            y = self.square(y) * 0.5
        else:
            y = self.abs(y)
        return self.mean(y)


class Chosen(nn.Cell):
    """Two layers, of which a test on a tensor takes one: the weights are read within a branch alone."""

    def __init__(self):
        super().__init__()
        self.left = nn.Dense(6, 2)
        self.right = nn.Dense(6, 2, activation="tanh")
        self.mean = P.ReduceMean()
        self.square = P.Square()

    def construct(self, x):
        if self.mean(x) > 0.0:
            y = self.left(x)
        else:
            y = self.right(x)
        return self.mean(self.square(y))


class Halving(nn.Cell):
    """A loop whose end a tensor decides: it halves its input and counts."""

    def __init__(self):
        super().__init__()
        self.sum = P.ReduceSum()

    def construct(self, x, count):
        while self.sum(x) > 1.0:
            x = x * 0.5
            count = count + 1
        return x, count


class Counted(nn.Cell):
    """A parameter that a branch writes, as gradient accumulation does."""

    def __init__(self):
        super().__init__()
        self.seen = Parameter(Tensor(np.zeros((), np.float32)), name="seen")
        self.skipped = Parameter(Tensor(np.zeros((), np.float32)), name="skipped")
        self.add = P.AssignAdd()
        self.sum = P.ReduceSum()
        self.one = Tensor(np.float32(1.0))

    def construct(self, x):
        total = self.sum(x)
        if total > 0.0:
            self.add(self.seen, total)
        else:
            self.add(self.skipped, self.one)
        return total


def set_weights(network, seed=1, scale=0.3):
    """Gives the drawn parameters of a network values, in the order of get_parameters; gammas are drawn near one."""
    generator = np.random.default_rng(seed)
    for parameter in network.get_parameters():
        last = parameter.name.split(".")[-1]
        if last in DRAWN:
            values = generator.standard_normal(parameter.shape) * scale + (last == "gamma")
            parameter.set_data(Tensor(values.astype(np.float32)))
    return network


def labels(generator):
    return generator.integers(0, CLASSES, BATCH).astype(np.int32)


def images(seed=2, steps=STEPS):
    """Batches of 12 x 12 images, each with its label in its brightness and in a stripe."""
    generator = np.random.default_rng(seed)
    for _ in range(steps):
        label = labels(generator)
        pixels = generator.standard_normal((BATCH, 1, 12, 12)).astype(np.float32)
        pixels[np.arange(BATCH), 0, label * 3] += 2.0
        yield pixels, label


def sentences(seed=3, steps=STEPS):
    """Batches of six words each; a label is the rest of the first word."""
    generator = np.random.default_rng(seed)
    for _ in range(steps):
        words = generator.integers(0, WORDS, (BATCH, LENGTH)).astype(np.int32)
        yield words, (words[:, 0] % CLASSES).astype(np.int32)


def rows(seed=4, steps=STEPS):
    """Batches of six numbers each, with a label that shifts the first numbers."""
    generator = np.random.default_rng(seed)
    for _ in range(steps):
        label = labels(generator)
        numbers = generator.standard_normal((BATCH, 6)).astype(np.float32)
        numbers[np.arange(BATCH), label] += 2.0
        yield numbers, label
