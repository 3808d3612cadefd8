"""Segmentation with detection, volumes and sequences by convolution, policy gradient."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

from tests.graphs.training import Feeds, Training, labels, numbers, usual


def _double(net: tf.Tensor, depth: int, dilation: int = 1) -> tf.Tensor:
    net = tf.layers.conv2d(net, depth, 3, padding="same", activation=tf.nn.elu, dilation_rate=dilation)
    return tf.layers.conv2d(tf.pad(net, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT"), depth, 3, activation=tf.nn.relu)


def _atrous(net: tf.Tensor, depth: int) -> tf.Tensor:
    """A dilated convolution as TF1 code spells it: space to batch, convolution, back."""
    weights = tf.get_variable("atrous", [3, 3, net.shape[3], depth])
    blocks = tf.space_to_batch_nd(net, [2, 2], [[2, 2], [2, 2]])
    return tf.batch_to_space_nd(tf.nn.conv2d(blocks, weights, [1, 1, 1, 1], "VALID"), [2, 2], [[0, 0], [0, 0]])


def _smooth_l1(difference: tf.Tensor) -> tf.Tensor:
    size = tf.abs(difference)
    return tf.where(size < 1.0, 0.5 * size * size, size - 0.5)


def _best_boxes(boxes: tf.Tensor, scores: tf.Tensor) -> tf.Tensor:
    """Corners of the boxes that suppression leaves among the better half."""
    best, order = tf.nn.top_k(scores, k=8)
    chosen = tf.image.non_max_suppression(tf.gather(boxes, order), best, 4, iou_threshold=0.6)
    return tf.gather(boxes, tf.gather(order, chosen))


def unet_detect() -> Training:
    """A U-Net with both kinds of resizing, and boxes cut out of its features."""
    images = tf.placeholder(tf.float32, [2, 16, 16, 3])
    masks, boxes = tf.placeholder(tf.float32, [2, 16, 16, 1]), tf.placeholder(tf.float32, [16, 4])
    one = _double(images, 6)
    two = _double(tf.layers.max_pooling2d(one, 2, 2), 8)
    three = _atrous(tf.layers.max_pooling2d(two, 2, 2), 12)
    up = tf.image.resize_bilinear(three, tf.shape(two)[1:3], align_corners=True)
    two = _double(tf.concat([two, up], 3), 8)
    up = tf.image.resize_nearest_neighbor(two, [16, 16])
    one = _double(tf.concat([one, up], 3), 6)
    logits = tf.layers.conv2d(one, 1, 1)
    chances = tf.sigmoid(logits)
    dice = 1.0 - 2.0 * tf.reduce_sum(chances * masks) / (tf.reduce_sum(chances) + tf.reduce_sum(masks) + 1.0)
    moved = boxes + 0.1 * tf.tanh(tf.get_variable("shifts", [16, 4]))
    scores = tf.reduce_mean(chances) + tf.get_variable("scores", [16])
    kept = _best_boxes(moved, scores)
    crops = tf.image.crop_and_resize(one, kept, tf.zeros([tf.shape(kept)[0]], tf.int32), [4, 4])
    strong = tf.boolean_mask(crops, tf.reduce_mean(crops, [1, 2, 3]) > -10.0)
    away = tf.reduce_mean(_smooth_l1(moved - boxes)) + tf.reduce_mean(tf.abs(strong)) + tf.reduce_mean(tf.nn.softplus(scores))
    heat = tf.scatter_nd(tf.where(masks[:, :, :, 0] > 0.9), tf.ones([tf.shape(tf.where(masks > 0.9))[0]]), [2, 16, 16])
    spread = tf.image.resize_bilinear(tf.expand_dims(heat, 3), [8, 8])
    away += tf.reduce_mean(tf.abs(tf.image.resize_bilinear(logits, [8, 8]) - spread[:, ::1, ::1, :]))

    def feeds(step: int) -> Feeds:
        corners = np.sort(numbers(step, 16, 2, 2, low=0.0), axis=1).reshape(16, 4)
        return {images: numbers(step, 2, 16, 16, 3), masks: numbers(step, 2, 16, 16, 1, low=0.0), boxes: corners}

    return usual(dice + away, tf.train.AdamOptimizer(1e-3), feeds)


def conv3d_conv1d() -> Training:
    """Video and signal branches; a cumulated target, label smoothing by hand."""
    video, signal = tf.placeholder(tf.float32, [4, 6, 8, 8, 2]), tf.placeholder(tf.float32, [4, 20, 3])
    target = tf.placeholder(tf.float32, [4, 5])
    net = tf.layers.conv3d(video, 6, 3, padding="same", activation=tf.nn.relu6)
    net = tf.layers.max_pooling3d(net, 2, 2)
    net = tf.layers.conv3d(net, 8, (1, 3, 3), (1, 2, 2), padding="same", activation=tf.nn.selu)
    seen = tf.reduce_mean(net, [1, 2, 3])
    heard = tf.layers.conv1d(signal, 8, 5, 2, padding="same", activation=tf.nn.selu)
    heard = tf.reduce_max(tf.layers.conv1d(heard, 8, 3, padding="valid"), 1)
    logits = tf.layers.conv1d(tf.expand_dims(tf.concat([seen, heard], 1), 1), 5, 1)
    logits = tf.squeeze(logits, 1)
    shifted = logits - tf.stop_gradient(tf.reduce_max(logits, 1, keepdims=True))
    chances = tf.exp(shifted) / tf.reduce_sum(tf.exp(shifted), 1, keepdims=True)
    ordinal = tf.reduce_mean(tf.square(tf.cumsum(chances, 1) - tf.cumsum(target, 1, reverse=True)))
    loss = ordinal - tf.reduce_mean(tf.reduce_sum(target * tf.log(chances + 1e-6), 1))

    def feeds(step: int) -> Feeds:
        one_hot = np.eye(5, dtype=np.float32)[labels(step, 5, 4)]
        return {video: numbers(step, 4, 6, 8, 8, 2), signal: numbers(step, 4, 20, 3), target: one_hot}

    return usual(loss, tf.train.AdamOptimizer(1e-3), feeds)


def rl_pg() -> Training:
    """Policy gradient on actions drawn in the graph, a value baseline, an entropy bonus and noise for exploration."""
    states, returns = tf.placeholder(tf.float32, [32, 4]), tf.placeholder(tf.float32, [32])
    hidden = tf.layers.dense(states, 16, tf.nn.tanh)
    logits = tf.layers.dense(hidden, 3) + 0.01 * tf.random_normal([32, 3], seed=8)
    actions = tf.squeeze(tf.multinomial(tf.nn.log_softmax(logits), 1, seed=7), 1)
    value = tf.squeeze(tf.layers.dense(hidden, 1), 1)
    chances = tf.nn.softmax(logits)
    log_chance = tf.log(tf.reduce_sum(chances * tf.one_hot(actions, 3), 1) + 1e-8)
    advantage = tf.stop_gradient(returns - value)
    entropy = -tf.reduce_mean(tf.reduce_sum(chances * tf.log(chances + 1e-8), 1))
    loss = -tf.reduce_mean(log_chance * advantage) + 0.5 * tf.reduce_mean(tf.square(returns - value)) - 0.01 * entropy
    feeds = lambda step: {states: numbers(step, 32, 4), returns: numbers(step, 32)}  # noqa: E731
    return usual(loss, tf.train.AdamOptimizer(0.01), feeds)
