"""Nodes that become one task on the chip, and nodes that do not, on graphs that TensorFlow built."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tests.lowering.lowered import lowered, types


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def _image(channels: int = 16) -> tf.Tensor:
    return tf.placeholder(tf.float32, [8, 32, 32, channels], "image")


def _weights(*shape: int) -> tf.Variable:
    return tf.get_variable("weights", shape, initializer=tf.zeros_initializer())


def _normalized(net: tf.Tensor) -> tf.Tensor:
    return tf.layers.batch_normalization(net, training=True, fused=True, name="bn")


def test_a_convolution_takes_the_sums_of_the_normalisation_behind_it():
    """The name is the one that the vendor's profiling guide gives as an example of a fused operator."""
    net = tf.nn.relu(_normalized(tf.nn.conv2d(_image(), _weights(3, 3, 16, 32), 1, "SAME", name="Conv2D")))
    tasks = lowered([net])
    assert "Conv2D+BNTrainingReduce" in types(tasks)
    assert "Conv2Dbn/FusedBatchNormV3_Reduce" in [task.name for task in tasks]
    assert any(kind.startswith("BNTrainingUpdate") and "Relu" in kind for kind in types(tasks))


def test_the_gradient_of_a_normalisation_is_two_operators():
    net = _normalized(_image())
    tasks = types(lowered(tf.gradients(tf.reduce_sum(net**3), tf.trainable_variables())))
    assert any("BNTrainingUpdateGrad" in kind for kind in tasks)


def test_inference_normalisation_stays_one_operator():
    net = tf.layers.batch_normalization(_image(), training=False, fused=True)
    assert not any("BNTraining" in kind for kind in types(lowered([net])))


def test_a_normalisation_may_be_flattened_for_a_product():
    net = tf.reshape(_normalized(_image()), [8, -1])
    tasks = lowered([tf.matmul(net, _weights(32 * 32 * 16, 4))])
    assert any("BNTrainingUpdate" in kind for kind in types(tasks)) and any("MatMulV2" in kind for kind in types(tasks))


def test_a_convolution_with_groups_is_a_product_for_each_group_that_fills_a_block():
    """Groups of 8 channels are done by twos, so that a block of 16 channels is full; those of 32 one by one."""
    narrow, wide = (
        next(
            task.work.product
            for task in lowered([tf.nn.conv2d(_image(64), tf.zeros([3, 3, n, 64]), 1, "SAME")])
            if task.work and task.work.product
        )
        for n in (8, 32)
    )
    assert (narrow.batch, narrow.n, narrow.k) == (4, 16, 9 * 16)
    assert (wide.batch, wide.n, wide.k) == (2, 32, 9 * 32)
    assert narrow.flops == 2 * 8 * 32 * 32 * 64 * 9 * 8


def test_an_elementwise_chain_is_one_task_and_moves_only_its_ends():
    x = tf.placeholder(tf.float32, [64, 1024])
    (task,) = lowered([tf.tanh(tf.exp(x) * 2.0 + 1.0)], mode="must_keep_origin_dtype")
    assert [t.n_bytes for t in (*task.read, *task.written) if t.n_elements > 1] == [64 * 1024 * 4] * 2


def test_a_value_that_others_read_too_leaves_its_region():
    x = tf.placeholder(tf.float32, [64, 1024])
    inner = tf.exp(x)
    (task,) = lowered([tf.tanh(inner), inner], mode="must_keep_origin_dtype")
    assert len(task.written) == 2


def test_layer_normalisation_is_one_task_forward():
    x = tf.placeholder(tf.float32, [96, 1024])
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    scale, offset = (tf.get_variable(name, [1024]) for name in ("scale", "offset"))
    tasks = lowered([tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-6)], mode="must_keep_origin_dtype")
    assert len(tasks) == 1
    assert sum(t.n_bytes for t in (*tasks[0].read, *tasks[0].written) if t.n_elements > 2048) == 2 * 96 * 1024 * 4


def test_a_product_takes_bias_and_activation_but_no_sums_over_rows():
    x, w = tf.placeholder(tf.float32, [64, 128]), _weights(128, 256)
    net = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), tf.get_variable("bias", [256])))
    kinds = types(lowered([tf.reduce_mean(net, -1, keepdims=True)]))
    assert any(kind.startswith("MatMulV2") and "Relu" in kind for kind in kinds)
    assert not any("MatMulV2" in kind and "ReduceMean" in kind for kind in kinds)


def test_no_cycle_between_tasks_comes_of_fusion():
    x, w = tf.placeholder(tf.float32, [64, 64]), _weights(64, 64)
    a = tf.exp(x)
    b = tf.matmul(a, w)
    tasks = lowered([a * tf.tanh(b) + b])
    made: set[object] = set()
    for task in tasks:
        assert all(t.producer is None or t in made or t.producer in task.ops for t in task.read)
        made.update(t for op in task.ops for t in op.outputs)


@pytest.mark.parametrize(("soc", "converts"), [("Ascend910A", True), ("Ascend910B2", False)])
def test_only_chips_of_the_first_generation_convert_matrices_in_tasks(soc: str, converts: bool):
    """Source: split chips convert rows to blocks while they load."""
    x, w = tf.placeholder(tf.float32, [64, 64]), _weights(64, 64)
    assert ("TransData" in types(lowered([tf.matmul(x, w)], soc))) == converts


def test_variables_keep_the_format_of_their_readers():
    w, other = _weights(64, 64), tf.get_variable("other", [64, 64])
    assert "TransData" not in types(lowered([tf.matmul(w, other)], mode="must_keep_origin_dtype"))[:2]


def test_dropout_makes_a_mask_of_bits_on_the_ai_cpu():
    x = tf.placeholder(tf.float32, [128, 128])
    tasks = lowered([tf.nn.dropout(x, keep_prob=0.9)])
    mask = next(task for task in tasks if task.head.op_type == "DropOutGenMask")
    assert mask.work is None and mask.written[0].n_bytes == 128 * 128 / 8


def test_lowering_what_is_selected_loads_no_kernels():
    """Kernels compute, and bring scipy along; tasks and costs of a graph of the chip need neither."""
    code = (
        "import sys, npu_runtime.lowering.lower, npu_runtime.simulation.cost_of_task\n"
        "heavy = [name for name in sys.modules if name.startswith(('npu_runtime.kernels', 'scipy', 'tensorflow'))]\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_loop_keeps_its_body():
    x = tf.placeholder(tf.float32, [16, 16])
    result = tf.while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, tf.tanh(v) * 2.0), [tf.constant(0), x])[1]
    loop = next(task for task in lowered([result]) if task.body)
    assert any("Tanh" in kind for kind in types(loop.body))


def test_floating_point_operations_are_those_of_tensorflows_profiler():
    x, w = _image(), _weights(3, 3, 16, 32)
    out = tf.nn.conv2d(x, w, 1, "SAME")
    task = next(task for task in lowered([out]) if task.head.op_type == "Conv2D")
    options = tf.profiler.ProfileOptionBuilder.float_operation()
    options["output"] = "none"
    counted = tf.profiler.profile(tf.get_default_graph(), options=options).total_float_ops
    product = task.work.product
    initial = int(np.prod(w.shape.as_list()))
    assert product.flops == pytest.approx(counted, abs=4 * initial)


@pytest.mark.parametrize("spread", [lambda net: tf.tile(net, [1, 3, 1]), lambda net: tf.broadcast_to(net[:, :1], [4, 6, 4])])
def test_tensors_that_readers_compute_again_are_told_on_both_sides(spread):
    """Whoever reads a table of tasks sees what an operator makes and the next one takes, although it costs no transfer."""
    net = spread(tf.placeholder(tf.float32, [4, 2, 4]))
    tasks = lowered([tf.transpose(net, [0, 2, 1])])
    [transpose] = [task for task in tasks if task.head.op_type.startswith("Transpose")]
    maker = next(task for task in tasks if transpose.ops[0].inputs[0].storage in task.outputs)
    assert [t.shape for t in maker.outputs] == [t.shape for t in transpose.inputs] == [(4, 6, 4)]
    assert maker.written == transpose.read == ()
    assert all(task.inputs and task.outputs for task in tasks)
