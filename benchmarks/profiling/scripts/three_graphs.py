"""An initializer, a training, and an evaluation that takes turns with it."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *  # noqa: F403  (as converted scripts have it)

x, y = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int32, [None])
logits = tf.layers.dense(tf.layers.dense(x, 48, tf.nn.relu, name="first"), 10, name="second")
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
train = tf.train.AdamOptimizer(1e-3).minimize(loss)
right = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1, output_type=tf.int32), y), tf.float32))
feeds = {x: np.ones([32, 64]), y: np.zeros([32], int)}
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(2):
        for _ in range(3):
            session.run(train, feeds)
        session.run(right, feeds)
