"""ResNet-20 on several ranks, which add up their gradients: two steps."""

import tensorflow as tf
from npu_bridge.npu_init import *  # noqa: F403  (as converted scripts have it)

from benchmarks.models import vision

Plain = tf.train.MomentumOptimizer
tf.train.MomentumOptimizer = lambda *settings: npu_distributed_optimizer_wrapper(Plain(*settings))  # noqa: F405
model = vision.resnet20()
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(2):
        session.run(model.train, model.feeds)
