"""Ten small networks in which an error can be planted: each gives its training step, and where a difference begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import tensorflow.compat.v1 as tf

T = TypeVar("T")
N = 8
"""Rows of a batch, and extents that a turned weight or another axis must not change."""


@dataclass
class Plants:
    """Gives the right values, but for one.  planted: its key, "" for none.  nodes: by key, where its error is seen first."""

    planted: str = ""
    nodes: dict[str, str] = field(default_factory=dict)

    def __call__(self, key: str, right: T, wrong: T, node: str) -> T:
        self.nodes[key] = node
        return wrong if key == self.planted else right


@dataclass(frozen=True)
class Step:
    """train: the op of one step.  feeds: by placeholder."""

    train: tf.Operation
    feeds: Mapping[tf.Tensor, np.ndarray]


def _numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng((seed, *shape)).standard_normal(shape, np.float32)


def _weight(name: str, *shape: int) -> tf.Variable:
    scale = np.float32(1 / np.sqrt(max(np.prod(shape[:-1]), 1)))
    return tf.get_variable(name, initializer=_numbers(*shape, seed=len(name)) * scale)


def _input(*shape: int) -> tuple[tf.Tensor, dict[tf.Tensor, np.ndarray]]:
    given = tf.placeholder(tf.float32, shape, "images")
    return given, {given: _numbers(*shape, seed=9)}


def _classified(net: tf.Tensor, feeds: dict[tf.Tensor, np.ndarray], plant: Plants) -> Step:
    labels = tf.placeholder(tf.int32, [N], "labels")
    right = np.arange(N, dtype=np.int32) % int(net.shape[-1])
    feeds[labels] = plant("label", right, right[::-1].copy(), "labels")
    loss = tf.losses.sparse_softmax_cross_entropy(labels, net)
    return Step(tf.train.GradientDescentOptimizer(0.1).minimize(loss), feeds)


def perceptron(plant: Plants) -> Step:
    """A turned weight, an activation's slope."""
    net, feeds = _input(N, N)
    is_turned = plant("turned", False, True, "square/MatMul")
    with tf.name_scope("square"):
        net = tf.matmul(net, _weight("square_weight", N, N), transpose_b=is_turned, name="MatMul")
    net = tf.nn.leaky_relu(net, plant("alpha", 0.2, 0.3, "slope"), name="slope")
    net = tf.tanh(tf.divide(net, plant("temperature", 2.0, 1.5, "cooled"), name="cooled"))
    net = tf.matmul(net, _weight("out_weight", N, 5), name="logits")
    return _classified(net, feeds, plant)


def normalized(plant: Plants) -> Step:
    """An epsilon, a padding, the decay of an average."""
    net, feeds = _input(N, 6, 6, 3)
    pads = plant("padding", [[0, 0], [1, 1], [1, 1], [0, 0]], [[0, 0], [2, 0], [2, 0], [0, 0]], "window/conv")
    net = tf.nn.conv2d(net, _weight("filter", 3, 3, 3, 4), strides=1, padding=pads, name="window/conv")
    scale, offset = _weight("scale", 4), _weight("offset", 4)
    epsilon = plant("epsilon", 1e-3, 1e-1, "normal/FusedBatchNormV3")
    with tf.name_scope("normal"):
        net, mean, _ = tf.nn.fused_batch_norm(net, scale, offset, epsilon=epsilon)
    average = tf.get_variable("average", initializer=np.zeros(4, np.float32), trainable=False)
    share = tf.multiply(mean - average, plant("decay", 0.1, 0.01, "average_share"), name="average_share")
    with tf.control_dependencies([tf.assign_add(average, share)]):
        net = tf.reduce_mean(tf.nn.relu(net), [1, 2])
    return _classified(tf.matmul(net, _weight("out_weight", 4, 5)), feeds, plant)


def attention(plant: Plants) -> Step:
    """The scale of scores, keys that are not turned, the epsilon of a layer's norm."""
    net, feeds = _input(N, 6, 6)
    with tf.name_scope("heads"):
        is_turned = plant("keys", True, False, "heads/scores")
        scores = tf.matmul(net, net, transpose_b=is_turned, name="scores")
        scores = tf.multiply(scores, plant("scale", 0.4, 0.8, "heads/scaled"), name="scaled")
        net = net + tf.matmul(tf.nn.softmax(scores), net, name="mixed")
    mean, variance = tf.nn.moments(net, [-1], keepdims=True)
    spread = tf.add(variance, plant("epsilon", 1e-6, 1e-1, "spread"), name="spread")
    net = tf.reduce_mean((net - mean) * tf.rsqrt(spread), 1)
    net = tf.roll(net, plant("shift", 1, 2, "rolled"), 1, name="rolled")
    return _classified(tf.matmul(net, _weight("out_weight", 6, 5)), feeds, plant)


def recurrent(plant: Plants) -> Step:
    """The bias of a gate, the order of a state's halves."""
    net, feeds = _input(N, 3, 4)
    weight, state = _weight("gate_weight", 4 + N, N), tf.zeros([N, N])
    for turn in range(3):
        gate = tf.matmul(tf.concat([net[:, turn], state], 1), weight)
        opened = tf.add(gate, plant("forget", 1.0, 0.0, "turn_0/open"), name=f"turn_{turn}/open")
        state = tf.sigmoid(opened) * state + tf.tanh(gate)
    state = tf.where(state > plant("threshold", 0.0, 0.2, "Greater/y"), state, 0.1 * state, name="kept")
    halves = tf.reverse(state, [plant("axis", 1, 0, "turned_around")], name="turned_around")
    return _classified(tf.matmul(halves, _weight("out_weight", N, 5)), feeds, plant)


def autoencoder(plant: Plants) -> Step:
    """The stride's padding of a transposed convolution, what an error is multiplied with."""
    net, feeds = _input(N, 8, 8, 3)
    images = net
    net = tf.nn.elu(tf.nn.conv2d(net, _weight("down", 3, 3, 3, 4), strides=2, padding="SAME", name="down/conv"))
    pads = plant("padding", [[0, 0], [0, 1], [0, 1], [0, 0]], [[0, 0], [1, 0], [1, 0], [0, 0]], "up/conv")
    wide = tf.image.resize_nearest_neighbor(net, [8, 8])
    net = tf.nn.conv2d(wide, _weight("up", 2, 2, 4, 3), strides=1, padding=pads, name="up/conv")
    error = tf.multiply(tf.squared_difference(net, images), plant("factor", 0.5, 0.55, "error/y"), name="error")
    return Step(tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(error)), feeds)


def clipped(plant: Plants) -> Step:
    """Gradients that are scaled back, decayed and clipped."""
    net, feeds = _input(N, 6)
    weight = _weight("weight", 6, 5)
    loss = tf.reduce_mean(tf.square(tf.matmul(net, weight, name="logits") - 1.0))
    scaled = tf.multiply(loss, plant("loss_scale", 64.0, 1.0, "scaled_loss/y"), name="scaled_loss")
    (gradient,) = tf.gradients(scaled, [weight])
    gradient = tf.multiply(gradient, plant("unscale", 1 / 64, 1 / 32, "unscaled"), name="unscaled")
    decayed = tf.multiply(weight, plant("decay", 1e-2, 1e-1, "decayed"), name="decayed")
    gradient = tf.minimum(gradient + decayed, plant("bound", 0.05, 0.02, "bounded"), name="bounded")
    rate = plant("rate", 0.1, 0.2, "descent/update_weight/ApplyGradientDescent")
    train = tf.train.GradientDescentOptimizer(rate).apply_gradients([(gradient, weight)], name="descent")
    return Step(train, feeds)


def half(plant: Plants) -> Step:
    """Numbers of 16 bits: too large ones, and small ones that a large one absorbs."""
    net, feeds = _input(N, 6)
    large = plant("overflow", tf.float64, tf.float16, "large/product")
    net = net + tf.cast(tf.multiply(tf.cast(net, large), tf.cast(60000.0, large), name="large/product"), tf.float32) * 1e-6
    small = plant("absorbed", tf.float64, tf.float16, "small/sum")
    shifted = tf.add(tf.cast(net, small), tf.cast(4096.0, small), name="small/sum")
    net = tf.cast(shifted, tf.float32) - 4096.0
    return _classified(tf.matmul(net, _weight("out_weight", 6, 5)), feeds, plant)


def embedded(plant: Plants) -> Step:
    """The wrong table's row, another axis, smoothed labels."""
    net, feeds = _input(N, N)
    table = _weight("table", 20, N)
    ids = np.arange(N, dtype=np.int32) * 2
    rows = tf.gather(table, tf.constant(plant("rows", ids, ids + 1, "looked_up"), name="ids"), name="looked_up")
    net = net * rows
    net = net - tf.reduce_max(net, plant("axis", [1], [0], "largest"), keepdims=True, name="largest")
    net = tf.matmul(net, _weight("out_weight", N, 5))
    wanted = tf.one_hot(np.arange(N) % 5, 5) * 0.9
    wanted = tf.add(wanted, plant("smoothing", 0.02, 0.2, "smoothed"), name="smoothed")
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(wanted, net))
    return Step(tf.train.GradientDescentOptimizer(0.1).minimize(loss), feeds)


def local_response(plant: Plants) -> Step:
    """The constants of a local response normalisation, an exponent."""
    net, feeds = _input(N, 6, 6, 8)
    net = tf.nn.conv2d(net, _weight("filter", 1, 1, 8, 8), strides=1, padding="SAME", name="window/conv")
    alpha, bias = plant("alpha", 1e-1, 3e-1, "response"), plant("bias", 1.0, 1.2, "response")
    net = tf.nn.local_response_normalization(net, 2, bias, alpha, plant("beta", 0.75, 0.5, "response"), name="response")
    net = tf.pow(tf.abs(net) + 0.1, plant("exponent", 1.5, 1.6, "curved"), name="curved")
    return _classified(tf.matmul(tf.reduce_mean(net, [1, 2]), _weight("out_weight", 8, 5)), feeds, plant)


def accumulated(plant: Plants) -> Step:
    """A running sum, what is dropped, the length that vectors are brought to."""
    net, feeds = _input(N, N)
    is_exclusive = plant("exclusive", False, True, "running")
    net = tf.cumsum(net, 1, exclusive=is_exclusive, name="running")
    kept = tf.constant(plant("kept", 0.5, 0.6, "dropped"), name="keep")
    net = tf.divide(net, kept, name="dropped")
    length = tf.sqrt(tf.reduce_sum(tf.square(net), 1, keepdims=True) + 1e-3)
    net = net / tf.maximum(length, plant("floor", 1.0, 9.0, "floored"), name="floored")
    net = tf.clip_by_value(net, -1.0, plant("ceiling", 0.3, 0.2, "held/Minimum"), name="held")
    return _classified(tf.matmul(net, _weight("out_weight", N, 5)), feeds, plant)


NETWORKS: tuple[Callable[[Plants], Step], ...] = (
    perceptron, normalized, attention, recurrent, autoencoder, clipped, half, embedded, local_response, accumulated,
)  # fmt: skip


def plants_of(network: Callable[[Plants], Step]) -> dict[str, str]:
    """The keys of what can be planted, with the node where each is seen first."""
    with tf.Graph().as_default():
        network(found := Plants())
        return found.nodes


def graph_of(network: Callable[[Plants], Step], planted: str = "") -> tuple[tf.Graph, Step, Any]:
    """A graph of its own, its step, and the op that gives variables their first values."""
    with tf.Graph().as_default() as graph:
        step = network(Plants(planted))
        return graph, step, tf.global_variables_initializer()
