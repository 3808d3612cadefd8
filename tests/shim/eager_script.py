"""A TensorFlow 2 program of our own: what it prints may not depend on whether tf2npu is installed."""

import hashlib
import sys
import tempfile

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(7)
tf.config.experimental.enable_op_determinism()


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()[:16]


print(tf.__version__, tf.executing_eagerly(), tf.keras.__name__, tf.nn.dropout.__module__)
print(sorted(m for m in sys.modules if m.split(".")[0] in ("npu_bridge", "hccl", "npu_runtime", "tf2npu")))

v = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.nn.gelu(v * v))
print("tape", tape.gradient(y, v).numpy().tolist())


@tf.function
def collatz(n):
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


print("function", int(collatz(tf.constant(27))))

random = np.random.RandomState(0)
x = random.randn(64, 4).astype("float32")
labels = (x.sum(1) > 0).astype("int32")
data = tf.data.Dataset.from_tensor_slices((x, labels)).map(lambda a, b: (a * 2, b)).shuffle(64, seed=3).batch(16).repeat(2)
print("data", digest(*[np.concatenate([b.numpy() for _, b in data])]))

model = tf.keras.Sequential([tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dropout(0.3), tf.keras.layers.Dense(2)])
model.compile(tf.keras.optimizers.Adam(0.05), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), ["accuracy"])
history = model.fit(x, labels, batch_size=16, epochs=3, shuffle=False, verbose=0).history
print("fit", [f"{value:.7g}" for value in history["loss"]], digest(*model.get_weights()))

with tempfile.TemporaryDirectory() as folder:
    tf.saved_model.save(model, folder)
    loaded = tf.saved_model.load(folder)
    print("saved", digest(loaded.signatures["serving_default"](tf.constant(x)).popitem()[1].numpy()))
