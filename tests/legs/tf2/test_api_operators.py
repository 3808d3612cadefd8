"""The operators of the device as functions, beside TensorFlow's own."""

from __future__ import annotations

import json

import numpy as np

from tests.legs.tf2.api_programs import refusal, run

GELU = """
import json
x = tf.constant([[-3.0, -0.5, 0.0], [0.25, 1.0, 6.0]])
def own(x): return x * tf.sigmoid(1.702 * x)
def slopes(f, is_inside):
    def slope(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            first = tape.gradient(y, x)
        return y, first, outer.gradient(first, x)
    return (tf.function(slope) if is_inside else slope)(x)
"""


def test_gelu_in_functions_is_the_fast_one_with_both_gradients():
    done = run(
        GELU
        + """
expected = slopes(own, True)
found = [slopes(npu.ops.gelu, True), slopes(tf.function(npu.ops.gelu), False), slopes(tf.function(npu.ops.gelu), True)]
print(json.dumps([[t.numpy().tolist() for t in one] for one in [expected, *found]]))
"""
    )
    expected, *found = json.loads(done.stdout)
    for one in found:
        np.testing.assert_allclose(one, expected, rtol=1e-5, atol=1e-6)


def test_gelu_outside_of_functions_is_tensorflows():
    done = run(GELU + "print(np.array_equal(npu.ops.gelu(x), tf.nn.gelu(x)))".replace("np.", "__import__('numpy')."))
    assert done.stdout == "True\n"


def test_gelu_is_a_node_of_the_device_with_known_shape():
    done = run(
        GELU
        + """
made = tf.function(lambda x: npu.ops.gelu(x)).get_concrete_function(tf.TensorSpec([None, 3]))
(node,) = [op for op in made.graph.get_operations() if op.type == "PartitionedCall"]
print(node.get_attr("_npu_op").decode(), node.outputs[0].shape, made.output_shapes)
"""
    )
    assert done.stdout == "FastGelu (None, 3) (None, 3)\n"


def test_gelu_joins_layers_of_keras():
    done = run("""
        x = tf.keras.Input([4])
        model = tf.keras.Model(x, npu.ops.gelu(tf.keras.layers.Dense(3)(x)))
        model.compile("sgd", "mse")
        before = model.get_weights()[0].copy()
        model.fit(tf.ones([8, 4]), tf.ones([8, 3]), verbose=0)
        print(bool((before != model.get_weights()[0]).all()), model.output_shape)
    """)
    assert done.stdout == "True (None, 3)\n"


ON_THE_DEVICE = """
from tensorflow.core.protobuf import config_pb2
from npu_runtime.config import RuntimeConfig
from npu_runtime.session import DeviceSession, Request
x = tf.constant([[-3.0, -0.5, 0.0], [0.25, 1.0, 6.0]])
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = npu.ops.gelu(x)
    return y, tape.gradient(y, x)
expected = step(x)
made = step.get_concrete_function(tf.TensorSpec([2, 3]))
with tf.Graph().as_default() as graph:
    fed = tf.compat.v1.placeholder(tf.float32, [2, 3], name="fed")
    y, slope = made(fed)
session = DeviceSession(graph, config_pb2.ConfigProto(), RuntimeConfig())
found = session.run(Request((y.name, slope.name), (), ("fed:0",)), [x.numpy()])
"""


def test_the_device_runs_these_nodes_in_functions_of_functions():
    done = run(
        ON_THE_DEVICE
        + """
from npu_runtime.trace.run_log import current
import numpy as np
ops = {node.op for node in session._importer.graph}
print([bool(np.allclose(a, b, rtol=1e-5)) for a, b in zip(found, expected)], sorted(op for op in ops if op.startswith("_Npu")))
""".replace("from npu_runtime.trace.run_log import current\n", "")
    )
    assert done.stdout == "[True, True] ['_NpuFastGelu', '_NpuFastGeluGrad']\n"


MASKED = """
from npu_device import gen_npu_ops
import npu_device.npu_device
assert npu_device.gen_npu_ops is npu_device.npu_device.gen_npu_ops is gen_npu_ops
@tf.function
def dropped(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        mask = gen_npu_ops.drop_out_gen_mask(tf.shape(x), 0.75, 5, 7, None)
        y = gen_npu_ops.drop_out_do_mask(x, mask, 0.75, None)
    return y, tape.gradient(y, x)
import numpy as np
y, slope = (t.numpy() for t in dropped(tf.range(1.0, 1025.0)))
drawn = tf.raw_ops.RandomUniform(shape=[1024], dtype=tf.float32, seed=5, seed2=7).numpy() < 0.75
"""


def test_the_library_of_operators_drops_what_tensorflow_draws():
    done = run(
        MASKED
        + """
kept = drawn / np.float32(0.75)
agree = [np.allclose(a, b, rtol=1e-6) for a, b in ((y, kept * np.arange(1, 1025)), (slope, kept))]
print(*map(bool, agree), tf.executing_eagerly())
"""
    )
    assert done.stdout == "True True True\n"


def test_the_library_of_operators_refuses_names_that_the_device_has_not():
    said = refusal("from npu_device import gen_npu_ops\ngen_npu_ops.paint")
    assert said.startswith("AttributeError: npu_bridge's operator library has no 'paint' on the simulated device; it has: ")
