"""Scripts of data-parallel training as people wrote them: each learns w from two ranks' parts of the same 16 rows."""

DATA = """
import json
import numpy as np
import tensorflow as tf
data = np.arange(32, dtype=np.float32).reshape(16, 2) / 16
target = np.full([16, 1], 3.0, np.float32)
"""

MONITORED = (
    DATA
    + """
import horovod.tensorflow as hvd
hvd.init()
config = tf.ConfigProto()
config.gpu_options.visible_device_list = str(hvd.local_rank())
rows = tf.data.Dataset.from_tensor_slices(data).shard(hvd.size(), hvd.rank()).repeat().batch(4, drop_remainder=True)
features = rows.make_one_shot_iterator().get_next()
w = tf.Variable([[1.0 + hvd.rank()], [-1.0]])
loss = tf.reduce_mean(tf.square(tf.matmul(features, w) - 3.0))
optimizer = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.1 * hvd.size()))
train = optimizer.minimize(loss, tf.train.get_or_create_global_step())
with tf.control_dependencies([train]):
    last = w.read_value()
hooks = [hvd.BroadcastGlobalVariablesHook(0), tf.train.StopAtStepHook(last_step=8)]
with tf.train.MonitoredTrainingSession(hooks=hooks, config=config) as session:
    while not session.should_stop():
        value = session.run(last)
print(json.dumps([value.tolist()]))
"""
)

SESSION = (
    DATA
    + """
import horovod.tensorflow as hvd
hvd.init()
config = tf.ConfigProto()
config.gpu_options.allow_growth = True
config.gpu_options.visible_device_list = str(hvd.local_rank())
x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 1])
w = tf.get_variable('w', initializer=[[1.0 + hvd.rank()], [-1.0]])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
compression = hvd.Compression.none
opt = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.1 * hvd.size()), compression=compression)
grads, variables = zip(*opt.compute_gradients(loss))
grads, norm = tf.clip_by_global_norm(grads, 100.0)
train = opt.apply_gradients(zip(grads, variables))
bcast = hvd.broadcast_global_variables(0)
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(bcast)
    mine = slice(hvd.rank(), None, hvd.size())
    for step in range(8):
        part = [(4 * step + i) % 8 for i in range(4)]
        sess.run(train, {x: data[mine][part], y: target[mine][part]})
    print(json.dumps([sess.run(w).tolist()]))
"""
)

KERAS = (
    DATA
    + """
from tensorflow import keras
import horovod.tensorflow.keras as hvd
hvd.init()
config = tf.ConfigProto()
config.gpu_options.visible_device_list = str(hvd.local_rank())
keras.backend.set_session(tf.Session(config=config))
start = tf.constant_initializer([[1.0 + hvd.rank()], [-1.0]])
model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,), use_bias=False, kernel_initializer=start)])
opt = keras.optimizers.SGD(0.1 * hvd.size())
opt = hvd.DistributedOptimizer(opt)
model.compile(loss='mse', optimizer=opt)
callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]
mine = slice(hvd.rank(), None, hvd.size())
model.fit(data[mine], target[mine], batch_size=4, epochs=4, shuffle=False, callbacks=callbacks, verbose=0)
print(json.dumps([value.tolist() for value in model.get_weights()]))
"""
)

ESTIMATOR = (
    DATA
    + """
import horovod.tensorflow as hvd
def model_fn(features, labels, mode):
    w = tf.get_variable('w', initializer=[[1.0 + hvd.rank()], [-1.0]])
    loss = tf.reduce_mean(tf.square(tf.matmul(features, w) - labels))
    opt = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.1 * hvd.size()))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=opt.minimize(loss, tf.train.get_global_step()))
def input_fn():
    return tf.data.Dataset.from_tensor_slices((data, target)).shard(hvd.size(), hvd.rank()).repeat().batch(4)
def main(_):
    hvd.init()
    config = tf.ConfigProto()
    config.gpu_options.visible_device_list = str(hvd.local_rank())
    model_dir = './model' if hvd.rank() == 0 else None
    classifier = tf.estimator.Estimator(model_fn, model_dir, tf.estimator.RunConfig(session_config=config))
    classifier.train(input_fn, steps=16 // hvd.size(), hooks=[hvd.BroadcastGlobalVariablesHook(0)])
    print(json.dumps([classifier.get_variable_value('w').tolist()]))
if __name__ == '__main__':
    tf.app.run()
"""
)

# Horovod is started, and its ranks asked for, when the file is loaded; the work is done under a guard.
GUARDED = (
    DATA
    + """
import horovod.tensorflow as hvd
hvd.init()
RATE = 0.1 * hvd.size()
MINE = slice(hvd.rank(), None, hvd.size())

def main(_):
    x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 1])
    w = tf.get_variable('w', initializer=[[1.0 + hvd.rank()], [-1.0]])
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
    train = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(RATE)).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(hvd.broadcast_global_variables(0))
        for step in range(8):
            part = [(4 * step + i) % 8 for i in range(4)]
            sess.run(train, {x: data[MINE][part], y: target[MINE][part]})
        print(json.dumps([sess.run(w).tolist()]))

if __name__ == '__main__':
    tf.app.run()
"""
)

HOROVOD = {"monitored": MONITORED, "session": SESSION, "guarded": GUARDED, "keras": KERAS, "estimator": ESTIMATOR}

MIRRORED = (
    DATA
    + """
strategy = tf.distribute.MirroredStrategy()
rows = tf.data.Dataset.from_tensor_slices((data, target)).repeat().batch(4, drop_remainder=True)
with strategy.scope():
    start = tf.constant_initializer([[1.0], [-1.0]])
    dense = tf.keras.layers.Dense(1, input_shape=(2,), use_bias=False, kernel_initializer=start)
    model = tf.keras.Sequential([dense])
    model.compile(tf.keras.optimizers.SGD(0.2), 'mse')
model.fit(rows, steps_per_epoch=8, epochs=1, verbose=0)
print(json.dumps([value.tolist() for value in model.get_weights()]))
"""
)
