"""Scripts for TensorFlow 2 with what only some have in a step, which the tests of `tf2npu check` run."""

HOST_SIDE = """import tempfile

import numpy as np
import tensorflow as tf

table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b", "c"], [0.5, 1.0, 2.0]), -1.0)
tf.random.set_seed(1)
generator = tf.random.Generator.from_seed(3)
w = tf.Variable(tf.ones([4, 4]) * 0.3, name="weights")
v = tf.Variable(tf.ones([4, 1]) * 0.2, name="critic")
writer = tf.summary.create_file_writer(tempfile.mkdtemp())
g_opt, d_opt = tf.keras.optimizers.Adam(1e-2), tf.keras.optimizers.SGD(1e-2)


@tf.function
def generate(z):
    return tf.nn.tanh(tf.matmul(z, w) + generator.normal([8, 4]) * 0.01)


@tf.function
def critic_step(x, words):
    scale = table.lookup(words)
    with tf.GradientTape() as tape:
        fake = generate(x)
        noisy = tf.nn.dropout(fake, 0.3)
        loss = tf.reduce_mean(tf.square(tf.matmul(noisy, v)[:, 0] - scale))
    d_opt.apply_gradients([(tape.gradient(loss, v), v)])
    with writer.as_default():
        tf.summary.scalar("loss", loss, step=d_opt.iterations)
    return loss


@tf.function
def generator_step(x):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(tf.matmul(generate(x), v))
        extra = tf.py_function(lambda t: t * 2.0, [loss], tf.float32)
    g_opt.minimize(loss, [w], tape=tape)
    tf.debugging.assert_all_finite(loss, "finite")
    return loss, extra


rng = np.random.default_rng(0)
for _ in range(4):
    x = tf.constant(rng.normal(size=(8, 4)).astype("float32"))
    words = tf.constant([["a", "b", "c", "d"][i] for i in rng.integers(0, 4, 8)])
    print(float(critic_step(x, words)), *[float(t) for t in generator_step(x)][:1])
"""
"""Two functions that train in turn, with a table, a generator, Python, a summary and a function inside."""
EPOCH = """import numpy as np
import tensorflow as tf

w = tf.Variable(tf.ones([4, 1]) * 0.3, name="weights")
data = tf.data.Dataset.from_tensor_slices(np.arange(96, dtype=np.float32).reshape(24, 4) / 50)
data = data.shuffle(24, seed=1).batch(6, drop_remainder=True)


@tf.function
def epoch(iterator):
    last = 0.0
    for x in iterator:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
        w.assign(w - 0.1 * tape.gradient(loss, w))
        last = loss
    return last


for _ in range(3):
    print(float(epoch(iter(data))))
"""
"""A function with a loop over the elements of an iterator: 4 steps a call."""
MIXED_KERAS = """import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x, y = rng.normal(size=(64, 8)).astype("float32"), rng.integers(0, 10, 64)
tf.keras.utils.set_random_seed(1)
tf.keras.mixed_precision.set_global_policy("mixed_float16")
model = tf.keras.Sequential([
    tf.keras.layers.Dense(16, activation="relu", input_shape=(8,)),
    tf.keras.layers.Dense(10, dtype="float32"),
])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=16, verbose=0)
"""
"""Keras' mixed precision: the optimizer with its loss scale updates in a branch."""
