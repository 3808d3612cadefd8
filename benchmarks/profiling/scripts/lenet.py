"""LeNet: an initializer, and three steps of training."""

import tensorflow as tf
from npu_bridge.npu_init import *  # noqa: F403  (as converted scripts have it)

from benchmarks.models import vision

model = vision.lenet()
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run(model.train, model.feeds)
