"""The parts of npu_device together, on the simulated device."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.legs.tf2.api_programs import ranks, run

IMPORT = "import tensorflow as tf\nimport npu_device as npu\n"
MODEL = """
import json
import numpy as np
K, L = tf.keras, tf.keras.layers
random = np.random.RandomState(3)
x, y = random.rand(64, 8).astype("f"), random.rand(64, 3).astype("f")
def model(activation="relu"):
    K.utils.set_random_seed(1)
    return K.Sequential([L.Dense(16, activation, input_shape=(8,)), L.Dense(3)])
"""


def losses(source: str) -> list[list[float]]:
    return json.loads(run(MODEL + source, IMPORT).stdout)


FITS = """
def fitted(make):
    made = model()
    made.compile(make(), "mse")
    return made.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0).history["loss"]
scaled = npu.train.optimizer.NpuLossScaleOptimizer
legacy = K.optimizers.legacy
makes = [lambda: scaled(K.optimizers.AdamW(0.01)), lambda: scaled(legacy.Adam(0.01)), lambda: K.optimizers.RMSprop(0.01)]
print(json.dumps([fitted(make) for make in makes]))
"""


def test_mixed_precision_trains_with_both_kinds_of_optimizers():
    expected = losses(FITS)
    modes = ["must_keep_origin_dtype", "allow_mix_precision", "force_fp16"]
    for mode, near in zip(modes, (1e-5, 1e-2, 1e-2), strict=True):
        found = losses(f"npu.global_options().precision_mode = '{mode}'\nnpu.open().as_default()\n" + FITS)
        np.testing.assert_allclose(found, expected, rtol=near, err_msg=mode)


def test_a_step_that_overflows_in_saturation_mode_is_skipped_and_the_scale_falls():
    done = run(
        MODEL
        + """
npu.global_options().precision_mode = "force_fp16"
npu.set_device_sat_mode(0)
npu.open().as_default()
for make in (K.optimizers.SGD, K.optimizers.legacy.SGD):
    v, optimizer = tf.Variable(2.0), npu.train.optimizer.NpuLossScaleOptimizer(make(0.25), initial_scale=8.0)
    @tf.function
    def step(factor):
        with tf.GradientTape() as tape:
            product = v * factor * 100.0  # above 65504 for the second of these factors
            loss = optimizer.get_scaled_loss(tf.minimum(product, 1.0) * v)
        gradients = optimizer.get_unscaled_gradients(tape.gradient(loss, [v]))
        optimizer.apply_gradients(zip(gradients, [v]))
    for factor in (1.0, 1e4, 1.0):
        step(tf.constant(factor))
        print(float(v), float(optimizer.loss_scale), bool(optimizer.last_step_finite), int(optimizer.iterations))
""",
        IMPORT,
    )
    assert done.stdout.splitlines() == ["1.75 8.0 True 1", "1.75 4.0 False 2", "1.5 4.0 True 3"] * 2


def test_the_faster_gelu_and_its_gradient_run_on_the_device():
    done = run(
        MODEL
        + """
npu.open().as_default()
for activation in (npu.ops.gelu, lambda x: x * tf.sigmoid(1.702 * x)):
    made = model(activation)
    made.compile("sgd", "mse")
    print(round(made.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0).history["loss"][-1], 6))
""",
        IMPORT,
    )
    assert len(set(done.stdout.splitlines())) == 1 and "100.00 % of" in done.stderr


TRAINING = (
    MODEL
    + """
device = npu.open().as_default()
n, rank = device.workers_num, device.worker_id
wrap = npu.distribute.npu_distributed_keras_optimizer_wrapper
def data():
    shard, size = npu.distribute.shard_and_rebatch_dataset(tf.data.Dataset.from_tensor_slices((x, y)), 16)
    return shard.batch(size, drop_remainder=True)
def started(seed):
    made = model()
    made.set_weights([w + 0.01 * seed for w in made.get_weights()])
    npu.distribute.broadcast(made.trainable_variables)
    return made
def by_fit(make):
    made = started(rank)
    made.compile(wrap(make()), "mse")
    made.fit(data(), epochs=2, shuffle=False, verbose=0)
    return made
def by_loop(make):
    made, optimizer = started(rank), make()
    @tf.function
    def step(a, b):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((made(a) - b) ** 2)
        gradients = npu.distribute.all_reduce(tape.gradient(loss, made.trainable_variables))
        optimizer.apply_gradients(zip(gradients, made.trainable_variables))
    for _ in range(2):
        for a, b in data():
            step(a, b)
    return made
makes = [lambda: K.optimizers.Adam(0.01), lambda: K.optimizers.legacy.SGD(0.1, momentum=0.9)]
print(json.dumps([[w.tolist() for w in train(make).get_weights()] for make in makes for train in (by_fit, by_loop)]))
"""
)


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("n_ranks", [2, 4])
def test_ranks_train_as_one_process_with_the_whole_batch(n_ranks):
    whole = json.loads(run(TRAINING, IMPORT).stdout)
    first, *others = (json.loads(said) for said in ranks(TRAINING, n_ranks, IMPORT))
    assert others == [first] * (n_ranks - 1)
    for one, other in zip(whole, first, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-5)
