"""An operator on the AI CPU, and a matrix product whose sizes are no multiples of 16."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *  # noqa: F403  (as converted scripts have it)

x = tf.placeholder(tf.float32, [3001, 4099])
w = tf.get_variable("w", [4099, 3003], initializer=tf.zeros_initializer())
noise = tf.random.uniform([65536], name="planted")
product = tf.matmul(x, w, name="planted/MatMul")
loss = tf.reduce_mean(product**2) + tf.reduce_mean(noise)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run([loss, train], {x: np.ones([3001, 4099], np.float32)})
