"""Number of training steps that a run reports: as many as TensorFlow's own global step counts, or as the script does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.shim.test_launch import launch

BEGIN = """
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 2)))
feed = {x: np.ones([8, 4])}
count = tf.train.get_or_create_global_step()
"""
OPTIMIZER = "train = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=count)\n"
SESSION = "sess = tf.Session()\nsess.run(tf.global_variables_initializer())\n"
TOLD = "\nprint('TRAINED', sess.run(count))\n"
LOOP = """
for step in range(3):
    sess.run(train, feed)
    print(sess.run(loss, feed), sess.run(count))
for _ in range(20):
    sess.run(loss, feed)
"""
BY_HAND = """
variables = tf.trainable_variables()
updates = [v.assign(v - 0.1 * g) for v, g in zip(variables, tf.gradients(loss, variables))]
train = tf.group(count.assign_add(1), *updates)
"""
BY_SUBTRACTION = BY_HAND.replace("v.assign(v - 0.1 * g)", "v.assign_sub(0.1 * g)")
COPIES = """
copies = [tf.Variable(v.initialized_value()) for v in tf.trainable_variables()]
sync = [c.assign(0.9 * c + 0.1 * v) for c, v in zip(copies, tf.trainable_variables())]
"""
COUNTS = """
epoch, rate, first = tf.Variable(0), tf.Variable(0.1), tf.trainable_variables()[0]
others = [epoch.assign_add(1), rate.assign_sub(0.01), first.assign_sub(0.01 * first), first.assign_add(tf.ones([4, 2]))]
"""
ACCUMULATORS = """
optimizer = tf.train.GradientDescentOptimizer(0.1)
pairs = optimizer.compute_gradients(loss)
kept = [tf.ConditionalAccumulator(tf.float32, v.shape) for _, v in pairs]
put = [one.apply_grad(g, local_step=count) for one, (g, _) in zip(kept, pairs)]
train = optimizer.apply_gradients([(one.take_grad(1), v) for one, (_, v) in zip(kept, pairs)], global_step=count)
"""
BY_PRODUCTS = """
w = tf.Variable(tf.zeros([4, 2]))
examples = tf.constant(np.ones([8, 4], np.float32))
train = tf.group(count.assign_add(1), w.assign_sub(0.1 * tf.matmul(examples, tf.matmul(examples, w) - 1, transpose_a=True)))
"""
ESTIMATOR = """
import numpy as np
import tensorflow as tf
def model(features, labels, mode):
    loss = tf.reduce_mean(tf.square(tf.layers.dense(features, 2)))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)
def data():
    return tf.data.Dataset.from_tensors(np.ones([8, 4], np.float32)).repeat()
CONFIG
estimator.train(data, steps=6)
estimator.evaluate(data, steps=9)
print('TRAINED', estimator.get_variable_value('global_step'))
"""
CPU = "estimator = tf.estimator.Estimator(model, 'model')"
NPU = """from npu_bridge.npu_init import NPUEstimator, NPURunConfig
config = NPURunConfig(iterations_per_loop=3, save_checkpoints_steps=6)
estimator = NPUEstimator(model_fn=model, model_dir='model', config=config)"""
KERAS = """
import numpy as np
import tensorflow as tf
made = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=[4])])
made.compile('adam', 'mse')
xs, ys = np.ones([20, 4]), np.ones([20, 2])
made.fit(xs, ys, batch_size=5, epochs=2, verbose=0, validation_data=(xs, ys))
made.evaluate(xs, ys, batch_size=2, verbose=0)
print('TRAINED', tf.keras.backend.get_value(made.optimizer.iterations))
"""
FROM_DATASET = BEGIN.replace("tf.placeholder(tf.float32, [None, 4])", "data.make_one_shot_iterator().get_next()").replace(
    "x = ", "data = tf.data.Dataset.from_tensor_slices(np.ones([20, 4], 'f')).batch(4)\nx = "
) + OPTIMIZER + SESSION + """
try:
    while True:
        sess.run(train)
except tf.errors.OutOfRangeError:
    sess.run([])
"""  # fmt: skip
SCRIPTS = {
    "several runs a step": BEGIN + OPTIMIZER + SESSION + LOOP + TOLD,
    "an optimizer of assignments": BEGIN + BY_HAND + SESSION + LOOP + TOLD,
    "an optimizer of subtractions": BEGIN + BY_SUBTRACTION + SESSION + LOOP + TOLD,
    "copies of variables": BEGIN + OPTIMIZER + COPIES + SESSION + LOOP + "\nfor _ in range(5):\n    sess.run(sync)\n" + TOLD,
    "counts, rates and decays": BEGIN + OPTIMIZER + COUNTS + SESSION + LOOP + "\nfor one in others:\n    sess.run(one)\n" + TOLD,
    "accumulated gradients": BEGIN
    + ACCUMULATORS
    + SESSION
    + LOOP.replace("sess.run(train", "sess.run(put, feed); sess.run(train")
    + TOLD,
    "a gradient by hand of constants": BEGIN + BY_PRODUCTS + SESSION + LOOP + TOLD,
    "the end of the data": FROM_DATASET + TOLD,
    "no training": BEGIN + SESSION + "for _ in range(4):\n    sess.run(loss, feed)\n" + TOLD,
    "an Estimator": ESTIMATOR.replace("CONFIG", CPU),
    "steps in a loop on the device": ESTIMATOR.replace("CONFIG", NPU),
    "Keras": KERAS,
}


@pytest.mark.whole(
    but=(
        "several runs a step",
        "an optimizer of assignments",
        "counts, rates and decays",
        "a gradient by hand of constants",
        "no training",
        "an Estimator",
        "Keras",
    )
)
@pytest.mark.parametrize("name", SCRIPTS)
def test_training_steps_are_those_that_tensorflow_counts(name: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPTS[name])
    done = launch("--all-sessions", "--report", "run.json", "train.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = int(done.stdout.rpartition("TRAINED ")[2].split()[0])
    run = json.loads((tmp_path / "run.json").read_text())["run"]
    assert run["training_steps"] == told, run["sessions"]
    assert run["steps"] > told
