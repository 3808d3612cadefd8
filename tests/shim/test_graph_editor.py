"""tf.contrib.graph_editor: what is selected, copied and rerouted computes what TensorFlow computes of the graph as it was."""

from __future__ import annotations

import ast
import csv
import inspect
from pathlib import Path

import numpy as np
import pytest

TABLE = Path(__file__).parents[2] / "tools" / "api_table" / "tensorflow_1_15.tsv"
BATCH = np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3)


@pytest.fixture
def tf():
    import npu_bridge  # noqa: F401
    import tensorflow

    with tensorflow.Graph().as_default():
        yield tensorflow


@pytest.fixture
def ge(tf):
    import tensorflow.contrib.graph_editor as graph_editor

    return graph_editor


def network(tf):
    """A batch, weights, the middle of a network and its loss."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    weights = [tf.get_variable(f"w{n}", [3, 3], initializer=tf.random_normal_initializer(seed=n)) for n in range(3)]
    first = tf.tanh(tf.matmul(x, weights[0]), name="first")
    middle = tf.sigmoid(tf.matmul(first, weights[1]), name="middle")
    return x, weights, middle, tf.reduce_sum(tf.square(tf.matmul(middle, weights[2])), name="loss")


def on_device(tf):
    from npu_bridge.npu_init import npu_config_proto

    return tf.Session(config=npu_config_proto())


def names(ops):
    return sorted(op.name for op in ops)


def test_walks_give_what_stands_between(tf, ge):
    x, weights, middle, loss = network(tf)
    behind = ge.get_backward_walk_ops(loss.op)
    assert {x.op, middle.op, loss.op, weights[2].op} <= set(behind)
    assert set(ge.get_backward_walk_ops([loss.op], inclusive=False)) == set(behind) - {loss.op}
    ahead = ge.get_forward_walk_ops([middle])  # of a tensor: from its consumers
    assert names(ahead) == ["MatMul_2", "Square", "loss"]
    assert names(ge.get_forward_walk_ops(middle.op, within_ops=ge.get_backward_walk_ops(loss.op.inputs[0].op))) == [
        "MatMul_2", "Square", "middle",
    ]  # fmt: skip
    assert names(ge.get_walks_intersection_ops([x], [middle])) == ["MatMul", "MatMul_1", "first", "middle"]
    assert names(ge.get_forward_walk_ops([x.op], stop_at_ts=[middle])) == ["MatMul", "MatMul_1", "first", "middle", "x"]


def test_walks_follow_control_edges_where_asked(tf, ge):
    first = tf.constant(1.0, name="first")
    with tf.control_dependencies([first]):
        second = tf.constant(2.0, name="second")
    assert names(ge.get_backward_walk_ops(second.op)) == ["second"]
    assert names(ge.get_backward_walk_ops(second.op, control_inputs=True)) == ["first", "second"]
    controls = ge.ControlOutputs(tf.get_default_graph())
    assert names(ge.get_forward_walk_ops(first.op, control_outputs=controls)) == ["first", "second"]


def test_operations_and_tensors_by_their_names(tf, ge):
    _, _, middle, loss = network(tf)
    graph = tf.get_default_graph()
    assert names(ge.select_ops("^MatMul", graph=graph)) == ["MatMul", "MatMul_1", "MatMul_2"]
    assert [t.name for t in ge.filter_ts_from_regex([loss.op], "Sq")] == ["Square:0"]
    assert middle in ge.filter_ts(graph, True) and ge.select_ts("no such tensor", graph=graph) == []
    assert names(ge.get_name_scope_ops(graph, "w1/Initializer/random_normal/")) == sorted(
        op.name for op in graph.get_operations() if op.name.startswith("w1/Initializer/random_normal")
        and op.name[len("w1/Initializer/random_normal"):][:1] in ("", "/")
    )  # fmt: skip
    with pytest.raises(ValueError, match="graph"):
        ge.select_ops("^MatMul")


def test_recomputed_activations_give_the_gradients_of_the_network(tf, ge):
    """Gradient checkpointing: behind the checkpoint the network is computed once more, from a stopped copy of it."""
    x, weights, middle, loss = network(tf)
    wanted = tf.gradients(loss, weights)
    stopped = tf.stop_gradient(middle)
    upper = ge.get_walks_intersection_ops([middle], [loss])
    _, info = ge.copy_with_input_replacements(ge.sgv([op for op in upper if op is not stopped.op]), {})
    copies = info._transformed_ops.values()
    assert ge.reroute_ts([stopped], [middle], can_modify=copies) == 1
    of_top = tf.gradients(info.transformed(loss), [stopped, weights[2]])
    lower = ge.get_walks_intersection_ops([x], [middle])
    _, info = ge.copy_with_input_replacements(lower, {})
    for op in info._transformed_ops.values():
        ge.add_control_inputs(op, [of_top[0].op])
    of_bottom = tf.gradients(info.transformed(middle), weights[:2], grad_ys=of_top[0])
    with on_device(tf) as session:
        session.run(tf.global_variables_initializer())
        found, plain = session.run([[*of_bottom, of_top[1]], wanted], {x: BATCH})
    for value, other in zip(found, plain, strict=True):
        assert np.abs(other).max() > 0
        np.testing.assert_allclose(value, other, rtol=1e-5)


def test_replaced_inputs_give_what_feeding_gives(tf, ge):
    x, _, middle, loss = network(tf)
    other = ge.graph_replace([loss, x], {middle: tf.constant(BATCH)}, dst_scope="again")
    assert other[0].name == "again/loss:0" and other[1] is x
    with on_device(tf) as session:
        session.run(tf.global_variables_initializer())
        assert session.run(other[0]) == pytest.approx(session.run(loss, {middle: BATCH}))
    with pytest.raises(ValueError, match="not connected"):
        ge.graph_replace(middle, {loss: loss})


def test_copies_keep_attributes_order_device_and_collections(tf, ge):
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.device("/cpu:0"):
        total = tf.reduce_sum(x, keepdims=True, name="total")
    other = tf.constant(1.0)
    with tf.control_dependencies([other, total]):
        late = tf.identity(x, name="late")
    tf.add_to_collection("kept", late)
    view, info = ge.copy_with_input_replacements([late.op, total.op], {})
    copy = info.transformed(late)
    assert (copy.name, copy.op.inputs[0]) == ("late_1:0", x)
    assert set(copy.op.control_inputs) == {other.op, info.transformed(total.op)}
    assert info.transformed(total.op).get_attr("keep_dims") and info.transformed(total).op.device == total.op.device != ""
    assert tf.get_collection("kept") == [late, copy] and info.original(copy) is late
    assert x in view.inputs and copy in view.outputs
    assert info.transformed(x) is None and info.transformed(x, lambda t: t) is x


def test_edges_are_moved_within_what_may_change(tf, ge):
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    of_a, of_b, kept = tf.negative(a), tf.multiply(b, b), tf.exp(b)
    assert ge.reroute_ts([a], [b], cannot_modify=[kept.op]) == 2
    assert list(of_b.op.inputs) == [a, a] and kept.op.inputs[0] is b
    assert ge.swap_ts([a], [b], can_modify=[of_a.op, kept.op]) == 2
    assert of_a.op.inputs[0] is b and kept.op.inputs[0] is a
    with pytest.raises(ValueError, match="sizes"):
        ge.reroute_ts([a], [])
    with pytest.raises(ValueError, match="Dtypes"):
        ge.reroute_ts([tf.constant(1)], [b])
    with on_device(tf) as session:
        np.testing.assert_allclose(session.run([of_a, of_b, kept]), [-2.0, 1.0, np.e], rtol=1e-6)


def test_control_edges_come_and_go(tf, ge):
    a, b, c = (tf.constant(1.0) for _ in range(3))
    ge.add_control_inputs(c.op, [a.op, b.op])
    with pytest.raises(ValueError, match="already"):
        ge.add_control_inputs(c.op, a.op)
    ge.remove_control_inputs(c.op, [a.op])
    assert list(c.op.control_inputs) == [b.op]
    with pytest.raises(ValueError, match="is not a control_input"):
        ge.remove_control_inputs(c.op, a.op)
    with pytest.raises(TypeError):
        ge.add_control_inputs(c, a.op)


def test_what_cannot_be_copied_says_why(tf, ge):
    loop = tf.while_loop(lambda n: n < 3, lambda n: n + 1, [0], name="loop")
    with pytest.raises(RuntimeError, match="while loop cannot be copied"):
        ge.copy_with_input_replacements(ge.get_backward_walk_ops(loop.op), {})
    with pytest.raises(RuntimeError, match=r"tf\.import_graph_def"):
        ge.copy_with_input_replacements([loop.op], {}, dst_graph=tf.Graph())
    with pytest.raises(AttributeError, match=r"graph_editor\.bypass is not available"):
        ge.bypass(loop.op)


def test_old_paths_give_the_same(ge):
    from tensorflow.contrib.graph_editor import select
    from tensorflow.contrib.graph_editor.transform import graph_replace

    assert select.select_ops is ge.select_ops and graph_replace is ge.graph_replace


def test_parameters_are_those_of_tensorflow_1_15(ge):
    with TABLE.open() as lines:
        rows = {row[0]: row[2] for row in csv.reader(lines, delimiter="\t") if len(row) > 2 and row[1] == "function"}
    named = {name: rows.get(f"tensorflow.contrib.graph_editor.{name}", "(*args, **kwargs)") for name in dir(ge)}
    compared = {name: text for name, text in named.items() if "*args" not in text and not name.startswith("make_list_of")}
    assert len(compared) > 12  # TensorFlow 2.15 gave the first parameter of make_list_of_op another name
    for name, text in compared.items():
        function = ast.parse(f"def f{text}: pass").body[0]
        assert list(inspect.signature(getattr(ge, name)).parameters) == [each.arg for each in function.args.args], name
