"""Networks on the nodes and edges of a graph: messages along edges, and products with a sparse matrix."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

from benchmarks.models.drawn import Draws
from benchmarks.models.drawn_tasks.choices import activation, training_step
from benchmarks.models.model import Model, integers, numbers

N_CLASSES = 7


def _edges(n_nodes: int, n_edges: int) -> np.ndarray:
    """Pairs of nodes, int32 (n_edges, 2), in the order of their rows: each from a node to a node."""
    pairs = integers(n_nodes, n_edges, 2)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def message_passing(draws: Draws) -> Model:
    """A batch of small graphs in one: dense layers on edges, sums by node, a GRU's update, sums by graph; squared error."""
    n_graphs, n_nodes = draws.size(8, 48), draws.size(8, 30)
    n_all, n_edges = n_graphs * n_nodes, n_graphs * n_nodes * draws.one_of(2, 3, 4)
    width, edge_width, n_features = draws.size(16, 96), draws.size(3, 12), draws.size(6, 40)
    act, nodes = activation(draws), tf.placeholder(tf.float32, [n_all, n_features])
    kinds, ends = tf.placeholder(tf.float32, [n_edges, edge_width]), tf.placeholder(tf.int32, [n_edges, 2])
    graphs, target = tf.placeholder(tf.int32, [n_all]), tf.placeholder(tf.float32, [n_graphs])
    state, cell = tf.layers.dense(nodes, width, act), tf.nn.rnn_cell.GRUCell(width)
    for _ in range(draws.one_of(2, 3, 4)):
        sides = [tf.gather(state, ends[:, side]) for side in (0, 1)]
        messages = tf.layers.dense(tf.concat([*sides, kinds], 1), width, act, name="message", reuse=tf.AUTO_REUSE)
        _, state = cell(tf.unsorted_segment_sum(messages, ends[:, 1], n_all), state)
    gates = tf.layers.dense(tf.concat([state, nodes], 1), width, tf.sigmoid)
    pooled = tf.unsorted_segment_sum(gates * tf.layers.dense(state, width, act), graphs, n_graphs)
    loss = tf.losses.mean_squared_error(target, tf.squeeze(tf.layers.dense(pooled, 1), 1))
    feeds = {nodes: numbers(n_all, n_features), kinds: numbers(n_edges, edge_width), ends: _edges(n_all, n_edges)}
    feeds |= {graphs: np.repeat(np.arange(n_graphs, dtype=np.int32), n_nodes), target: numbers(n_graphs)}
    return Model(loss, training_step(draws, loss), feeds)


def sparse_graph_convolutions(draws: Draws) -> Model:
    """Layers of a graph's normalised adjacency times features, with dropout; the loss of the nodes that have a label."""
    n_nodes, n_features, width = draws.size(300, 3000), draws.size(50, 500), draws.size(16, 96)
    pairs = _edges(n_nodes, n_nodes * draws.one_of(3, 5, 8))
    pairs, act, rate = np.unique(pairs, axis=0).astype(np.int64), activation(draws), draws.one_of(1, 3, 5) / 10
    places, weights = tf.placeholder(tf.int64, pairs.shape), tf.placeholder(tf.float32, [len(pairs)])
    features, labels = tf.placeholder(tf.float32, [n_nodes, n_features]), tf.placeholder(tf.int32, [n_nodes])
    mask = tf.placeholder(tf.float32, [n_nodes])
    adjacency, net = tf.SparseTensor(places, weights, [n_nodes, n_nodes]), features
    for _ in range(draws.one_of(1, 2)):
        net = act(_propagated(adjacency, tf.nn.dropout(net, rate=rate), width))
    errors = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=_propagated(adjacency, net, N_CLASSES))
    loss = tf.reduce_mean(errors * mask / tf.reduce_mean(mask))
    loss += 5e-4 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if "kernel" in v.name])
    feeds = {places: pairs, weights: _normalized(pairs, n_nodes), features: numbers(n_nodes, n_features)}
    feeds |= {labels: integers(N_CLASSES, n_nodes), mask: (np.arange(n_nodes) % 4 == 0).astype(np.float32)}
    return Model(loss, training_step(draws, loss), feeds)


def _propagated(adjacency: tf.SparseTensor, net: tf.Tensor, width: int) -> tf.Tensor:
    mixed = tf.sparse_tensor_dense_matmul(adjacency, tf.layers.dense(net, width, use_bias=False))
    return mixed + tf.get_variable(f"bias_{mixed.op.name}", [width], initializer=tf.zeros_initializer())


def _normalized(pairs: np.ndarray, n_nodes: int) -> np.ndarray:
    """Weights of edges as Kipf and Welling (2016) have them: one over the roots of both ends' degrees."""
    leaving, coming = (np.maximum(np.bincount(pairs[:, side], minlength=n_nodes), 1) for side in (0, 1))
    return np.asarray(1 / np.sqrt(leaving[pairs[:, 0]] * coming[pairs[:, 1]]), np.float32)
