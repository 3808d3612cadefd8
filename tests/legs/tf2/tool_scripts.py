"""Scripts for TensorFlow 2 that the tests of the commands run, and the commands in processes of their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests import fork_server

OPEN = "import npu_device as npu\n\n{options}npu.open().as_default()\n"
"""The lines that open the device."""
FIT = """import numpy as np
import tensorflow as tf
{open}
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 8, 8, 1)).astype("float32")
y = rng.integers(0, 10, 64)
tf.keras.utils.set_random_seed(1)
model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(4, 3, activation="relu", input_shape=(8, 8, 1)),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(10),
])
model.compile(
    tf.keras.optimizers.Adam(1e-2), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), steps_per_execution={turns}
)
history = model.fit(x, y, batch_size=16, epochs=2, verbose=0)
print("losses", *history.history["loss"])
"""
"""Keras' fit: 8 steps of a small convolutional network."""
LOOP = """import numpy as np
import tensorflow as tf
{open}
w = tf.Variable(tf.ones([8, 4]) * 0.1)
b = tf.Variable(tf.zeros([4]))
optimizer = tf.keras.optimizers.legacy.SGD(0.1)


def forward(x):
    return tf.nn.relu(
        tf.matmul(x, w)
        + b
    )


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(forward(x) - y))
    gradients = tape.gradient(loss, [w, b])
    optimizer.apply_gradients(zip(gradients, [w, b]))
    return loss


rng = np.random.default_rng(0)
for _ in range(5):
    x = tf.constant(rng.normal(size=(16, 8)).astype("float32"))
    print("loss", float(step(x, tf.ones([16, 4]))))
"""
"""A loop of the script's own: 5 steps of a dense layer."""
LSTM = """import numpy as np
import tensorflow as tf
{open}
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 6, 5)).astype("float32")
y = rng.normal(size=(64, 1)).astype("float32")
tf.keras.utils.set_random_seed(1)
layer = tf.keras.layers.LSTM(7, input_shape=(6, 5))
model = tf.keras.Sequential([
    layer,
    tf.keras.layers.Dense(1),
])
model.compile(tf.keras.optimizers.RMSprop(1e-2), "mse")
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
"""
"""A recurrent layer, which TensorFlow puts into a function that the step's calls."""


def script(folder: Path, text: str, options: Mapping[str, object] | None = None, *, opens: bool = True, **values: object) -> Path:
    """Write a script.

    options: of the device, by their names below global_options().  opens: whether it opens the device at all.  values: for the
    text's fields.
    """
    settings = "".join(f"npu.global_options().{name} = {value!r}\n" for name, value in (options or {}).items())
    text = text.replace("{open}", OPEN.replace("{options}", settings) if opens else "")
    for name, value in {"turns": 1, **values}.items():
        text = text.replace(f"{{{name}}}", str(value))
    path = folder / "train.py"
    path.write_text(text)
    return path


def line_of(path: Path, text: str) -> int:
    """The number of the only line of a script that holds a text."""
    found = [number for number, line in enumerate(path.read_text().splitlines(), 1) if text in line]
    assert len(found) == 1, (text, found)
    return found[0]


def tf2npu(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command, below the folder of the first word that is a path."""
    return fork_server.tf2npu(words, {**environment(), **variables}, _folder(words))


def python(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `python WORDS...`."""
    return fork_server.python(words, {**environment(), **variables}, _folder(words))


def environment() -> dict[str, str]:
    """The variables that a user's shell has anyway."""
    return {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "PYTHONPATH")}


def _folder(words: tuple[object, ...]) -> Path | None:
    return next((word.parent for word in words if isinstance(word, Path) and word.suffix == ".py"), None)
