"""Detectors with anchor boxes: one that classifies its anchors at once, and one that proposes regions first."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

from benchmarks.models.drawn import Draws
from benchmarks.models.drawn_tasks.choices import activation, training_step
from benchmarks.models.model import Model, integers, numbers

NEGATIVES_A_POSITIVE = 3
"""Anchors of the background that count, for each that has an object: the ratio of SSD (Liu et al., 2015)."""


def _smooth_l1(apart: tf.Tensor) -> tf.Tensor:
    size = tf.abs(apart)
    return tf.where(size < 1.0, 0.5 * tf.square(size), size - 0.5)


def _stages(draws: Draws, images: tf.Tensor, n_stages: int) -> list[tf.Tensor]:
    """Feature maps, each half the size of the one before, behind three convolutions that make an eighth."""
    act, depth, net, maps = activation(draws), draws.size(16, 48), images, []
    for n in range(n_stages + 2):
        net = tf.layers.conv2d(net, min(2**n, 4) * depth, 3, 2, padding="same", use_bias=False)
        net = act(tf.layers.batch_normalization(net, training=True))
        maps.append(net)
    return maps[2:]


def anchor_boxes(draws: Draws) -> Model:
    """Classes and corrections of anchors on maps of several sizes, the hardest of the background by their losses."""
    batch, side, n_classes, n_anchors = draws.size(2, 12), 32 * draws.size(2, 5), draws.size(5, 40), draws.one_of(3, 4, 6)
    images = tf.placeholder(tf.float32, [batch, side, side, 3])
    parts = []
    for stage in _stages(draws, images, draws.one_of(2, 3)):
        for width in (n_classes + 1, 4):
            made = tf.layers.conv2d(stage, n_anchors * width, 3, padding="same")
            parts.append(tf.reshape(made, [batch, -1, width]))
    logits, boxes = tf.concat(parts[::2], 1), tf.concat(parts[1::2], 1)
    n_all = int(logits.shape[1])
    labels, target = tf.placeholder(tf.int32, [batch, n_all]), tf.placeholder(tf.float32, [batch, n_all, 4])
    loss = _mined(logits, boxes, labels, target)
    random = np.random.default_rng(n_all)
    chosen = np.where(random.random((batch, n_all)) < 0.04, random.integers(1, n_classes + 1, (batch, n_all)), 0)
    chosen[:, 0] = 1
    feeds = {images: numbers(batch, side, side, 3), labels: chosen.astype(np.int32), target: numbers(batch, n_all, 4)}
    return Model(loss, training_step(draws, loss), feeds)


def _mined(logits: tf.Tensor, boxes: tf.Tensor, labels: tf.Tensor, target: tf.Tensor) -> tf.Tensor:
    """Cross-entropy of anchors with an object and of the hardest others, and smooth L1 of the former's boxes."""
    is_object = labels > 0
    n_objects = tf.reduce_sum(tf.to_int32(is_object))
    errors = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    background = tf.reshape(tf.where(is_object, tf.zeros_like(errors), errors), [-1])
    n_hard = tf.minimum(NEGATIVES_A_POSITIVE * n_objects, tf.size(labels) - n_objects)
    hardest, _ = tf.nn.top_k(background, n_hard)
    classes = tf.reduce_sum(tf.boolean_mask(errors, is_object)) + tf.reduce_sum(hardest)
    apart = tf.reduce_sum(_smooth_l1(boxes - target), 2) * tf.to_float(is_object)
    return (classes + tf.reduce_sum(apart)) / tf.to_float(n_objects)


def region_proposals(draws: Draws) -> Model:
    """One image: scores and corrections of anchors, the best without overlaps cut out of the map, and their classes."""
    side, n_sizes, n_objects = 16 * draws.size(5, 14), draws.one_of(2, 3), draws.size(2, 8)
    n_classes, n_kept, width = draws.size(3, 20), draws.size(12, 48), draws.size(40, 200)
    image, objects = tf.placeholder(tf.float32, [1, side, side, 3]), tf.placeholder(tf.float32, [n_objects, 4])
    classes, features = tf.placeholder(tf.int32, [n_objects]), _stages(draws, image, 1)[0]
    anchors = _anchors(int(features.shape[1]), n_sizes)
    labels, target = tf.placeholder(tf.int32, [len(anchors)]), tf.placeholder(tf.float32, [len(anchors), 4])
    inner = tf.layers.conv2d(features, draws.size(24, 96), 3, padding="same", activation=tf.nn.relu)
    scores = tf.reshape(tf.layers.conv2d(inner, n_sizes, 1), [-1])
    moves = tf.reshape(tf.layers.conv2d(inner, 4 * n_sizes, 1), [-1, 4])
    boxes = _proposed(tf.stop_gradient(scores), tf.stop_gradient(moves), tf.constant(anchors), n_kept)
    cut = tf.image.crop_and_resize(features, boxes, tf.zeros([tf.shape(boxes)[0]], tf.int32), [4, 4])
    flat = tf.reshape(cut, [-1, 16 * int(features.shape[3])])
    logits = tf.layers.dense(tf.layers.dense(flat, width, tf.nn.relu), n_classes + 1)
    loss = _proposal_loss(scores, moves, labels, target) + _class_loss(logits, boxes, objects, classes)
    feeds = {image: numbers(1, side, side, 3), labels: integers(3, len(anchors)) - 1, target: numbers(len(anchors), 4)}
    feeds |= {objects: _objects(n_objects), classes: 1 + integers(n_classes, n_objects)}
    return Model(loss, training_step(draws, loss), feeds)


def _anchors(n_places: int, n_sizes: int) -> np.ndarray:
    """Square boxes y0, x0, y1, x1, fp32 in parts of the image: at each place some sizes, each 1.5 times the one before."""
    centres = (np.arange(n_places) + 0.5) / n_places
    y, x, half = np.meshgrid(centres, centres, 0.12 * 1.5 ** np.arange(n_sizes), indexing="ij")
    return np.stack([y - half, x - half, y + half, x + half], -1).reshape(-1, 4).astype(np.float32)


def _objects(n_objects: int) -> np.ndarray:
    random = np.random.default_rng(n_objects)
    centre, half = random.uniform(0.2, 0.8, (n_objects, 2)), random.uniform(0.1, 0.2, (n_objects, 2))
    return np.concatenate([centre - half, centre + half], 1).astype(np.float32)


def _proposed(scores: tf.Tensor, moves: tf.Tensor, anchors: tf.Tensor, n_kept: int) -> tf.Tensor:
    """The boxes of the best scores, those that overlap a better one left out, (at most n_kept, 4)."""
    best, places = tf.nn.top_k(scores, tf.minimum(4 * n_kept, tf.size(scores)))
    boxes = tf.clip_by_value(tf.gather(anchors + 0.1 * tf.tanh(moves), places), 0.0, 1.0)
    return tf.gather(boxes, tf.image.non_max_suppression(boxes, best, n_kept, 0.7))


def _proposal_loss(scores: tf.Tensor, moves: tf.Tensor, labels: tf.Tensor, target: tf.Tensor) -> tf.Tensor:
    """Cross-entropy of the anchors whose label is not -1, and smooth L1 of those with an object."""
    used = tf.reshape(tf.where(tf.not_equal(labels, -1)), [-1])
    wanted = tf.to_float(tf.gather(labels, used))
    objectness = tf.nn.sigmoid_cross_entropy_with_logits(labels=wanted, logits=tf.gather(scores, used))
    with_object = tf.reshape(tf.where(tf.equal(labels, 1)), [-1])
    apart = _smooth_l1(tf.gather(moves, with_object) - tf.gather(target, with_object))
    return tf.reduce_mean(objectness) + tf.reduce_mean(tf.reduce_sum(apart, 1))


def _class_loss(logits: tf.Tensor, boxes: tf.Tensor, objects: tf.Tensor, classes: tf.Tensor) -> tf.Tensor:
    """Cross-entropy of proposals; one's class is that of the object that it overlaps most, or the background."""
    low = tf.maximum(boxes[:, None, :2], objects[None, :, :2])
    high = tf.minimum(boxes[:, None, 2:], objects[None, :, 2:])
    shared = tf.reduce_prod(tf.maximum(high - low, 0.0), 2)
    areas = [tf.reduce_prod(some[:, 2:] - some[:, :2], 1) for some in (boxes, objects)]
    overlap = shared / (areas[0][:, None] + areas[1][None, :] - shared)
    is_object = tf.reduce_max(overlap, 1) > 0.3
    nearest = tf.gather(classes, tf.argmax(overlap, 1))
    labels = tf.where(is_object, nearest, tf.zeros_like(nearest))
    return tf.losses.sparse_softmax_cross_entropy(labels, logits)
