"""A slow operator on the AI CPU, and a matrix product whose sizes are no multiples of 16."""

from npu_bridge.npu_init import *  # noqa: F403  (as converted scripts have it)
import numpy as np
import tensorflow as tf

numbers = tf.placeholder(tf.int64, [65536])
x = tf.placeholder(tf.float32, [3001, 4099])
w = tf.get_variable("w", [4099, 3003])
values, _ = tf.unique(numbers, name="planted/Unique")
product = tf.matmul(x, w, name="planted/MatMul")
loss = tf.reduce_mean(product**2) + tf.reduce_mean(tf.cast(values, tf.float32))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run(train, {numbers: np.arange(65536), x: np.ones([3001, 4099], np.float32)})
