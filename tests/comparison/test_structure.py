"""Pairing of operators and nodes of the reference: TensorFlow's own gradients of static and of late shapes, and by hand."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tests.comparison.hand_made import Sample
from tf2npu.comparison.graph.operators import Graph, Operator, OutputDesc
from tf2npu.comparison.graph.reference_nodes import ReferenceNode
from tf2npu.comparison.structure import Structure

tf.disable_v2_behavior()

BATCH = np.random.RandomState(0).normal(size=(5, 4, 6)).astype(np.float32)


def _encoder(batch: int | None) -> list[tf.Tensor]:
    """The sum of squares of two layers, each normalised and added to its input, with the gradients of its variables."""
    hidden = tf.placeholder(tf.float32, [batch, 4, 6], "x")
    for layer in range(2):
        with tf.variable_scope(f"layer_{layer}"):
            made = tf.get_variable("w", [6, 6], initializer=tf.initializers.truncated_normal(seed=layer))
            hidden += tf.tanh(tf.tensordot(hidden, made, 1))
            mean, variance = tf.nn.moments(hidden, [-1], keep_dims=True)
            hidden = (hidden - mean) / tf.sqrt(variance + 1e-6)
    loss = tf.reduce_sum(tf.square(hidden - 1.0))
    return tf.gradients(loss, tf.trainable_variables())


def _graph(batch: int | None) -> tuple[tf.Graph, dict[str, np.ndarray]]:
    """A graph, and what its tensors of floats hold for BATCH."""
    with tf.Graph().as_default() as graph:
        _encoder(batch)
        names = [t.name for op in graph.get_operations() for t in op.outputs if t.dtype == tf.float32 and op.type != "Assign"]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return graph, dict(zip(names, session.run(names, {"x:0": BATCH}), strict=True))


def _as_operators(graph: tf.Graph) -> Graph:
    """The graph as its file would have it, if each node became the operator of its name."""
    types = {"Placeholder": "Data", "VariableV2": "Variable", "VarHandleOp": "Variable", "Sum": "ReduceSum"}
    return Graph(Path("graph.json"), "", [
        Operator(op.name, types.get(op.type, op.type), [tensor.name for tensor in op.inputs], [op.name],
                 [OutputDesc(op.name, n, "", ()) for n in range(len(op.outputs))], False, "", order, "")
        for order, op in enumerate(graph.get_operations())
    ])  # fmt: skip


def test_gradients_of_static_shapes_find_what_they_are_among_those_of_late_ones():
    (static, device), (late, reference) = _graph(5), _graph(None)
    nodes = {
        op.name: ReferenceNode(op.type, tuple((t.op.name, t.value_index) for t in op.inputs)) for op in late.get_operations()
    }
    described = _as_operators(static)
    structure = Structure(described, nodes)
    wrong_by_name, renamed = 0, 0
    for operator in described.operators:
        for n in range(len(operator.outputs)):
            name = f"{operator.name}:{n}"
            if name not in device or "gradients/" not in name:
                continue
            pair = structure.pair(operator, n)
            own = reference.get(name)
            is_own = own is not None and own.size == device[name].size and np.allclose(own, device[name], 1e-3, 1e-3)
            wrong_by_name += own is not None and not is_own
            if pair is not None:
                assert not pair.is_doubtful
                renamed += 1
                other = reference["{}:{}".format(*pair.tensor)]
                np.testing.assert_allclose(other.reshape(-1), device[name].reshape(-1), 1e-3, 1e-3, err_msg=f"{name} {pair}")
            elif pair is None and own is not None:
                assert is_own, name
    assert 4 <= wrong_by_name <= renamed


def _sample(folder: Path, nodes: object = None) -> Sample:
    """Two sums of the device; what is called AddN_1 in the reference is another one, and AddN_2 is it."""
    made = Sample(folder)
    x, y = np.float32([1, 2, 3]), np.float32([10, 20, 30])
    for name, value in (("x", x), ("y", y)):
        made.operator(name, "Data")
        made.tensor(name, value)
    made.operator("AddN_1", "AddN", ["x:0", "y:0"])
    made.dump("AddN", "AddN_1", [x, y], [x + y])
    made.operator("Neg", "Neg", ["AddN_1:0"])
    made.dump("Neg", "Neg", [x + y], [-x - y])
    made.tensor("AddN_1", x + x)
    made.tensor("AddN_2", x + y)
    made.tensor("Neg", -x - y)
    made.write_graph()
    if nodes is not None:
        (made.reference.parent / "nodes.json").write_text(json.dumps(nodes))
    return made


NODES = {
    "x": ["Placeholder", []], "y": ["Placeholder", []], "AddN_1": ["AddN", ["x:0", "x:0"]], "AddN_2": ["AddN", ["x:0", "y:0"]],
    "Neg": ["Neg", ["AddN_2:0"]],
}  # fmt: skip


def _rows(tool, made: Sample, code: int) -> dict[str, dict[str, str]]:
    out = made.folder / "out"
    done = tool("compare", made.folder / "dump", made.reference.parent, "--graph", made.graph, "--out", out)
    assert done.code == code, done.out + done.err
    (path,) = out.glob("*.csv")
    with path.open(newline="") as stream:
        rows = {row["TensorIndex"]: row for row in csv.DictReader(stream)}
    return {**rows, "said": {"text": done.out}}


def test_a_sum_stands_beside_that_of_the_same_inputs_and_so_does_who_reads_it(tool, tmp_path):
    rows = _rows(tool, _sample(tmp_path, {"nodes": NODES}), 0)
    for tensor in ("AddN_1:output:0", "Neg:input:0"):
        assert (rows[tensor]["Verdict"], rows[tensor]["Missed"]) == ("agrees", "beside AddN_2:0")
        assert (rows[tensor]["GroundTruth"], rows[tensor]["MaxAbsoluteError"]) == (tensor.partition(":")[0], "0.000000")
    assert (rows["Neg:output:0"]["Verdict"], rows["Neg:output:0"]["Missed"]) == ("agrees", "")


def test_another_node_of_the_name_has_no_figures(tool, tmp_path):
    rows = _rows(tool, _sample(tmp_path, {"nodes": {name: NODES[name] for name in ("x", "y", "AddN_1", "Neg")}}), 0)
    for tensor in ("AddN_1:output:0", "Neg:input:0"):
        row = rows[tensor]
        assert (row["Verdict"], row["CosineSimilarity"], row["UlpWorst"]) == ("not compared", "NaN", "")
        assert row["Missed"] == "another node of this name in the reference: its op or its inputs are others"
    assert rows["Neg:output:0"]["Verdict"] == "agrees"


def test_a_constant_that_the_reference_reads_elsewhere_is_another(tool, tmp_path):
    made = _sample(tmp_path, {"nodes": {
        **NODES, "Const": ["Const", []], "Prod": ["Prod", ["Const:0"]], "Cast": ["Cast", ["Prod:0"]], "scale": ["Const", []],
        "Mul": ["Mul", ["Neg:0", "Cast:0"]], "Mul_1": ["Mul", ["Mul:0", "scale:0"]],
    }})  # fmt: skip
    values = np.float32([-11, -22, -33])
    for name, value in (("Const", np.int32(3)), ("scale", np.float32(2))):
        made.operator(name, "Const")
        made.tensor(name, value + 1)
    made.operator("Mul", "Mul", ["Neg:0", "Const:0"])
    made.dump("Mul", "Mul", [values, np.int32(3)], [values * 3])
    made.operator("Mul_1", "Mul", ["Mul:0", "scale:0"])
    made.dump("Mul", "Mul_1", [values * 3, np.float32(2)], [values * 6])
    made.write_graph()
    rows = _rows(tool, made, 1)
    assert rows["Mul:input:1"]["Missed"].startswith("another node of this name")
    assert rows["Mul_1:input:1"]["Verdict"] == "differs"


def test_names_alone_tell_where_no_nodes_are_noted_or_their_list_is_damaged(tool, tmp_path):
    assert _rows(tool, _sample(tmp_path / "none"), 1)["AddN_1:output:0"]["Verdict"] == "differs"
    for number, damaged in enumerate(([], {"nodes": 3}, {"nodes": {"x": ["Abs"]}}, {"nodes": {"x": ["Abs", ["no tensor"]]}})):
        rows = _rows(tool, _sample(tmp_path / str(number), damaged), 1)
        assert rows["AddN_1:output:0"]["Verdict"] == "differs"
        assert "nodes.json: it is no list of nodes" in rows["said"]["text"]


def test_rings_in_damaged_files_end(tmp_path):
    ring = Graph(Path("graph.json"), "", [
        Operator(name, "Identity", [f"{other}:0"], [name], [OutputDesc(name, 0, "", ())], False, "", 0, "")
        for name, other in (("a", "b"), ("b", "a"))
    ])  # fmt: skip
    nodes = {name: ReferenceNode("Identity", ((other, 0),)) for name, other in (("a", "b"), ("b", "a"))}
    assert Structure(ring, nodes).pair(ring.operators[0], 0) is None


@pytest.mark.parametrize("output", ["9" * 5000, "٣", "-1", "0x1", ""])
def test_an_input_of_no_output_stands_for_nothing(output):
    """Python reads no number of more than 4,300 digits."""
    graph = Graph(Path("graph.json"), "", [
        Operator("a", "Identity", [], ["a"], [OutputDesc("a", 0, "", ())], False, "", 0, ""),
        Operator("b", "Identity", [f"a:{output}"], ["b"], [OutputDesc("b", 0, "", ())], False, "", 1, ""),
    ])  # fmt: skip
    nodes = {"a": ReferenceNode("Identity", ()), "b": ReferenceNode("Identity", (("a", 0),))}
    assert Structure(graph, nodes).pair(graph.operators[1], 0) is None
