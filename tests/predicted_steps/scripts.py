"""Training scripts: each trains 20 steps, far more than a prediction needs, and says what it came to."""

from __future__ import annotations

BEGIN = """
from npu_bridge.npu_init import *
import os
import numpy as np
import tensorflow as tf
import threading


def device_config(**parameters):
    config = tf.ConfigProto()
    optimizer = config.graph_options.rewrite_options.custom_optimizers.add()
    optimizer.name = "NpuOptimizer"
    for name, value in parameters.items():
        optimizer.parameter_map[name].b = value
    return config


def model(x, y, hidden=96):
    net = tf.layers.dense(x, hidden, tf.nn.relu)  # forward
    logits = tf.layers.dense(net, 16)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    return loss, tf.train.AdamOptimizer(1e-3).minimize(loss, tf.train.get_or_create_global_step())  # optimizer


def batches(n):
    return np.ones([n, 64], np.float32), np.zeros([n], np.int32)


"""

FEED = """
x, y = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int32, [None])
loss, train = model(x, y)
try:
    with tf.Session(config=device_config()) as session:
        session.run(tf.global_variables_initializer())
        for step in range(20):
            session.run([loss, train], dict(zip((x, y), batches(32))))
            print("step", step)
    print("trained to the end")
finally:
    print("finally")
"""
MEMORY = (
    FEED
    + """
    from npu_runtime.session import run_log
    arena = run_log().sessions[0].programs[-1].arena_bytes
    n_bytes = sum(variable.shape.num_elements() * variable.dtype.base_dtype.size for variable in tf.global_variables())
    print("bytes", arena + n_bytes)
"""
)
WIDE = FEED.replace("model(x, y)", "model(tf.tanh(tf.tile(x, [1, 4096])), y)")
FIXED = FEED.replace("[None, 64]", "[32, 64]").replace("tf.int32, [None]", "tf.int32, [32]")
DATASET = """
data = tf.data.Dataset.from_tensors(batches(32)).repeat()
loss, train = model(*tf.data.make_one_shot_iterator(data).get_next())
with tf.Session(config=device_config()) as session:
    session.run(tf.global_variables_initializer())
    for step in range(20):
        session.run([loss, train])
        print("step", step)
print("trained to the end")
"""
QUEUED = DATASET.replace("device_config()", "device_config(enable_data_pre_proc=True)")
ESTIMATOR = """
def model_fn(features, labels, mode, params):
    loss, train = model(features, labels)
    return NPUEstimatorSpec(mode, loss=loss, train_op=train)


run_config = NPURunConfig(iterations_per_loop=LOOP, save_checkpoints_secs=None, save_checkpoints_steps=None)
try:
    NPUEstimator(model_fn=model_fn, model_dir=os.path.abspath("model"), config=run_config, params={}).train(
        lambda: tf.data.Dataset.from_tensors(batches(32)).repeat(), steps=20
    )
    print("trained to the end")
finally:
    print("finally")
"""
MONITORED = """
x, y = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int32, [None])
loss, train = model(x, y)
try:
    with tf.train.MonitoredTrainingSession(config=device_config(), hooks=[tf.train.StopAtStepHook(20)]) as session:
        while not session.should_stop():
            session.run([loss, train], dict(zip((x, y), batches(32))))
    print("trained to the end")
finally:
    print("finally")
"""
KERAS = """
network = tf.keras.Sequential([tf.keras.layers.Dense(96, "relu", input_shape=(64,)), tf.keras.layers.Dense(16, "softmax")])
network.compile(tf.train.AdamOptimizer(1e-3), "sparse_categorical_crossentropy")
tf.keras.backend.set_session(tf.Session(config=device_config()))
try:
    network.fit(*batches(640), batch_size=32, epochs=1, verbose=0)
    print("trained to the end")
finally:
    print("finally")
"""
THREAD = """
import queue
x, y = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int32, [None])
loss, train = model(x, y)
results = queue.Queue()


def trained():
    with tf.Session(graph=loss.graph, config=device_config()) as session:
        session.run(initializer)
        for step in range(20):
            session.run([loss, train], dict(zip((x, y), batches(32))))
    results.put("done")


initializer = tf.global_variables_initializer()
threading.Thread(target=trained).start()
try:
    results.get()  # waits without end, as nothing will come
    print("trained to the end")
finally:
    print("finally")
"""

RECURRENT = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (10 << 30, 10 << 30))  # a prediction that took more would disturb the whole machine
x = tf.placeholder(tf.float32, [None, 25, 10])
outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(50), x, dtype=tf.float32)
loss = tf.reduce_mean(tf.square(tf.layers.dense(outputs[:, -1], 1)))
train = tf.train.AdamOptimizer(1e-3).minimize(loss)
try:
    with tf.Session(config=device_config()) as session:
        session.run(tf.global_variables_initializer())
        for step in range(5):
            session.run(train, {x: np.ones([1, 25, 10])})
finally:
    print("kilobytes", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
CHANGING = """
x = tf.placeholder(tf.float32, [None, 64])
loss, train = model(x, tf.zeros([tf.shape(x)[0]], tf.int32))
with tf.Session(config=device_config()) as session:
    session.run(tf.global_variables_initializer())
    for step in range(STEPS):
        session.run(train, {x: np.ones([32 + step, 64])})
print("trained to the end")
"""
