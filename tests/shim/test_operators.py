"""The device's operators against TensorFlow's formulas, in sessions that stay on TensorFlow."""

from __future__ import annotations

import inspect
import os

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.how_many import drawn

RNG = np.random.RandomState(0)
X = RNG.randn(7, 5).astype(np.float32)


def reference_gelu(x):
    """GELU as BERT scripts write it."""
    return x * (0.5 * (1.0 + tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3)))))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_gelu_and_its_gradient(plain_session, dtype):
    from npu_bridge.estimator.npu_unary_ops import npu_unary_ops

    x = tf.placeholder(dtype, [None, 5])
    ours, theirs = npu_unary_ops.gelu(x), reference_gelu(x)
    assert ours.shape.as_list() == [None, 5] and ours.dtype == theirs.dtype
    assert ours.op.type == "PartitionedCall" and ours.op.get_attr("_npu_op") == b"Gelu"
    slopes = [tf.gradients(y, x, grad_ys=tf.sin(x))[0] for y in (ours, theirs)]
    values = plain_session.run([ours, theirs, *slopes], {x: X})
    np.testing.assert_array_equal(values[0], values[1])
    tolerance = {np.float16: 4e-3, np.float32: 2e-6, np.float64: 1e-12}[dtype]
    np.testing.assert_allclose(values[2], values[3], rtol=tolerance, atol=tolerance)


def test_second_gradients_of_gelu(plain_session):
    from npu_bridge.estimator.npu_unary_ops import npu_unary_ops

    x = tf.constant(X)
    second = [tf.gradients(tf.gradients(f(x), x), x)[0] for f in (npu_unary_ops.gelu, reference_gelu)]
    np.testing.assert_allclose(*plain_session.run(second), rtol=1e-4, atol=1e-5)
    fast = [tf.gradients(tf.gradients(f(x), x), x)[0] for f in (npu_unary_ops.fast_gelu, lambda v: v * tf.sigmoid(1.702 * v))]
    np.testing.assert_allclose(*plain_session.run(fast), rtol=1e-4, atol=1e-5)


def test_fast_gelu(plain_session):
    from npu_bridge.estimator import npu_aicore_ops
    from npu_bridge.estimator.npu_unary_ops import npu_unary_ops

    x = tf.constant(X * 4)
    theirs = x * tf.sigmoid(1.702 * x)
    for ours in (npu_unary_ops.fast_gelu(x), npu_aicore_ops.fast_gelu_v2(x)):
        np.testing.assert_allclose(*plain_session.run([ours, theirs]), rtol=2e-5, atol=2e-6)
        np.testing.assert_allclose(
            *plain_session.run([tf.gradients(ours, x)[0], tf.gradients(theirs, x)[0]]), rtol=2e-5, atol=2e-6
        )


def test_gelu_in_loops_functions_and_imported_graphs(plain_session):
    from npu_bridge.estimator.npu_unary_ops import npu_unary_ops

    x = tf.constant(X)
    _, looped = tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, npu_unary_ops.gelu(v)), [0, x])
    mapped = tf.map_fn(npu_unary_ops.gelu, x)
    chosen = tf.cond(tf.reduce_sum(x) > -1e9, lambda: npu_unary_ops.gelu(x), lambda: x)
    called = tf.function(lambda v: npu_unary_ops.gelu(v) * 2.0)(x)
    once, thrice = reference_gelu(x), reference_gelu(reference_gelu(reference_gelu(x)))
    data = tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensors(X).map(npu_unary_ops.gelu)).get_next()
    got = plain_session.run([looped, mapped, chosen, called / 2.0, data, thrice, once])
    np.testing.assert_allclose(got[0], got[5], rtol=1e-5, atol=1e-6)
    for value in got[1:5]:
        np.testing.assert_allclose(value, got[6], rtol=1e-5, atol=1e-6)
    slopes = plain_session.run([tf.gradients(looped, x)[0], tf.gradients(thrice, x)[0]])
    np.testing.assert_allclose(*slopes, rtol=1e-5, atol=1e-6)


def test_a_graph_with_gelu_travels(graph, tmp_path, fresh):
    """Frozen, it runs and is differentiated in a process that has TensorFlow but not npu_bridge, and one that has."""
    from npu_bridge.estimator.npu_unary_ops import npu_unary_ops

    x = tf.placeholder(tf.float32, [None, 5], name="x")
    npu_unary_ops.gelu(x * tf.get_variable("w", [5], initializer=tf.ones_initializer()), name="y")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        expected = session.run("y:0", {x: X})
        frozen = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
        tf.saved_model.simple_save(session, str(tmp_path / "saved"), {"x": x}, {"y": graph.get_tensor_by_name("y:0")})
    (tmp_path / "frozen.pb").write_bytes(frozen.SerializeToString())
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", expected)
    source = """
    import sys
    import numpy as np
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    folder = sys.argv[1]
    x, y = np.load(folder + "/x.npy"), np.load(folder + "/y.npy")
    definition = tf.GraphDef.FromString(open(folder + "/frozen.pb", "rb").read())
    with tf.Session() as session:
        xs, ys = tf.import_graph_def(definition, return_elements=["x:0", "y:0"], name="")
        np.testing.assert_allclose(session.run(ys, {xs: x}), y, rtol=1e-5, atol=1e-6)
    with tf.Session(graph=tf.Graph()) as session:
        tf.saved_model.load(session, ["serve"], folder + "/saved")
        np.testing.assert_allclose(session.run("y:0", {"x:0": x}), y, rtol=1e-5, atol=1e-6)
    """
    fresh(source, str(tmp_path))
    fresh("    import npu_bridge.npu_init\n" + source, str(tmp_path))


@pytest.mark.parametrize("keep_prob", [0.3, 0.5, 0.9, "placeholder", "tensor"])
@pytest.mark.parametrize("noise_shape", [None, [7, 1]])
def test_dropout_is_tensorflows_with_the_same_seed(keep_prob, noise_shape):
    """Equal op-level seeds give equal masks, because the same operations are built."""
    from npu_bridge.estimator import npu_ops

    results = []
    for function in (npu_ops.dropout, tf.nn.dropout):
        with tf.Graph().as_default():
            x, feed = tf.constant(X), tf.placeholder(tf.float32, [])
            probability = {"placeholder": feed, "tensor": tf.constant(0.6)}.get(keep_prob, keep_prob)
            y = function(x, keep_prob=probability, noise_shape=noise_shape, seed=11)
            with tf.Session() as session:
                results.append(session.run([y, tf.gradients(y, x)[0]], {feed: 0.7}))
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_dropout_keeps_with_keep_prob_and_scales(plain_session):
    from npu_bridge.estimator import npu_ops

    value = plain_session.run(npu_ops.dropout(tf.ones([200, 200]), 0.8))
    assert set(np.unique(value)) == {0.0, np.float32(1.25)} and abs((value > 0).mean() - 0.8) < 0.01


def test_dropout_of_one(graph):
    from npu_bridge.estimator import npu_ops

    x = tf.placeholder(tf.float32, [3])
    assert npu_ops.dropout(x, 1.0) is x
    assert npu_ops.dropout(x, 1) is not x and npu_ops.dropout(x, tf.constant(1.0)) is not x
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(npu_ops.dropout(x, 1), {x: [1, 2, 3]}), [1, 2, 3])


@pytest.mark.parametrize("keep_prob", [0.0, -0.1, 1.1, 2])
def test_dropout_wants_a_probability(graph, keep_prob):
    from npu_bridge.estimator import npu_ops

    with pytest.raises(ValueError, match="keep_prob must be in"):
        npu_ops.dropout(tf.ones([2]), keep_prob)


def test_other_misuse_of_dropout(graph):
    from npu_bridge.estimator import npu_ops

    with pytest.raises(ValueError, match="floating"):
        npu_ops.dropout(tf.ones([2], tf.int32), 0.5)
    with pytest.raises(TypeError):
        npu_ops.dropout(tf.ones([2]))
    parameters = inspect.signature(npu_ops.dropout).parameters
    assert list(parameters) == ["x", "keep_prob", "noise_shape", "seed", "name"]


@given(shape=st.lists(st.integers(1, 9), min_size=1, max_size=3), keep_prob=st.floats(0.2, 0.9))
@settings(max_examples=drawn(15), deadline=None)
def test_masks_are_applied_bit_by_bit(shape, keep_prob):
    from npu_bridge.helper import helper

    library = helper.get_gen_ops()
    with tf.Graph().as_default():
        x = tf.constant(np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape))
        mask = library.drop_out_gen_mask(tf.shape(x), keep_prob, seed=3, seed2=4)
        y = library.drop_out_do_mask(x, mask, keep_prob)
        with tf.Session() as session:
            bits, given_x, result = session.run([mask, x, y])
    assert bits.dtype == np.uint8 and bits.size == -(-given_x.size // 128) * 16
    kept = np.unpackbits(bits, bitorder="little")[: given_x.size].reshape(shape)
    np.testing.assert_allclose(result, given_x / np.float32(keep_prob) * kept, rtol=1e-6)


def test_layer_norm_prelu_centralization(plain_session):
    from npu_bridge.estimator import npu_aicore_ops

    gamma, beta = RNG.randn(5).astype(np.float32), RNG.randn(5).astype(np.float32)
    result, mean, variance = plain_session.run(
        npu_aicore_ops.layer_norm(tf.constant(X), gamma, beta, begin_norm_axis=1, epsilon=1e-5)
    )
    layer = tf.keras.layers.LayerNormalization(epsilon=1e-5)
    theirs = layer(tf.constant(X))
    plain_session.run(tf.global_variables_initializer())
    np.testing.assert_allclose(result, plain_session.run(theirs) * gamma + beta, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mean[:, 0], X.mean(1), atol=1e-6)
    np.testing.assert_allclose(variance[:, 0], X.var(1), rtol=1e-5)
    np.testing.assert_allclose(
        plain_session.run(npu_aicore_ops.prelu(tf.constant(X), 0.1)), np.where(X > 0, X, 0.1 * X), rtol=1e-6
    )
    centred = plain_session.run(npu_aicore_ops.centralization(tf.constant(X), [0]))
    np.testing.assert_allclose(centred, X - X.mean(0), atol=1e-6)


def test_coordinates_and_scatter(plain_session):
    from npu_bridge.estimator import npu_aicore_ops, npu_ops

    x = np.array([[0, 3, 0], [5, 0, 6]], np.float32)
    np.testing.assert_array_equal(plain_session.run(npu_aicore_ops.nonzero(x)), np.argwhere(x))
    np.testing.assert_array_equal(plain_session.run(npu_aicore_ops.nonzero(x, transpose=True)), np.argwhere(x).T)
    values, places, count = plain_session.run(npu_aicore_ops.nonzerowithvalue(tf.constant(x)))
    assert list(values) == [3, 5, 6] and count == 3
    np.testing.assert_array_equal(places, np.argwhere(x))
    data, updates = np.zeros((3, 3), np.float32), np.array([[1.0, 1.1, 1.2], [2.0, 2.1, 2.2]], np.float32)
    indices = np.array([[1, 0, 2], [0, 2, 1]])
    expected = np.array([[2.0, 1.1, 0.0], [1.0, 0.0, 2.2], [0.0, 2.1, 1.2]], np.float32)  # the example of the ONNX operator
    np.testing.assert_array_equal(plain_session.run(npu_ops.scatter_elements(data, indices, updates)), expected)
    row = plain_session.run(
        npu_ops.scatter_elements(np.array([[1.0, 2, 3, 4, 5]]), np.array([[1, -1]]), np.array([[1.1, 2.1]]), 1)
    )
    np.testing.assert_allclose(row, [[1.0, 1.1, 3.0, 4.0, 2.1]])


def test_lars(plain_session):
    from npu_bridge.estimator import npu_ops

    w, g = RNG.randn(4, 3).astype(np.float32), RNG.randn(4, 3).astype(np.float32)
    (scaled,) = plain_session.run(npu_ops.LARS([tf.constant(w)], [tf.constant(g)], 0.01, hyperpara=0.02))
    rate = 0.02 * np.linalg.norm(w) / (np.linalg.norm(g) + 0.01 * np.linalg.norm(w) + 1e-5)
    np.testing.assert_allclose(scaled, rate * (g + 0.01 * w), rtol=1e-5)
    np.testing.assert_allclose(
        plain_session.run(npu_ops.LARSV2(tf.constant(w), tf.constant(g), 0.01, 0.1, 0.02)), scaled, rtol=1e-5
    )


def test_fused_adam_is_adams_step(plain_session):
    from npu_bridge.estimator import npu_ops

    g = RNG.randn(6).astype(np.float32)
    weight, m, v = (tf.Variable(value, dtype=tf.float32) for value in (RNG.randn(6), np.zeros(6), np.zeros(6)))
    plain_session.run(tf.global_variables_initializer())
    before = plain_session.run(weight)
    step = npu_ops.adam_apply_one_assign(tf.constant(g), v, m, weight, 0.01, 0.9, 0.1, 0.999, 0.001, 1e-6)
    plain_session.run(step)
    next_m, next_v = 0.1 * g, 0.001 * g * g
    np.testing.assert_allclose(plain_session.run(weight), before - 0.01 * next_m / (np.sqrt(next_v) + 1e-6), rtol=1e-5)
    np.testing.assert_allclose(plain_session.run(m), next_m, rtol=1e-6)


def test_basic_lstm_cell_is_tensorflows(plain_session):
    from npu_bridge.estimator import npu_ops

    x, h, c = (tf.constant(RNG.randn(3, n).astype(np.float32)) for n in (4, 5, 5))
    cell = tf.nn.rnn_cell.BasicLSTMCell(5, forget_bias=1.0)
    theirs, state = cell(x, tf.nn.rnn_cell.LSTMStateTuple(c, h))
    plain_session.run(tf.global_variables_initializer())
    w, b = cell.weights
    ours = npu_ops.basic_lstm_cell(x, h, c, w, b, 1.0, 1.0, True, "tanh")
    got = plain_session.run([ours[0], ours[1], state.c, theirs])
    np.testing.assert_allclose(got[0], got[2], rtol=1e-6)
    np.testing.assert_allclose(got[1], got[3], rtol=1e-6)


@pytest.mark.parametrize("lengths", [None, [6, 2, 4]])
def test_dynamic_rnn_is_tensorflows(plain_session, lengths):
    from npu_bridge.estimator.npu.npu_dynamic_rnn import DynamicRNN

    x = tf.constant(RNG.randn(6, 3, 4).astype(np.float32))
    layer = DynamicRNN(hidden_size=5, dtype=tf.float32, forget_bias=1.0)
    outputs = layer(x, seq_length=None if lengths is None else tf.constant(lengths))
    cell = tf.nn.rnn_cell.BasicLSTMCell(5, forget_bias=1.0)
    theirs, _ = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32, time_major=True)
    plain_session.run(tf.global_variables_initializer())
    plain_session.run([tf.assign(a, b) for a, b in zip(cell.weights, layer.weights, strict=True)])
    assert [v.name for v in layer.weights] == ["dynamicrnn/w:0", "dynamicrnn/b:0"] and len(outputs) == 8
    got = plain_session.run([outputs[0], theirs])
    np.testing.assert_allclose(*got, rtol=1e-5, atol=1e-6)
    slopes = [tf.gradients(y * y, v)[0] for y, v in ((outputs[0], layer.weights[0]), (theirs, cell.weights[0]))]
    np.testing.assert_allclose(*plain_session.run(slopes), rtol=1e-4, atol=1e-5)


def test_dynamic_rnn_in_two_directions(plain_session):
    from npu_bridge.estimator.npu.npu_dynamic_rnn import DYNAMIC_RNN_BIDIRECTION, DynamicRNN

    x = tf.constant(RNG.randn(6, 3, 4).astype(np.float32))
    layer = DynamicRNN(5, tf.float32, direction=DYNAMIC_RNN_BIDIRECTION)
    y = layer(x)[0]
    cells = [tf.nn.rnn_cell.BasicLSTMCell(5, forget_bias=0.0) for _ in range(2)]
    theirs, _ = tf.nn.bidirectional_dynamic_rnn(*cells, x, dtype=tf.float32, time_major=True)
    plain_session.run(tf.global_variables_initializer())
    w, b = layer.weights
    copies = [(cells[i].weights[0], w[i]) for i in (0, 1)] + [(cells[i].weights[1], b[i]) for i in (0, 1)]
    plain_session.run([tf.assign(a, value) for a, value in copies])
    assert w.shape.as_list() == [2, 9, 20]
    got = plain_session.run([y, tf.stack(theirs)])
    np.testing.assert_allclose(*got, rtol=1e-5, atol=1e-6)


def test_dynamic_gru_is_keras_gru(plain_session):
    from npu_bridge.estimator.npu.npu_dynamic_rnn import DynamicGRUV2

    x = tf.constant(RNG.randn(6, 3, 4).astype(np.float32))
    layer = DynamicGRUV2(5, tf.float32)
    outputs = layer(x)
    keras = tf.compat.v2.keras.layers.GRU(
        5, reset_after=True, recurrent_activation="sigmoid", return_sequences=True, time_major=True
    )
    theirs = keras(x)
    plain_session.run(tf.global_variables_initializer())
    kernel, recurrent, bias = keras.weights
    by_name = {v.name: v for v in layer.weights}
    values = {"weight_input": kernel, "weight_hidden": recurrent, "bias_input": bias[0], "bias_hidden": bias[1]}
    plain_session.run([tf.assign(by_name[f"dynamicgruv2/{name}:0"], value) for name, value in values.items()])
    assert len(outputs) == 6
    np.testing.assert_allclose(*plain_session.run([outputs[0], theirs]), rtol=1e-4, atol=1e-5)


def test_augru_without_attention_effect(plain_session):
    """With every attention weight at 0 the state stays; the outputs have the documented count and shape."""
    from npu_bridge.estimator.npu.npu_dynamic_rnn import DynamicAUGRU

    outputs = DynamicAUGRU(5, tf.float32)(tf.ones([4, 2, 3]), tf.zeros([4, 2]), init_h=tf.ones([2, 5]))
    plain_session.run(tf.global_variables_initializer())
    values = plain_session.run(outputs)
    assert [value.shape for value in values] == [(4, 2, 5)] * 7
    np.testing.assert_array_equal(values[0], np.ones((4, 2, 5)))


def test_misuse_of_recurrent_layers(graph):
    from npu_bridge.estimator.npu.npu_dynamic_rnn import DynamicRNN

    with pytest.raises(ValueError, match="direction must be one of"):
        DynamicRNN(4, tf.float32, direction="BOTH")
    with pytest.raises(ValueError, match="cell_type"):
        DynamicRNN(4, tf.float32, cell_type="GRU")
    with pytest.raises(ValueError, match="last dimension"):
        DynamicRNN(4, tf.float32)(tf.placeholder(tf.float32, [None, None, None]))


def test_npu_dynamic_rnn_is_static_rnn(plain_session):
    from npu_bridge.estimator.npu.npu_rnn import npu_dynamic_rnn

    x = tf.constant(RNG.randn(4, 3, 5).astype(np.float32))
    cell = tf.nn.rnn_cell.GRUCell(2)
    ours, state = npu_dynamic_rnn(cell, x, dtype=tf.float32)
    theirs, other = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, time_major=True)
    plain_session.run(tf.global_variables_initializer())
    got = plain_session.run([ours, theirs, state, other])
    np.testing.assert_allclose(got[0], got[1], rtol=1e-6)
    np.testing.assert_allclose(got[2], got[3], rtol=1e-6)


def test_deformable_conv_without_shift_is_a_convolution(plain_session):
    from npu_bridge.tbe.npu_cube_ops import deformable_conv2d

    x, kernel = RNG.randn(2, 9, 8, 4).astype(np.float32), RNG.randn(3, 3, 4, 5).astype(np.float32)
    offsets = np.zeros((2, 5, 4, 2 * 9 * 3), np.float32)
    offsets[..., 36:] = 1.0
    ours = deformable_conv2d(
        tf.constant(x), tf.constant(kernel), tf.constant(offsets), [1, 2, 2, 1], [1, 1, 1, 1], deformable_groups=2
    )
    padded = tf.pad(tf.constant(x), [[0, 0], [1, 1], [1, 1], [0, 0]])
    theirs = tf.nn.conv2d(padded, tf.constant(kernel), strides=[1, 2, 2, 1], padding="VALID")
    np.testing.assert_allclose(*plain_session.run([ours, theirs]), rtol=1e-4, atol=1e-4)
    shifted = offsets.copy()
    shifted[..., :18] = 1.0  # one pixel to the right everywhere
    ours = deformable_conv2d(
        tf.constant(x), tf.constant(kernel), tf.constant(shifted), [1, 2, 2, 1], [1, 1, 1, 1], deformable_groups=2
    )
    moved = tf.pad(tf.constant(x)[:, :, 1:], [[0, 0], [1, 1], [0, 2], [0, 0]])
    theirs = tf.nn.conv2d(tf.concat([tf.constant(np.pad(x, ((0, 0), (1, 1), (0, 0), (0, 0)))[:, :, :1]), moved], 2)[:, :, :10],
                          tf.constant(kernel), strides=[1, 2, 2, 1], padding="VALID")  # fmt: skip
    np.testing.assert_allclose(*plain_session.run([ours, theirs]), rtol=1e-4, atol=1e-4)


def test_image_warp_moves_pixels(plain_session):
    from npu_bridge.npu_cpu.npu_cpu_ops import dense_image_warp

    image = RNG.rand(1, 6, 7, 2).astype(np.float32)
    flow = np.zeros((1, 6, 7, 2), np.float32)
    flow[..., 0], flow[..., 1] = 1.0, 2.0
    moved = plain_session.run(dense_image_warp(tf.constant(image), tf.constant(flow)))
    np.testing.assert_allclose(moved[:, 1:, 2:], image[:, :-1, :-2], rtol=1e-6)
    half = plain_session.run(dense_image_warp(tf.constant(image), tf.constant(flow * 0 + [0.5, 0.0])))
    np.testing.assert_allclose(half[:, 1:], (image[:, 1:] + image[:, :-1]) / 2, rtol=1e-5)


def test_jpeg_ops(plain_session):
    from npu_bridge.image import image_ops

    pixels = (np.indices((16, 16)).sum(0)[..., None] * [4, 4, 4]).astype(np.uint8)
    data = plain_session.run(tf.image.encode_jpeg(pixels, quality=100))
    assert plain_session.run(image_ops.decode_and_resize_jpeg(data, [8, 4])).shape == (8, 4, 3)
    same = plain_session.run(image_ops.decode_and_crop_and_resize_jpeg(data, [0, 0, 16, 16], [16, 16]))
    assert np.abs(same.astype(int) - pixels).max() <= 4


def test_random_choice_draws_true_positions(plain_session):
    from npu_bridge.npu_cpu.npu_cpu_ops import randomchoicewithmask

    x = RNG.rand(5, 6) > 0.6
    for count in (3, 40):
        indices, mask = plain_session.run(randomchoicewithmask(tf.constant(x), count, seed=1))
        drawn = [tuple(row) for row, is_drawn in zip(indices, mask, strict=True) if is_drawn]
        assert len(drawn) == len(set(drawn)) == min(count, x.sum()) and all(x[row] for row in drawn)


def test_embedding_rank_id(plain_session):
    from npu_bridge.npu_cpu.npu_cpu_ops import embeddingrankid

    table = np.array([[0, 1000, 3200], [1, 9000, 3200]], np.uint64)
    rows = plain_session.run(embeddingrankid(tf.constant(table), tf.constant([5, 4]), 320, "mod"))
    np.testing.assert_array_equal(rows, [[1, 9000 + 2 * 320, 320], [0, 1000 + 2 * 320, 320]])


def test_channels_carry_values(plain_session):
    from npu_bridge.estimator import npu_ops

    put = npu_ops.outfeed_enqueue_op("log", [tf.constant([1.0, 2.0]), tf.constant(3)])
    take = npu_ops.outfeed_dequeue_op("log", [tf.float32, tf.int32], [tf.TensorShape([2]), tf.TensorShape([])])
    stop = npu_ops.stop_outfeed_dequeue_op("log")
    plain_session.run(put)
    values, number = plain_session.run(take)
    assert list(values) == [1.0, 2.0] and number == 3
    plain_session.run(stop)
    with pytest.raises(tf.errors.OutOfRangeError):
        plain_session.run(take)


def test_what_cannot_be_done_says_why():
    from npu_bridge.estimator import npu_aicore_ops, npu_ops
    from npu_bridge.helper import helper
    from npu_bridge.npu_cpu import lru_cache, npu_cpu_ops

    refused = [
        lambda: npu_ops.npu_onnx_graph_op([], [], "model.onnx"), lambda: npu_aicore_ops.prod_env_mat_a(1, 2, 3, 4, 5, 6, 7),
        lambda: npu_cpu_ops.batch_enqueue(1), lambda: npu_aicore_ops.lru_cache_v2(1, 2, 3, 4, 5, 6),
        lambda: lru_cache.LruCache().cache_add([1]), lambda: npu_ops.channel_get_next("c", [], []),
    ]  # fmt: skip
    for call in refused:
        with pytest.raises(RuntimeError, match=r"\bnot?\b") as error:
            call()
        assert ":" in str(error.value)
    with pytest.raises(AttributeError, match="operator library has no 'no_such_op'"):
        print(helper.get_gen_ops().no_such_op)
    assert os.environ["RANK_SIZE"] == "1"
