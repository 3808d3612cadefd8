"""Calls of TensorFlow 0.7 to 1.0: TensorFlow refuses them as they are, and gives what they gave once they are converted."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf2npu.engine.convert_file import convert_source

X = "x = tf.constant([[1., 2., 3.], [4., 5., 6.]])\n"
SQUARE = "m = tf.constant([[4., 1.], [1., 3.]])\n"
IMAGE = "i = tf.reshape(tf.range(48, dtype=tf.float32), [1, 4, 4, 3])\n"
SPARSE = "s = tf.SparseTensor([[0, 1], [1, 2]], [5., 6.], {}=[2, 4])\n"
ROWS = "h, w, b = tf.ones([2, 3]), tf.ones([9, 3]), tf.zeros([9])\n"
CELL = "r = [tf.ones([2, 3])] * 2\ntf.get_variable_scope().set_initializer(tf.constant_initializer(.1))\n"

# The call of then, and in today's words what it gave; each gives y.
CHANGED = {
    "concat": (X, "y = tf.concat(0, [x, x])", "y = tf.concat([x, x], 0)"),
    "concat_dim": (X, "y = tf.concat(concat_dim=1, values=[x, x])", "y = tf.concat([x, x], 1)"),
    "split": (X, "y = tf.split(1, 3, x)", "y = tf.split(x, 3, 1)"),
    "split by name": (X, "y = tf.split(split_dim=1, num_split=3, value=x)", "y = tf.split(x, 3, 1)"),
    "mul": (X, "y = tf.mul(x, x)", "y = x * x"),
    "sub": (X, "y = tf.sub(x, 1.)", "y = x - 1"),
    "neg": (X, "y = tf.neg(x)", "y = -x"),
    "inv": (X, "y = tf.inv(x)", "y = 1 / x"),
    "pack": (X, "y = tf.pack([x, x])", "y = tf.stack([x, x])"),
    "unpack": (X, "y = tf.unpack(x)", "y = tf.unstack(x)"),
    "select": (X, "y = tf.select(x > 2, t=x, e=-x)", "y = tf.where(x > 2, x, -x)"),
    "complex_abs": ("", "y = tf.complex_abs(tf.constant(3 + 4j))", "y = tf.constant(5., tf.float64)"),
    "listdiff": ("", "y = tf.listdiff([1, 2, 3], [2])[0]", "y = tf.constant([1, 3])"),
    "batch_matmul": (X, "y = tf.batch_matmul(x, x, adj_y=True)", "y = tf.matmul(x, x, transpose_b=True)"),
    "batch_matmul by position": (X, "y = tf.batch_matmul(x, x, False, True)", "y = tf.matmul(x, x, transpose_b=True)"),
    "unpack, axis": (X, "y = tf.unpack(x, axis=1)", "y = tf.unstack(x, axis=1)"),
    "pack, axis": (X, "y = tf.pack([x, x], 1)", "y = tf.stack([x, x], 1)"),
    "batch_matrix_inverse": (SQUARE, "y = tf.batch_matrix_inverse(m)", "y = tf.linalg.inv(m)"),
    "batch_cholesky": (SQUARE, "y = tf.batch_cholesky(m)", "y = tf.linalg.cholesky(m)"),
    "batch_cholesky_solve": (SQUARE, "y = tf.batch_cholesky_solve(m, m)", "y = tf.linalg.cholesky_solve(m, m)"),
    "batch_matrix_solve": (SQUARE, "y = tf.batch_matrix_solve(m, m)", "y = tf.eye(2)"),
    "batch_matrix_determinant": (SQUARE, "y = tf.batch_matrix_determinant(m)", "y = tf.constant(11.)"),
    "batch_matrix_diag": ("", "y = tf.batch_matrix_diag([1., 2.])", "y = tf.linalg.diag([1., 2.])"),
    "batch_matrix_band_part": (SQUARE, "y = tf.batch_matrix_band_part(m, 0, -1)", "y = tf.constant([[4., 1.], [0., 3.]])"),
    "batch_matrix_transpose": (X, "y = tf.batch_matrix_transpose(x)", "y = tf.transpose(x)"),
    "batch_self_adjoint_eigvals": (SQUARE, "y = tf.batch_self_adjoint_eigvals(m)", "y = tf.linalg.eigvalsh(m)"),
    "per_image_whitening": (
        IMAGE,
        "y = tf.image.per_image_whitening(i[0])",
        "y = tf.image.per_image_standardization(i[0])",
    ),
    "resize_images": (IMAGE, "y = tf.image.resize_images(i, 8, 6)", "y = tf.image.resize_images(i, [8, 6])"),
    "resize_images, method": (IMAGE, "y = tf.image.resize_images(i, 8, 6, 1)", "y = tf.image.resize_images(i, [8, 6], 1)"),
    "reverse": (X, "y = tf.reverse(x, [False, True])", "y = tf.reverse(x, [1])"),
    "reverse by name": (X, "y = tf.reverse(x, dims=[True, True])", "y = tf.reverse(x, [0, 1])"),
    "sparse tensor": ("", SPARSE.format("shape") + "y = tf.sparse.to_dense(s)", "y = tf.constant([[0., 5, 0, 0], [0, 0, 6, 0]])"),
    "sparse_split": (
        SPARSE.format("dense_shape"),
        "y = tf.sparse.to_dense(tf.sparse_split(1, 2, s)[0])",
        "y = tf.constant([[0., 5.], [0., 0.]])",
    ),
    "zeros": ("", "y = tf.zeros_initializer([2, 3])", "y = tf.zeros([2, 3])"),
    "ones": ("", "y = tf.ones_initializer(shape=[2], dtype=tf.int32)", "y = tf.ones([2], tf.int32)"),
    "full_shape": (
        "tf.set_random_seed(1)\n",
        "y = tf.get_variable('v', [3, 4], initializer=tf.uniform_unit_scaling_initializer(1.0, seed=3, full_shape=[3, 4]))",
        "y = tf.get_variable('v', [3, 4], initializer=tf.uniform_unit_scaling_initializer(1.0, seed=3))",
    ),
    "tensor array": (
        X,
        "a = tf.TensorArray(tf.float32, 2)\na = a.unpack(x)\ny = a.pack()",
        "y = x * 1",
    ),
    "sigmoid loss": (
        X,
        "y = tf.nn.sigmoid_cross_entropy_with_logits(x, x / 9)",
        "y = tf.nn.sigmoid_cross_entropy_with_logits(labels=x / 9, logits=x)",
    ),
    "sparse loss": (
        X,
        "y = tf.nn.sparse_softmax_cross_entropy_with_logits(x, [2, 0])",
        "y = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[2, 0], logits=x)",
    ),
    "softmax loss": (
        X,
        "y = tf.nn.softmax_cross_entropy_with_logits(x, [[0., 0, 1], [1, 0, 0]])",
        "y = tf.nn.softmax_cross_entropy_with_logits(labels=[[0., 0, 1], [1, 0, 0]], logits=x)",
    ),
    "nce_loss": (
        ROWS + "v = [3, 4, 5, 6], [[.1], [.1]], [.1] * 4\nt = tf.placeholder(tf.int64, [2, 1], name='t')\n",
        "y = tf.nn.nce_loss(w, b, h, t, 4, 9, sampled_values=v)",
        "y = tf.nn.nce_loss(w, b, t, h, 4, 9, sampled_values=v)",
    ),
    "input_size": (
        CELL,
        "y = tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(4, 3), r, dtype=tf.float32)[0]",
        "y = tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(4), r, dtype=tf.float32)[0]",
    ),
    "input_size by name": (
        CELL,
        "y = tf.nn.static_rnn(tf.nn.rnn_cell.BasicLSTMCell(4, input_size=3), r, dtype=tf.float32)[0]",
        "y = tf.nn.static_rnn(tf.nn.rnn_cell.BasicLSTMCell(4), r, dtype=tf.float32)[0]",
    ),
    "rnn": (
        CELL,
        "y = tf.nn.rnn(tf.nn.rnn_cell.BasicRNNCell(4), r, dtype=tf.float32)[0]",
        "y = tf.nn.static_rnn(tf.nn.rnn_cell.BasicRNNCell(4), r, dtype=tf.float32)[0]",
    ),
    "state of one tensor": (
        CELL + "a = tf.ones([2, 8])\n",
        "c = tf.nn.rnn_cell.BasicLSTMCell(4)\ny = tf.nn.static_rnn(c, r, initial_state=a)[0]",
        "c = tf.nn.rnn_cell.BasicLSTMCell(4)\np = tf.nn.rnn_cell.LSTMStateTuple(a[:, :4], a[:, 4:])\n"
        "y = tf.nn.static_rnn(c, r, initial_state=p)[0]",
    ),
    "state of one tensor for several cells": (
        CELL + "a = tf.ones([2, 16])\n",
        "c = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(4) for _ in range(2)])\n"
        "y = tf.nn.rnn(c, r, initial_state=a)[0]",
        "c = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(4) for _ in range(2)])\n"
        "y = tf.nn.static_rnn(c, r, initial_state=(tf.nn.rnn_cell.LSTMStateTuple(a[:, :4], a[:, 4:8]),) * 2)[0]",
    ),
    "merge_all_summaries": (
        "", "tf.scalar_summary('a', 1.)\ny = tf.merge_all_summaries()", "tf.summary.scalar('a', 1.)\ny = tf.summary.merge_all()",
    ),
    "histogram_summary": ("", "y = tf.histogram_summary('a', [1.])", "y = tf.summary.histogram('a', [1.])"),
}  # fmt: skip
NOT_REFUSED = {"nce_loss", "reverse", "sigmoid loss", "sparse loss", "softmax loss"}
"""Calls that 2.15 takes for something else. 1.15 refuses the losses; tests/converter_oracle/test_older_names.py has its
signatures."""
# Calls that run as they are, or whose meaning the text does not tell: the level of what is said, and a word of it.
TOLD = {
    "l = tf.nn.sampled_softmax_loss(w, b, inputs, labels, 5, 9)": ("manual", "inputs=inputs, labels=labels"),
    "l = tf.nn.nce_loss(weights=w, biases=b, labels=labels, inputs=inputs, num_sampled=5, num_classes=9)": None,
    "l = tf.nn.weighted_cross_entropy_with_logits(logits, targets, 2.)": ("manual", "logits=logits, targets=targets"),
    "l = tf.nn.weighted_cross_entropy_with_logits(targets, logits, 2.)": None,
    "l = tf.nn.log_poisson_loss(out, targets)": ("manual", "log_input=out, targets=targets"),
    "l = tf.nn.ctc_loss(inputs, labels, lengths)": ("manual", "inputs=inputs, labels=labels"),
    "t = tf.sparse_placeholder(tf.int32)\nl = tf.nn.ctc_loss(x, t, n)": ("fixed", "by name"),
    "l = tf.nn.ctc_loss(labels, inputs, lengths)": None,
    "y = tf.image.resize_images(x, new_height=3, new_width=4)": ("unsupported", "size=[height, width]"),
    "y = tf.contrib.layers.fully_connected(x, 3, weight_init=i)": ("unsupported", "weights_initializer"),
    "q = tf.train.batch(tensor_list=[x], batch_size=3)": ("fixed", "tensors"),
    "q = tf.train.shuffle_batch_join(tensor_list_list=t, batch_size=3, capacity=9)": ("fixed", "tensors_list"),
    "c = tf.nn.rnn_cell.DropoutWrapper(c, 1.0, 0.5, 1234)": ("fixed", "seed"),
    "c = tf.nn.rnn_cell.LSTMCell(64, 32)": ("fixed", "input_size"),
    "c = tf.nn.rnn_cell.BasicLSTMCell(64, 1.0, None)": ("fixed", "input_size"),
    "c = tf.nn.rnn_cell.BasicLSTMCell(64, 1.0, True)": None,
    "s = tf.svd(x, False, True)": ("info", "compute_uv"),
    "f = lambda x, y: x\nl = tf.contrib.seq2seq.sequence_loss(a, b, c, softmax_loss_function=f)": ("manual", "logits"),
    "y = tf.argmax(x, dimension=1)": None,  # 1.15 takes these
    "y = tf.reduce_sum(x, reduction_indices=[1], keep_dims=True)": None,
    "y = tf.expand_dims(x, dim=0)": None,
    "y = tf.squeeze(x, squeeze_dims=[1])": None,
    "y = tf.reverse_sequence(x, n, seq_dim=1, batch_dim=0)": None,
    "y = tf.count_nonzero(x, reduction_indices=1)": None,
    "init = tf.initialize_all_variables()": None,
    "v = tf.all_variables()": None,
    "with tf.op_scope([x], 'a', 'b'):\n    pass": None,
}  # fmt: skip


def converted(code: str) -> str:
    return convert_source(f"import tensorflow as tf\nimport numpy as np\n{code}\n", "m.py").after.decode()


def value_of(code: str) -> Any:
    """The value of `y` once the code has run; summaries as their bytes."""
    names: dict[str, Any] = {"tf": tf, "np": np}
    body = "\n".join(line for line in code.splitlines() if not re.match(r"(?:import|from) ", line))
    with tf.Graph().as_default(), tf.Session() as session:
        exec(body, names)
        session.run(tf.global_variables_initializer())
        feeds = {"t:0": [[1], [2]]} if "name='t'" in code else {}
        return session.run(names["y"], feeds)


@pytest.mark.parametrize("name", sorted(set(CHANGED) - NOT_REFUSED))
def test_tensorflow_refuses_the_call_as_it_is(name: str) -> None:
    head, then, _ = CHANGED[name]
    with pytest.raises(Exception) as caught:
        value_of(head + then)
    assert not isinstance(caught.value, (NameError, SyntaxError))


@pytest.mark.parametrize("name", CHANGED)
def test_the_converted_call_gives_what_it_gave(name: str) -> None:
    head, then, now = CHANGED[name]
    found, wanted = value_of(converted(head + then)), value_of(head + now)
    if isinstance(wanted, bytes):
        assert found == wanted
    else:
        for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(wanted), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("code", TOLD)
def test_what_the_text_does_not_tell_is_said(code: str) -> None:
    findings = convert_source(f"import tensorflow as tf\n{code}\n", "m.py").findings
    said = [(f.level.value, f.message) for f in findings if f.rule in ("NPU986", "NPU987", "NPU969")]
    expected = TOLD[code]
    assert len(said) == (expected is not None), said
    if expected is not None:
        assert said[0][0] == expected[0] and expected[1] in said[0][1]


@pytest.mark.parametrize(("call", "then"), {"div": -3, "mod": -1}.items())
def test_a_division_rounds_down_now_and_the_name_that_is_said_rounds_as_it_did(call: str, then: int) -> None:
    findings = convert_source(f"import tensorflow as tf\nn = tf.neg(a)\ny = tf.{call}(n, 2)\n", "m.py").findings
    (message,) = [f.message for f in findings if f.level.value == "info" and f.rule == "NPU969"]
    said = message.rpartition("write ")[2].split()[0]
    assert value_of(f"y = tf.{call}(tf.constant(-7), 2)") == {"div": -4, "mod": 1}[call]
    assert value_of(f"y = {said}(tf.constant(-7), 2)") == then


@pytest.mark.parametrize(
    "code", ["y = tf.mod(n, 2)", "n = tf.neg(a)\ny = tf.floormod(n, 2)", "n = tf.neg(a)\ny = tf.div(n, 2.0)"]
)
def test_divisions_that_are_what_they_were_are_not_told(code: str) -> None:
    findings = convert_source(f"import tensorflow as tf\n{code}\n", "m.py").findings
    assert not [f for f in findings if "rounded toward zero" in f.message]
