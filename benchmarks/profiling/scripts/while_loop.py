"""A recurrent network written as a loop: its turns are the lengths of the batches, 5 and 7."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *  # noqa: F403  (as converted scripts have it)

x, n_turns = tf.placeholder(tf.float32, [16, 32]), tf.placeholder(tf.int32, [])
w = tf.get_variable("w", [32, 32])
_, last = tf.while_loop(lambda i, h: i < n_turns, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w))), [0, x])
train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(last**2))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for turns in (5, 7, 5):
        session.run(train, {x: np.ones([16, 32]), n_turns: turns})
    session.run(last, {x: np.ones([16, 32]), n_turns: 4})
