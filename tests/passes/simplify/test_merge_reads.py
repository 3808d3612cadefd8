"""Reads of a variable that see the same value become one; those on two sides of a write, or without an order, do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from npu_runtime.graph.verify import verify
from npu_runtime.passes.simplify.merge_reads import merge_reads
from tests.passes.graphs import imported
from tests.runtime.device import device_session


def _variable(name: str = "v") -> tf.Variable:
    return tf.get_variable(name, initializer=2.0, use_resource=True)


def _reads_left(fetches: list[Any]) -> int:
    graph = imported(fetches)
    merge_reads.run(graph)
    verify(graph)
    return sum(node.op == "ReadVariableOp" for node in graph)


def test_reads_of_a_variable_that_nobody_writes_are_one() -> None:
    v = _variable()
    assert _reads_left([v.read_value() * 2, v.read_value() * 3, v.read_value() + 1]) == 1


def test_reads_before_a_write_are_one_and_those_behind_it_another() -> None:
    v = _variable()
    before = [v.read_value() * float(i) for i in range(3)]
    with tf.control_dependencies(before):
        write = v.assign_add(1.0, read_value=False)
    with tf.control_dependencies([write]):
        after = [v.read_value() * float(i) for i in range(3)]
    fetches = [tf.add_n(before), tf.add_n(after)]
    assert _reads_left(fetches) == 2
    with device_session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(fetches) == [6.0, 9.0]


def test_reads_that_nothing_orders_with_a_write_stay() -> None:
    v = _variable()
    reads = [v.read_value() * float(i) for i in range(4)]
    write = v.assign_add(1.0, read_value=False)
    with tf.control_dependencies([write]):
        behind = tf.constant(1.0) + 1.0
    assert _reads_left([*reads, behind]) == 4


def test_reads_of_different_variables_stay() -> None:
    a, b = _variable("a"), _variable("b")
    assert _reads_left([a.read_value() * 2, b.read_value() * 2]) == 2


def test_who_waits_for_a_merged_read_waits_for_what_that_waited_for() -> None:
    v, w = _variable("v"), _variable("w")
    first = v.read_value()
    write = w.assign_add(1.0, read_value=False)
    with tf.control_dependencies([write]):
        second = v.read_value()
    with tf.control_dependencies([second]):
        seen = w.read_value()
    with device_session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([first * 1.0, second * 1.0, seen * 1.0]) == [2.0, 2.0, 3.0]


def test_who_reads_a_merged_read_waits_for_what_that_waited_for() -> None:
    """The optimizers of TensorFlow 1 read the power of beta behind all updates, and write it then."""
    v = tf.get_variable("v", initializer=tf.ones([3]), use_resource=True)
    train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(v * v * tf.constant([1.0, 2.0, 3.0])))
    other = tf.get_variable("other", initializer=tf.ones([3]), use_resource=True)
    both = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum((v - 2.0) ** 2 + other * other), var_list=[v, other])
    results = []
    for make in (device_session, tf.Session):
        with make() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(train)
                session.run(both)
            results.append(session.run(tf.global_variables()))
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)
