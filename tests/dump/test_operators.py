"""Operators of compiled programs: who they are, what they were made of, and in which type their values lie in memory."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

from npu_runtime.graph.ir import Value
from npu_runtime.observers.dump.operators import Operator, operators_of
from tests.runtime.device import device_of, device_session


def _compiled(session: tf.Session, monkeypatch) -> list[tuple[Operator, ...]]:
    """The operators of every program that the session builds from now on."""
    device, found = device_of(session), []
    build = device._build

    def looking(made):
        program = build(made)
        found.append(operators_of(made.graph, program).all)
        return program

    monkeypatch.setattr(device, "_build", looking)
    return found


def _run(monkeypatch, make, **options) -> dict[str, Operator]:
    with tf.Graph().as_default(), device_session(**options) as session:
        fetched = make()
        session.run(tf.global_variables_initializer())
        found = _compiled(session, monkeypatch)
        session.run(fetched)
        return {operator.name: operator for operator in found[-1]}


def _dense() -> tf.Tensor:
    x = tf.get_variable("x", (4, 8))
    w = tf.get_variable("w", (8, 16))
    return tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w, name="product"), tf.get_variable("b", (16,)), name="sum"), name="active")


def test_a_fused_operator_names_its_members_in_order(monkeypatch):
    found = _run(monkeypatch, _dense)
    assert found["active"].original_names == ("product", "sum", "active")
    assert found["active"].outputs[0].origin == Value("active", 0)
    assert "product" not in found


def test_without_fusion_each_node_is_an_operator_of_the_device(monkeypatch):
    found = _run(monkeypatch, _dense, fusion="off")
    assert [(found[name].type, found[name].original_names) for name in ("product", "sum", "active")] == [
        ("MatMulV2", ("product",)), ("BiasAdd", ("sum",)), ("Relu", ("active",)),
    ]  # fmt: skip
    assert not {"x", "w", "b"} & found.keys()


def test_a_region_names_its_members_and_is_called_as_its_last_node(monkeypatch):
    def make():
        x = tf.get_variable("x", (300, 200))
        return tf.exp(tf.multiply(tf.sin(x, name="first"), 2.0, name="second"), name="third")

    found = _run(monkeypatch, make)
    assert found["third"].original_names == ("first", "second", "third")


def test_numbers_of_16_bits_lie_in_16_bits_and_casts_have_no_original_name(monkeypatch):
    found = _run(monkeypatch, _dense, fusion="off", precision_mode="force_fp16")
    assert found["product"].outputs[0].dtype == "float16"
    assert {tensor.dtype for tensor in found["product"].read} == {"float16"}
    casts = [operator for operator in found.values() if operator.type == "Cast"]
    assert casts and all(operator.original_names == () and operator.outputs[0].origin is None for operator in casts)
    assert all("^" not in name and ":" not in name for name in found)


def test_a_region_in_16_bits_is_named_after_the_users_node(monkeypatch):
    def make():
        x = tf.get_variable("x", (300, 200))
        return tf.exp(tf.multiply(tf.sin(x, name="first"), 2.0, name="second"), name="third")

    found = _run(monkeypatch, make, precision_mode="force_fp16")
    assert found["third"].original_names[-3:] == ("first", "second", "third")
    assert found["third"].outputs[0].dtype == "float16"
    assert found["third"].outputs[0].origin == Value("third", 0)


def test_operators_of_a_loop_stand_behind_it_with_numbers_of_their_own(monkeypatch):
    def make():
        return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.sin(x, name="inside")), (0, tf.ones((2, 3))))[1] * 2.0

    found = _run(monkeypatch, make)
    inside = next(operator for name, operator in found.items() if name.endswith("inside"))
    assert len(inside.loops) == 1
    numbers = [operator.task_id for operator in found.values()]
    assert len(set(numbers)) == len(numbers) and inside.task_id < found["mul"].task_id


def test_the_sequence_of_a_fused_loop_is_that_of_the_users_gather(monkeypatch):
    def make():
        cell = tf.nn.rnn_cell.BasicLSTMCell(4)
        return tf.nn.dynamic_rnn(cell, tf.constant(np.ones((2, 5, 3), np.float32)), dtype=tf.float32)[0]

    found = _run(monkeypatch, make)
    (lstm,) = [operator for operator in found.values() if "MatMul" in " ".join(operator.original_names)]
    assert lstm.outputs[0].origin is not None and lstm.outputs[0].origin.node.endswith("TensorArrayGatherV3")
