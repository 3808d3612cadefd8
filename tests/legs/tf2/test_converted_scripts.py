"""Scripts that the converter made: ranks agree with each other, and with the original as one process with the whole batch."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.legs.tf2.api_programs import ranks, run
from tf2npu import Config, convert_source

START = """\
import json
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = np.random.rand(32, 4).astype("float32")
y = x.sum(axis=1, keepdims=True)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(8, drop_remainder=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(6, activation="tanh", input_shape=(4,)), tf.keras.layers.Dense(1)])
"""
FIT = """\
model.compile(tf.keras.optimizers.SGD(0.1), "mse")
model.fit(data, epochs=2, verbose=0)
"""
LOOP = """\
optimizer = tf.keras.optimizers.Adam(0.01)


@tf.function
def step(features, labels):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(features) - labels) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))


for epoch in range(2):
    for features, labels in data:
        step(features, labels)
"""
END = "print(json.dumps([v.numpy().ravel().tolist() for v in model.trainable_variables]))\n"


def weights(text: str) -> np.ndarray:
    return np.concatenate(json.loads(text.splitlines()[-1]))


@pytest.mark.parametrize("training", [FIT, LOOP], ids=["fit", "loop"])
def test_two_ranks_train_what_one_process_does(training: str) -> None:
    source = f"{START}{training}{END}"
    result = convert_source(source, "train.py", Config(dialect="tf2", distributed="tf"))
    assert not result.has_work_left
    first, second = map(weights, ranks((result.after or b"").decode(), before=""))
    assert np.array_equal(first, second)
    original = weights(run(source, before="").stdout)
    assert np.abs(first - original).max() < 1e-5


FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize("case", ["horovod2_fit", "horovod2_loop"])
def test_ranks_of_a_script_with_horovod_keep_the_same_weights(case: str) -> None:
    """With a shard for each worker two of them train what one does with the whole batch; a fit adds up batches of its own."""
    source = (FIXTURES / "convert" / case / "src" / "train.py").read_text() + "import json\n" + END
    result = convert_source(source, "train.py", Config(dialect="tf2", distributed="horovod"))
    assert not result.has_work_left and "hvd" not in (result.after or b"").decode()
    first, second = map(weights, ranks((result.after or b"").decode(), before=""))
    assert np.array_equal(first, second)
    if case == "horovod2_loop":
        original = run(source, before="", PYTHONPATH=str(FIXTURES / "horovod_stub"))
        assert np.abs(first - weights(original.stdout)).max() < 1e-5
