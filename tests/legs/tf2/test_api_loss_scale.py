"""The loss-scaling optimizer beside Keras' own, and what only the device's float status tells."""

from __future__ import annotations

from tests.legs.tf2.api_programs import refusal, run

STEPS = """
K = tf.keras.optimizers
Keras, Npu = tf.keras.mixed_precision.LossScaleOptimizer, npu.train.optimizer.NpuLossScaleOptimizer
def trained(wrap, make, in_function, **options):
    optimizer, v, seen = wrap(make(), **options), tf.Variable([1.0, -2.0]), []
    def step(scale):
        with tf.GradientTape() as tape:
            loss = optimizer.get_scaled_loss(tf.reduce_sum(v * v) * scale)
        gradients = optimizer.get_unscaled_gradients(tape.gradient(loss, [v]))
        optimizer.apply_gradients(zip(gradients, [v]))
    step = tf.function(step) if in_function else step
    for scale in (1.0, float("inf"), 2.0, 1.0, float("nan"), 0.5):
        step(tf.constant(scale))
        seen.append([v.numpy().tolist(), float(optimizer.loss_scale), int(optimizer.iterations)])
    return seen, optimizer
makes = [lambda: K.Adam(0.1), lambda: K.legacy.Adam(0.1), lambda: K.legacy.SGD(0.1, momentum=0.9)]
"""


def test_it_is_keras_optimizer_with_a_dynamic_scale():
    done = run(
        STEPS
        + """
npu.open().as_default()
for make in makes:
    for in_function in (False, True):
        expected, _ = trained(Keras, make, in_function, dynamic_growth_steps=1)
        found, optimizer = trained(Npu, make, in_function, dynamic_growth_steps=1)
        print(found == expected, bool(optimizer.last_step_finite), isinstance(optimizer, Npu), isinstance(optimizer, Keras))
"""
    )
    assert set(done.stdout.splitlines()) == {"True True True True"} and len(done.stdout.splitlines()) == 6


def test_a_fixed_scale_is_keras_in_infinity_mode_and_skips_in_saturation_mode():
    done = run(
        STEPS
        + """
npu.open().as_default()
for make in makes:
    for in_function in (False, True):
        npu.set_device_sat_mode(1)
        expected, _ = trained(Keras, make, in_function, dynamic=False, initial_scale=64.0)
        found, _ = trained(Npu, make, in_function, dynamic=False, initial_scale=64.0)
        npu.set_device_sat_mode(0)
        skipping, optimizer = trained(Npu, make, in_function, dynamic=False, initial_scale=64.0)
        dynamic, _ = trained(Npu, make, in_function)
        print(str(found) == str(expected), [s[::2] for s in skipping] == [s[::2] for s in dynamic], "nan" in str(found[-1]))
"""
    )
    assert set(done.stdout.splitlines()) == {"True True True"}


def test_the_last_step_says_whether_it_was_applied():
    done = run("""
        v, optimizer = tf.Variable(1.0), npu.train.optimizer.NpuLossScaleOptimizer(tf.keras.optimizers.SGD(1.0))
        print(bool(optimizer.last_step_finite))
        for gradient in (1.0, float("inf"), 0.5):
            optimizer.apply_gradients([(tf.constant(gradient), v)])
            print(bool(optimizer.last_step_finite), float(v))
    """)
    assert done.stdout.splitlines() == ["False", "True 0.0", "False 0.0", "True -0.5"]


ON_THE_DEVICE = """
from tensorflow.core.protobuf import config_pb2
from npu_runtime.config import RuntimeConfig
from npu_runtime.session import DeviceSession, Request
from npu_device.train.optimizer import _float_status
npu.open().as_default()
@tf.function
def step(x):
    product = tf.matmul(x, x)
    smaller = product / tf.constant(100.0, product.dtype)
    return smaller, _float_status.are_right([smaller, None])
for mode in (0, 1):
    npu.set_device_sat_mode(mode)
    with tf.Graph().as_default() as graph:
        fed = tf.compat.v1.placeholder(tf.float16, [2, 2], name="fed")
        value, is_right = step.python_function(fed)
    session = DeviceSession(graph, config_pb2.ConfigProto(), RuntimeConfig(overflow=("saturation", "infinity")[mode]))
    for size in (10.0, 300.0):
        given = tf.fill([2, 2], tf.cast(size, tf.float16)).numpy()
        found = session.run(Request((value.name, is_right.name), (), ("fed:0",)), [given])
        print(mode, size, float(found[0][0][0]), bool(found[1]))
"""


def test_the_device_tells_of_results_that_it_cut():
    """300 x 300 x 2 is more than fp16 holds, and what is left of it after the division is finite in saturation mode."""
    done = run(ON_THE_DEVICE)
    assert done.stdout.splitlines() == ["0 10.0 2.0 True", "0 300.0 655.0 False", "1 10.0 2.0 True", "1 300.0 inf False"]


def test_eager_code_asks_for_what_was_cut_since_it_asked_last():
    done = run("""
        from npu_runtime.device import float_status
        npu.open().as_default()
        v, optimizer = tf.Variable(1.0), npu.train.optimizer.NpuLossScaleOptimizer(tf.keras.optimizers.SGD(1.0))
        for is_cut in (False, True, False):
            if is_cut: float_status.note_overflow("MatMul")
            optimizer.apply_gradients([(tf.constant(0.25), v)])
            print(bool(optimizer.last_step_finite), float(v), float(optimizer.loss_scale))
    """)
    assert done.stdout.splitlines() == ["True 0.75 32768.0", "False 0.75 16384.0", "True 0.5 16384.0"]


def test_checkpoints_and_models_keep_it(tmp_path):
    source = f"""
        Npu, K = npu.train.optimizer.NpuLossScaleOptimizer, tf.keras.optimizers
        for name, make in (("new", K.SGD), ("legacy", K.legacy.SGD)):
            model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
            model.compile(Npu(make(0.5), initial_scale=256.0), "mse")
            model.fit(tf.ones([4, 2]), tf.ones([4, 1]), verbose=0)
            path = f"{tmp_path}/{{name}}"
            tf.train.Checkpoint(model=model, optimizer=model.optimizer).write(path)
            model.save(path + ".keras")
            again = tf.keras.models.load_model(path + ".keras")
            same, scale = type(again.optimizer) is type(model.optimizer), float(again.optimizer.loss_scale)
            print(same, scale, float(again.optimizer.learning_rate))
            plain = tf.keras.mixed_precision.LossScaleOptimizer(make(0.5))
            tf.train.Checkpoint(model=model, optimizer=plain).read(path).expect_partial()
            print(float(plain.loss_scale), int(plain.iterations))
    """
    assert run(source).stdout.splitlines() == ["True 256.0 0.5", "256.0 1"] * 2


def test_what_keras_refuses_is_refused():
    said = refusal("npu.train.optimizer.NpuLossScaleOptimizer('adam')")
    assert said.startswith("TypeError: ") and "inner_optimizer" in said
    said = refusal("npu.train.optimizer.NpuLossScaleOptimizer(tf.keras.optimizers.SGD(), dynamic=False)")
    assert said == 'ValueError: "initial_scale" must be specified if "dynamic" is False'
