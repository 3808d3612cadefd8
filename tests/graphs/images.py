"""Image classifiers and generators: slim's networks, tf.layers, batch norm, groups, DCGAN."""

from __future__ import annotations

import tensorflow.compat.v1 as tf
import tf_slim as slim
from keras.src.legacy_tf_layers import normalization as keras_normalization
from tensorflow.python.layers import normalization
from tf_slim.nets import inception_v3, resnet_utils, resnet_v1

from tests.graphs.training import Feeds, Training, labels, numbers, usual

normalization.normalization = keras_normalization  # TensorFlow looks for it in tf_keras, which is Keras 2 under another name


def _classifier(size: int, channels: int = 3, classes: int = 10, batch: int = 4) -> tuple[tf.Tensor, tf.Tensor, object]:
    images = tf.placeholder(tf.float32, [None, size, size, channels])
    target = tf.placeholder(tf.int32, [None])

    def feeds(step: int) -> Feeds:
        return {images: numbers(step, batch, size, size, channels), target: labels(step, classes, batch)}

    return images, target, feeds


def slim_resnet50() -> Training:
    """The blocks of ResNet-50 at an eighth of its width, on images that stay large enough for batch statistics."""
    images, target, feeds = _classifier(32)
    depths = [("block1", 8, 3, 2), ("block2", 16, 4, 1), ("block3", 32, 6, 1), ("block4", 64, 3, 1)]
    blocks = [resnet_v1.resnet_v1_block(name, base_depth=d, num_units=n, stride=s) for name, d, n, s in depths]
    with slim.arg_scope(resnet_utils.resnet_arg_scope(weight_decay=1e-4)):
        logits, _ = resnet_v1.resnet_v1(images, blocks, 10, is_training=True)
    loss = tf.losses.sparse_softmax_cross_entropy(target, tf.reshape(logits, [-1, 10]))
    return usual(loss, tf.train.MomentumOptimizer(0.01, 0.9, use_nesterov=True), feeds)


def slim_vgg16() -> Training:
    images, target, feeds = _classifier(32)
    with slim.arg_scope([slim.conv2d, slim.fully_connected], weights_regularizer=slim.l2_regularizer(5e-4)):
        net = images
        for block, (repeats, depth) in enumerate([(2, 8), (2, 16), (3, 32), (3, 64), (3, 64)], 1):
            net = slim.repeat(net, repeats, slim.conv2d, depth, [3, 3], scope=f"conv{block}")
            net = slim.max_pool2d(net, [2, 2], scope=f"pool{block}")
        net = slim.conv2d(net, 128, [1, 1], padding="VALID", scope="fc6")
        net = slim.dropout(net, 0.5, is_training=True, scope="dropout6")
        logits = tf.squeeze(slim.conv2d(net, 10, [1, 1], activation_fn=None, scope="fc8"), [1, 2])
    loss = tf.losses.sparse_softmax_cross_entropy(target, logits)
    return usual(loss, tf.train.GradientDescentOptimizer(0.1), feeds)


def slim_inception3() -> Training:
    """Inception v3 with an eighth of its channels and the auxiliary head."""
    images, target, feeds = _classifier(107, batch=4)
    with slim.arg_scope(inception_v3.inception_v3_arg_scope()):
        logits, ends = inception_v3.inception_v3(images, 10, dropout_keep_prob=0.8, min_depth=8, depth_multiplier=0.125)
    loss = tf.losses.sparse_softmax_cross_entropy(target, logits)
    loss += 0.4 * tf.losses.sparse_softmax_cross_entropy(target, ends["AuxLogits"])
    return usual(loss, tf.train.RMSPropOptimizer(0.01, momentum=0.9, epsilon=1.0), feeds)


def slim_alexnet() -> Training:
    images, target, feeds = _classifier(96)
    decay = slim.l2_regularizer(5e-4)
    with slim.arg_scope([slim.conv2d], weights_regularizer=decay, biases_initializer=tf.constant_initializer(0.1)):
        net = slim.conv2d(images, 16, [11, 11], 4, padding="VALID")
        net = slim.max_pool2d(net, [3, 3], 2)
        net = slim.conv2d(net, 24, [5, 5])
        net = slim.max_pool2d(net, [3, 3], 2)
        net = slim.repeat(net, 3, slim.conv2d, 32, [3, 3])
        net = slim.max_pool2d(net, [3, 3], 2)
        with slim.arg_scope([slim.conv2d], weights_initializer=tf.truncated_normal_initializer(0.0, 0.05)):
            net = slim.dropout(slim.conv2d(net, 64, [1, 1], padding="VALID"), 0.5, is_training=True)
            logits = tf.squeeze(slim.conv2d(net, 10, net.shape[1:3], padding="VALID", activation_fn=None), [1, 2])
    loss = tf.losses.sparse_softmax_cross_entropy(target, logits)
    return usual(loss, tf.train.AdagradOptimizer(0.05), feeds)


def lenet_layers() -> Training:
    images, target, feeds = _classifier(28, channels=1, batch=16)
    keep = tf.placeholder_with_default(0.6, [])
    net = tf.layers.conv2d(images, 8, 5, padding="same", activation=tf.nn.relu)
    net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.conv2d(net, 16, 5, padding="same", activation=tf.nn.relu)
    net = tf.layers.flatten(tf.layers.max_pooling2d(net, 2, 2))
    net = tf.nn.dropout(tf.layers.dense(net, 64, tf.nn.relu), keep_prob=keep)
    loss = tf.losses.sparse_softmax_cross_entropy(target, tf.layers.dense(net, 10))
    return usual(loss, tf.train.AdamOptimizer(1e-3), feeds)


def bn_groups() -> Training:
    """Convolutions in groups, by depth and separable, with batch and local response normalisation."""
    images, target, feeds = _classifier(16, channels=4, batch=8)
    regularizer = tf.keras.regularizers.l2(0.5e-4)
    parts = [tf.layers.conv2d(part, 8, 3, padding="same", use_bias=False) for part in tf.split(images, 2, axis=3)]
    net = tf.layers.batch_normalization(tf.concat(parts, 3), training=True, momentum=0.9)
    net = tf.nn.lrn(tf.nn.leaky_relu(net, 0.1), depth_radius=2, bias=1.0, alpha=1e-2)
    depthwise = tf.get_variable("depthwise", [3, 3, 16, 2], regularizer=regularizer)
    net = tf.nn.depthwise_conv2d(net, depthwise, [1, 2, 2, 1], "SAME")
    net = tf.layers.batch_normalization(net, training=True, scale=False, momentum=0.9)
    net = tf.layers.average_pooling2d(tf.nn.leaky_relu(net), 2, 2)
    net = tf.layers.separable_conv2d(net, 24, 3, padding="same", activation=tf.nn.leaky_relu)
    loss = tf.losses.sparse_softmax_cross_entropy(target, tf.layers.dense(tf.layers.flatten(net), 10))
    return usual(loss, tf.train.FtrlOptimizer(0.05, l1_regularization_strength=1e-4), feeds)


def _generator(noise: tf.Tensor) -> tf.Tensor:
    with tf.variable_scope("generator"):
        net = tf.reshape(tf.layers.dense(noise, 4 * 4 * 32, use_bias=False), [-1, 4, 4, 32])
        net = tf.nn.relu(tf.layers.batch_normalization(net, training=True))
        net = tf.layers.conv2d_transpose(net, 16, 5, 2, padding="same", use_bias=False)
        net = tf.nn.leaky_relu(tf.layers.batch_normalization(net, training=True))
        return tf.layers.conv2d_transpose(net, 3, 5, 2, padding="same", activation=tf.nn.tanh)


def _discriminator(images: tf.Tensor) -> tf.Tensor:
    with tf.variable_scope("discriminator", reuse=tf.AUTO_REUSE):
        net = tf.nn.leaky_relu(tf.layers.conv2d(images, 16, 5, 2, padding="same", name="one"))
        net = tf.layers.conv2d(net, 32, 5, 2, padding="same", use_bias=False, name="two")
        net = tf.nn.leaky_relu(tf.layers.batch_normalization(net, training=True, name="norm"))
        net = tf.layers.average_pooling2d(net, 2, 2)
        return tf.layers.dense(tf.layers.flatten(net), 1, name="three")


def dcgan() -> Training:
    """A step trains the discriminator, then the generator."""
    images = tf.placeholder(tf.float32, [8, 16, 16, 3])
    made = _generator(tf.random_uniform([8, 20], -1, 1, seed=11))
    on_real, on_made = _discriminator(images), _discriminator(made)

    def mean_loss(logits: tf.Tensor, target: float) -> tf.Tensor:
        wanted = tf.ones_like(logits) * target
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=wanted, logits=logits))

    of_critic = mean_loss(on_real, 0.9) + mean_loss(on_made, 0.0) + 1e-4 * tf.nn.l2_loss(on_real)
    of_maker = mean_loss(on_made, 1.0)
    critic, maker = (tf.trainable_variables(scope) for scope in ("discriminator", "generator"))
    with tf.control_dependencies([of_critic, of_maker, *tf.get_collection(tf.GraphKeys.UPDATE_OPS)]):
        first = tf.train.AdamOptimizer(2e-4, beta1=0.5).minimize(of_critic, var_list=critic)
        second = tf.train.AdamOptimizer(2e-4, beta1=0.5).minimize(of_maker, tf.train.get_or_create_global_step(), maker)
    tf.summary.scalar("mean_made", tf.reduce_mean(tf.sigmoid(on_made)))
    summaries = tf.summary.merge_all()

    def step(session: tf.Session, values: Feeds) -> object:
        session.run([of_critic, first], values)
        return session.run([of_maker, second, summaries], values)[0]

    return Training(step, lambda number: {images: numbers(number, 8, 16, 16, 3)}, saver=tf.train.Saver())
