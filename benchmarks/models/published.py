"""The networks whose step times on the chip are published: as large as they were there, for compilation only."""

from __future__ import annotations

import tensorflow.compat.v1 as tf
from npu_bridge.estimator.npu_unary_ops import npu_unary_ops

from benchmarks.models.language import dense, encoder_layer, layer_norm
from benchmarks.models.model import Model
from benchmarks.models.vision import batch_norm, bottleneck_logits, convolved

WEIGHT_DECAY = 1e-4
LOSS_SCALE = 1024.0


def _trained(loss: tf.Tensor, optimizer: tf.train.Optimizer, clip_norm: float | None = None) -> tf.Operation:
    """One step with a scaled loss, as mixed precision needs."""
    trained = tf.trainable_variables()
    gradients = [
        gradient * (1.0 / LOSS_SCALE) for gradient in map(tf.convert_to_tensor, tf.gradients(loss * LOSS_SCALE, trained))
    ]
    if clip_norm is not None:
        gradients, _ = tf.clip_by_global_norm(gradients, clip_norm)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        return optimizer.apply_gradients(list(zip(gradients, trained, strict=True)), tf.train.get_or_create_global_step())


def _classifier(images: tf.Tensor, logits: tf.Tensor, optimizer: tf.train.Optimizer) -> Model:
    target = tf.placeholder(tf.int32, [int(images.shape[0])])
    hot = tf.one_hot(target, int(logits.shape[1]))
    loss = tf.losses.softmax_cross_entropy(hot, logits, label_smoothing=0.1)
    kernels = [variable for variable in tf.trainable_variables() if "batch_normalization" not in variable.name]
    loss += WEIGHT_DECAY * tf.add_n([tf.nn.l2_loss(variable) for variable in kernels])
    return Model(loss, _trained(loss, optimizer), {})


def resnet101(batch: int) -> Model:
    """ResNet-101 of 224 x 224, momentum."""
    images = tf.placeholder(tf.float32, [batch, 224, 224, 3])
    return _classifier(images, bottleneck_logits(images, 23, 1001), tf.train.MomentumOptimizer(0.1, 0.9))


def _hard_sigmoid(net: tf.Tensor) -> tf.Tensor:
    return tf.nn.relu6(net + 3.0) * (1.0 / 6.0)


def _hard_swish(net: tf.Tensor) -> tf.Tensor:
    return net * _hard_sigmoid(net)


def _squeezed(net: tf.Tensor) -> tf.Tensor:
    """Squeeze and excitation with a quarter of the channels."""
    channels = int(net.shape[3])
    pooled = tf.reduce_mean(net, [1, 2], keepdims=True)
    inner = tf.layers.conv2d(pooled, max(8, channels // 4), 1, activation=tf.nn.relu)
    return net * _hard_sigmoid(tf.layers.conv2d(inner, channels, 1))


_STAGES = (
    (3, 16, 16, False, "relu", 1), (3, 64, 24, False, "relu", 2), (3, 72, 24, False, "relu", 1), (5, 72, 40, True, "relu", 2),
    (5, 120, 40, True, "relu", 1), (5, 120, 40, True, "relu", 1), (3, 240, 80, False, "swish", 2),
    (3, 200, 80, False, "swish", 1),
    (3, 184, 80, False, "swish", 1), (3, 184, 80, False, "swish", 1), (3, 480, 112, True, "swish", 1),
    (3, 672, 112, True, "swish", 1), (5, 672, 160, True, "swish", 2), (5, 960, 160, True, "swish", 1),
    (5, 960, 160, True, "swish", 1),
)  # fmt: skip
"""Kernel size, expanded channels, channels, squeeze and excitation, activation and stride of each block.  Source: table 1 of
the paper "Searching for MobileNetV3" (Howard et al., 2019)."""


def mobilenet_v3_large(batch: int) -> Model:
    """MobileNetV3-Large of 224 x 224, RMSProp."""
    images = tf.placeholder(tf.float32, [batch, 224, 224, 3])
    net = _hard_swish(convolved(images, 16, 3, 2))
    for number, (size, expanded, depth, squeezes, activation, stride) in enumerate(_STAGES):
        act = tf.nn.relu if activation == "relu" else _hard_swish
        shortcut, channels = net, int(net.shape[3])
        if expanded != channels:
            net = act(convolved(net, expanded, 1))
        weights = tf.get_variable(f"depthwise_{number}", [size, size, expanded, 1])
        net = act(batch_norm(tf.nn.depthwise_conv2d(net, weights, [1, stride, stride, 1], "SAME")))
        net = convolved(_squeezed(net) if squeezes else net, depth, 1)
        net = shortcut + net if stride == 1 and channels == depth else net
    net = _hard_swish(convolved(net, 960, 1))
    net = _hard_swish(tf.layers.conv2d(tf.reduce_mean(net, [1, 2], keepdims=True), 1280, 1))
    logits = tf.layers.dense(tf.nn.dropout(tf.layers.flatten(net), keep_prob=0.8), 1001)
    return _classifier(images, logits, tf.train.RMSPropOptimizer(0.01, momentum=0.9))


def bert_large(batch: int, length: int = 128, n_layers: int = 24, width: int = 1024, n_words: int = 21128) -> Model:
    """BERT-Large in pre-training: 20 masked words a sentence, next-sentence prediction, Adam with clipped gradients."""
    words, mask, places = (tf.placeholder(tf.int32, shape) for shape in ([batch, length], [batch, length], [batch * 20]))
    masked, follows = tf.placeholder(tf.int32, [batch * 20]), tf.placeholder(tf.int32, [batch])
    initializer = tf.truncated_normal_initializer(stddev=0.02)
    table = tf.get_variable("words", [n_words, width], initializer=initializer)
    x = tf.nn.embedding_lookup(table, words) + tf.get_variable("positions", [512, width], initializer=initializer)[:length]
    x = tf.reshape(tf.nn.dropout(layer_norm(x, "input"), keep_prob=0.9), [batch * length, width])
    adder = (1.0 - tf.cast(tf.reshape(mask, [batch, 1, 1, length]), tf.float32)) * -10000.0
    for index in range(n_layers):
        x = encoder_layer(x, adder, f"layer{index}", batch, length, npu_unary_ops.gelu)
    inner = layer_norm(dense(tf.gather(x, places), width, "transform", npu_unary_ops.gelu), "transform")
    guesses = tf.nn.bias_add(tf.matmul(inner, table, transpose_b=True), tf.get_variable("output_bias", [n_words]))
    pooled = dense(tf.reshape(x, [batch, length, width])[:, 0], width, "pooler", tf.tanh)
    loss = tf.losses.sparse_softmax_cross_entropy(masked, guesses)
    loss += tf.losses.sparse_softmax_cross_entropy(follows, dense(pooled, 2, "next"))
    return Model(loss, _trained(loss, tf.train.AdamOptimizer(1e-4), clip_norm=1.0), {})
