"""Image classifiers and a generator, written with tf.layers."""

from __future__ import annotations

import tensorflow.compat.v1 as tf

from benchmarks.models.model import Model, classifier, numbers


def batch_norm(net: tf.Tensor) -> tf.Tensor:
    """With the statistics of the batch."""
    return tf.layers.batch_normalization(net, training=True)


def convolved(net: tf.Tensor, depth: int, size: int, stride: int = 1) -> tf.Tensor:
    """A convolution without bias, normalised."""
    return batch_norm(tf.layers.conv2d(net, depth, size, stride, padding="same", use_bias=False))


def lenet() -> Model:
    """LeNet, batch 64 of 28 x 28."""
    images = tf.placeholder(tf.float32, [64, 28, 28, 1])
    net = tf.layers.max_pooling2d(tf.layers.conv2d(images, 32, 5, padding="same", activation=tf.nn.relu), 2, 2)
    net = tf.layers.max_pooling2d(tf.layers.conv2d(net, 64, 5, padding="same", activation=tf.nn.relu), 2, 2)
    net = tf.layers.dense(tf.layers.flatten(net), 1024, tf.nn.relu)
    return classifier(images, tf.layers.dense(net, 10), 10, tf.train.AdamOptimizer(1e-4))


def resnet20() -> Model:
    """ResNet-20 for CIFAR-10, batch 128 of 32 x 32."""
    images = tf.placeholder(tf.float32, [128, 32, 32, 3])
    net = tf.nn.relu(convolved(images, 16, 3))
    for depth, first_stride in ((16, 1), (32, 2), (64, 2)):
        for stride in (first_stride, 1, 1):
            shortcut = net if stride == 1 else convolved(net, depth, 1, stride)
            inner = tf.nn.relu(convolved(net, depth, 3, stride))
            net = tf.nn.relu(shortcut + convolved(inner, depth, 3))
    logits = tf.layers.dense(tf.reduce_mean(net, [1, 2]), 10)
    return classifier(images, logits, 10, tf.train.MomentumOptimizer(0.1, 0.9))


def bottleneck_logits(images: tf.Tensor, middle_repeats: int, n_classes: int) -> tf.Tensor:
    """Logits of a residual network of bottlenecks: 6 in the third stage are ResNet-50, 23 ResNet-101."""
    net = tf.layers.max_pooling2d(tf.nn.relu(convolved(images, 64, 7, 2)), 3, 2, padding="same")
    for depth, repeats, first_stride in ((64, 3, 1), (128, 4, 2), (256, middle_repeats, 2), (512, 3, 2)):
        for index in range(repeats):
            stride = first_stride if index == 0 else 1
            shortcut = convolved(net, 4 * depth, 1, stride) if index == 0 else net
            inner = tf.nn.relu(convolved(net, depth, 1))
            inner = tf.nn.relu(convolved(inner, depth, 3, stride))
            net = tf.nn.relu(shortcut + convolved(inner, 4 * depth, 1))
    return tf.layers.dense(tf.reduce_mean(net, [1, 2]), n_classes)


def resnet50(batch: int = 16) -> Model:
    """ResNet-50 of 224 x 224."""
    images = tf.placeholder(tf.float32, [batch, 224, 224, 3])
    return classifier(images, bottleneck_logits(images, 6, 1000), 1000, tf.train.MomentumOptimizer(0.1, 0.9))


def vgg16() -> Model:
    """VGG-16, batch 4 of 224 x 224."""
    images = net = tf.placeholder(tf.float32, [4, 224, 224, 3])
    for repeats, depth in ((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)):
        for _ in range(repeats):
            net = tf.layers.conv2d(net, depth, 3, padding="same", activation=tf.nn.relu)
        net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.flatten(net)
    for width in (4096, 4096):
        net = tf.nn.dropout(tf.layers.dense(net, width, tf.nn.relu), keep_prob=0.5)
    return classifier(images, tf.layers.dense(net, 1000), 1000, tf.train.GradientDescentOptimizer(0.01))


def mobilenet_v2() -> Model:
    """MobileNetV2, batch 16 of 224 x 224."""
    images = tf.placeholder(tf.float32, [16, 224, 224, 3])
    net = tf.nn.relu6(convolved(images, 32, 3, 2))
    stages = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for number, (expansion, depth, repeats, first_stride) in enumerate(stages):
        for index in range(repeats):
            stride = first_stride if index == 0 else 1
            net = _inverted(net, expansion, depth, stride, f"depthwise_{number}_{index}")
    net = tf.nn.relu6(convolved(net, 1280, 1))
    logits = tf.layers.dense(tf.reduce_mean(net, [1, 2]), 1000)
    return classifier(images, logits, 1000, tf.train.RMSPropOptimizer(0.01, momentum=0.9))


def _inverted(net: tf.Tensor, expansion: int, depth: int, stride: int, name: str) -> tf.Tensor:
    shortcut, channels = net, int(net.shape[3])
    if expansion > 1:
        net = tf.nn.relu6(convolved(net, expansion * channels, 1))
    weights = tf.get_variable(name, [3, 3, int(net.shape[3]), 1])
    net = tf.nn.relu6(batch_norm(tf.nn.depthwise_conv2d(net, weights, [1, stride, stride, 1], "SAME")))
    net = convolved(net, depth, 1)
    return shortcut + net if stride == 1 and channels == depth else net


def _generator(noise: tf.Tensor) -> tf.Tensor:
    with tf.variable_scope("generator"):
        net = tf.reshape(tf.layers.dense(noise, 7 * 7 * 256, use_bias=False), [-1, 7, 7, 256])
        net = tf.nn.relu(batch_norm(net))
        for depth, stride in ((128, 1), (64, 2)):
            net = tf.layers.conv2d_transpose(net, depth, 5, stride, padding="same", use_bias=False)
            net = tf.nn.relu(batch_norm(net))
        return tf.layers.conv2d_transpose(net, 1, 5, 2, padding="same", activation=tf.nn.tanh)


def _discriminator(images: tf.Tensor) -> tf.Tensor:
    with tf.variable_scope("discriminator", reuse=tf.AUTO_REUSE):
        net = tf.nn.leaky_relu(tf.layers.conv2d(images, 64, 5, 2, padding="same", name="one"))
        net = tf.layers.conv2d(net, 128, 5, 2, padding="same", use_bias=False, name="two")
        net = tf.nn.leaky_relu(tf.layers.batch_normalization(net, training=True, name="norm"))
        return tf.layers.dense(tf.layers.flatten(net), 1, name="three")


def dcgan() -> Model:
    """DCGAN, batch 64 of 28 x 28; both networks are updated in a step."""
    images = tf.placeholder(tf.float32, [64, 28, 28, 1])
    made = _generator(tf.random_normal([64, 100]))
    on_real, on_made = _discriminator(images), _discriminator(made)
    entropy = tf.losses.sigmoid_cross_entropy
    of_critic = entropy(tf.ones_like(on_real), on_real) + entropy(tf.zeros_like(on_made), on_made)
    of_maker = entropy(tf.ones_like(on_made), on_made)
    critic, maker = (tf.trainable_variables(scope) for scope in ("discriminator", "generator"))
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        first = tf.train.AdamOptimizer(1e-4).minimize(of_critic, var_list=critic)
        second = tf.train.AdamOptimizer(1e-4).minimize(of_maker, var_list=maker)
    return Model(of_critic + of_maker, tf.group(first, second), {images: numbers(64, 28, 28, 1)})
