"""A small training script whose options come from its arguments, NAME=VALUE each."""

TRAINING = """
from npu_bridge.npu_init import *
import sys
import numpy as np
import tensorflow as tf

config = tf.ConfigProto()
entry = config.graph_options.rewrite_options.custom_optimizers.add()
entry.name = "NpuOptimizer"
for word in sys.argv[1:]:
    name, _, value = word.partition("=")
    if name == "op_debug_level":
        entry.parameter_map[name].i = int(value)
    else:
        entry.parameter_map[name].s = tf.compat.as_bytes(value)
tf.set_random_seed(1)
x, y = tf.placeholder(tf.float32, [None, 16, 16, 3]), tf.placeholder(tf.int32, [None])
net = tf.layers.conv2d(x, 24, 3, activation=tf.nn.relu)
net = tf.layers.dense(tf.layers.flatten(net), 1000, tf.nn.relu)
loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(net, 10))
train = tf.train.GradientDescentOptimizer(1e-2).minimize(loss)
random = np.random.RandomState(0)
with tf.Session(config=config) as session:
    session.run(tf.global_variables_initializer())
    for step in range(8):
        value, _ = session.run([loss, train], {x: random.rand(300, 16, 16, 3), y: random.randint(0, 10, 300)})
        print("loss", value.hex() if hasattr(value, "hex") else float(value).hex())
"""
