"""Trains ResNet-20 on the handwritten digits, enlarged to 16 x 16 x 3, as a migrated script does.

python resnet20.py --precision_mode=allow_mix_precision --loss_scale=1
"""

from __future__ import annotations

import os

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import ExponentialUpdateLossScaleManager, NPULossScaleOptimizer, npu_config_proto

DIGITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "data", "digits.npz")
N_TRAINED = 1500

flags = tf.app.flags
flags.DEFINE_string("precision_mode", "must_keep_origin_dtype", "Precision mode of the session")
flags.DEFINE_boolean("loss_scale", False, "Whether to scale the loss")
flags.DEFINE_integer("steps", 200, "Training steps")
flags.DEFINE_integer("batch_size", 64, "Images in a batch")
flags.DEFINE_integer("seed", 7, "Random seed")
FLAGS = flags.FLAGS


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Images and labels."""
    with np.load(DIGITS) as data:
        images, labels = data["images"].astype(np.float32) / 16 - 0.3, data["labels"].astype(np.int32)
    large = np.kron(images, np.ones((1, 2, 2), np.float32))
    return np.repeat(large[..., np.newaxis], 3, axis=3), labels


class Network:
    """The layers, with seeds of their own and so equal weights in every run."""

    def __init__(self, is_training: tf.Tensor, seed: int) -> None:
        self.is_training, self.seed = is_training, seed

    def convolved(self, net: tf.Tensor, depth: int, size: int, stride: int = 1) -> tf.Tensor:
        self.seed += 1
        weights = tf.keras.initializers.he_normal(seed=self.seed)
        net = tf.layers.conv2d(net, depth, size, stride, padding="same", use_bias=False, kernel_initializer=weights)
        return tf.layers.batch_normalization(net, momentum=0.9, training=self.is_training)

    def logits(self, images: tf.Tensor) -> tf.Tensor:
        net = tf.nn.relu(self.convolved(images, 16, 3))
        for depth, first_stride in ((16, 1), (32, 2), (64, 2)):
            for stride in (first_stride, 1, 1):
                shortcut = net if stride == 1 else self.convolved(net, depth, 1, stride)
                inner = tf.nn.relu(self.convolved(net, depth, 3, stride))
                net = tf.nn.relu(shortcut + self.convolved(inner, depth, 3))
        weights = tf.glorot_uniform_initializer(seed=self.seed)
        return tf.layers.dense(tf.reduce_mean(net, [1, 2]), 10, kernel_initializer=weights)


def optimizer(step: tf.Variable) -> tf.train.Optimizer:
    rate = tf.train.piecewise_constant(step, [FLAGS.steps * 3 // 4], [0.05, 0.005])
    plain = tf.train.MomentumOptimizer(rate, 0.9)
    if not FLAGS.loss_scale:
        return plain
    manager = ExponentialUpdateLossScaleManager(2.0**24, 1000, decr_every_n_nan_or_inf=1, decr_ratio=0.5)
    return NPULossScaleOptimizer(plain, manager)


def main(_: list[str]) -> None:
    pictures, classes = digits()
    images, labels = tf.placeholder(tf.float32, [None, 16, 16, 3]), tf.placeholder(tf.int32, [None])
    is_training = tf.placeholder(tf.bool, [])
    logits = Network(is_training, 100 * FLAGS.seed).logits(images)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    hits = tf.cast(tf.equal(tf.argmax(logits, 1, output_type=tf.int32), labels), tf.float32)
    step = tf.train.get_or_create_global_step()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = optimizer(step).minimize(loss, step)
    config = npu_config_proto()
    entry = config.graph_options.rewrite_options.custom_optimizers[0]
    entry.parameter_map["precision_mode"].s = tf.compat.as_bytes(FLAGS.precision_mode)
    random = np.random.RandomState(FLAGS.seed)
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        while session.run(step) < FLAGS.steps:  # a skipped step does not count
            chosen = random.randint(0, N_TRAINED, FLAGS.batch_size)
            session.run(train, {images: pictures[chosen], labels: classes[chosen], is_training: True})
        found = session.run(hits, {images: pictures[N_TRAINED:], labels: classes[N_TRAINED:], is_training: False})
    print(f"Test accuracy: {found.mean():.4f}")


if __name__ == "__main__":
    tf.app.run()
