"""Steps that run beside others: whatever the timing, each value and variable is what one step after another gives."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_runtime import dtypes as dt
from npu_runtime.analysis.aliasing import may_alias
from npu_runtime.executor import autotune_steps, run
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import FEED
from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.threads.background import Background
from npu_runtime.passes.schedule import plan_overlap
from npu_runtime.passes.schedule.plan_memory import FOREVER, plan_memory
from tests.how_many import drawn
from tests.passes.graphs import programs
from tests.runtime.device import device_of, device_session

LONG = (512, 512)
"""A product of such matrices is worth a worker's time."""


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        yield


@st.composite
def training_steps(draw: Any) -> tuple[Graph, list[Node]]:
    """Products of earlier values and of variables' memory, updates of variables, waits; in an order that respects all edges."""
    graph = Graph()
    graph.add(Node("x", FEED, outputs=[Spec(LONG)]))
    variables = [f"v{i}" for i in range(draw(st.integers(1, 3)))]
    for name in variables:
        graph.add(Node(name, "VariableV2", attrs={"dtype": "float32"}, outputs=[Spec(LONG)], ref_outputs=frozenset({0})))
    values = ["x"]
    nodes: list[Node] = []
    for i in range(draw(st.integers(2, 22))):
        kind = draw(st.sampled_from(["MatMul", "MatMul", "Identity", "ApplyGradientDescent", "RandomUniform"]))
        name, recent = f"n{i}", st.sampled_from(values[-5:])
        if kind == "MatMul":
            node = Node(name, kind, [Value(draw(recent)), Value(draw(recent))], outputs=[Spec(LONG)])
        elif kind == "Identity":  # shows the memory of a variable
            node = Node(name, kind, [Value(draw(st.sampled_from(variables)))], outputs=[Spec(LONG)])
        elif kind == "RandomUniform":
            node = Node(name, kind, [], attrs={"dtype": "float32"}, outputs=[Spec(LONG)], is_stateful=True)
        else:
            inputs = [Value(draw(st.sampled_from(variables))), Value("x"), Value(draw(recent))]
            node = Node(name, kind, inputs, outputs=[Spec(LONG)], ref_inputs=frozenset({0}), ref_outputs=frozenset({0}))
        if nodes and draw(st.booleans()):
            node.controls = [draw(st.sampled_from(nodes[-4:])).name]
        nodes.append(graph.add(node))
        if not node.ref_outputs:
            values.append(name)
    return graph, nodes


class Meaning:
    """Values as the expressions that they are; a view of a variable is whatever the variable is when it is looked at."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.variables: dict[str, Any] = {node.name: node.name for node in graph if node.op == "VariableV2"}
        self.made: dict[str, Any] = {"x": "x"}

    def look(self, name: str) -> Any:
        node = self.graph[name]
        return self.look(node.inputs[0].node) if node.op == "Identity" else self.variables.get(name) or self.made[name]

    def run(self, node: Node) -> None:
        if node.op == "ApplyGradientDescent":
            variable = node.inputs[0].node
            self.variables[variable] = hash((self.variables[variable], self.look(node.inputs[2].node)))
        elif node.op != "Identity":
            self.made[node.name] = hash((node.name, *[self.look(value.node) for value in node.inputs]))


@given(training_steps(), st.randoms(use_true_random=False))
@settings(max_examples=drawn(300), deadline=None)
def test_a_step_beside_others_may_run_whenever_it_gets_to(program: tuple[Graph, list[Node]], chance: random.Random) -> None:
    graph, order = program
    planned = plan_overlap.plan_overlap(graph, order)
    begun = [item for item in planned.order if isinstance(item, Node)]
    assert sorted(node.name for node in begun) == sorted(node.name for node in order)
    expected, got = Meaning(graph), Meaning(graph)
    for node in order:
        expected.run(node)
    late: list[tuple[int, Node]] = []
    for position in range(len(begun) + 1):
        for end, waiting in list(late):
            if end == position or chance.random() < 0.3:
                got.run(waiting)
                late.remove((end, waiting))
        for node in begun[position : position + 1]:
            if node.name in planned.ends:
                assert position < planned.ends[node.name] <= len(order)
                late.append((planned.ends[node.name], node))
            else:
                got.run(node)
    assert not late and got.made == expected.made and got.variables == expected.variables


def test_what_waits_through_thousands_of_nodes_waits_for_the_step_before_them() -> None:
    """Nodes that do nothing are no steps: the last product must not begin before the first has ended."""
    graph = Graph()
    graph.add(Node("x", FEED, outputs=[Spec(LONG)]))
    first = last = graph.add(Node("first", "MatMul", [Value("x"), Value("x")], outputs=[Spec(LONG)]))
    for i in range(3000):
        last = graph.add(Node(f"wait{i}", "NoOp", controls=[last.name]))
    others = [graph.add(Node(f"other{i}", "MatMul", [Value("x"), Value("x")], outputs=[Spec(LONG)])) for i in range(3)]
    late = graph.add(Node("late", "MatMul", [Value("x"), Value("x")], controls=[last.name], outputs=[Spec(LONG)]))
    planned = plan_overlap.plan_overlap(graph, [first, *others, late])
    assert planned.order.index(first) < planned.ends["first"] <= planned.order.index(late)


def test_filter_gradients_and_random_numbers_run_beside_other_steps() -> None:
    x = tf.random_normal([64, 512])
    for _ in range(4):
        x = tf.nn.dropout(tf.nn.tanh(tf.layers.dense(x, 512)), 0.5)
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_mean(tf.square(x)))
    with device_session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        program = max((runner.program for plan in device_of(session)._plans.values() for runner in plan.runners.values()),
                      key=lambda program: len(program.steps))  # fmt: skip
    beside = {step.op for step in program.steps if getattr(step, "is_beside", False)}
    assert "MatMul" in beside and any("Random" in op for op in beside)


@st.composite
def overlapped_programs(draw: Any) -> tuple[Graph, list[Node], dict[str, int]]:
    """Programs and, for some nodes, a later position up to which they may be running."""
    graph, order = draw(programs())
    position = {node.name: i for i, node in enumerate(order)}
    ends = {}
    for i, node in enumerate(order):
        if not may_alias(node) and draw(st.booleans()):
            readers = [position[other.name] for other in order if any(value.node == node.name for value in other.inputs)]
            ends[node.name] = draw(st.integers(i + 1, min(readers, default=len(order))))
    return graph, order, ends


@given(overlapped_programs())
@settings(max_examples=drawn(200), deadline=None)
def test_what_a_running_step_reads_and_writes_is_its_own(program: tuple[Graph, list[Node], dict[str, int]]) -> None:
    graph, order, ends = program
    plan = plan_memory(graph, order, dict.fromkeys(graph.fetches, FOREVER), ends)
    shows: dict[Value, Value] = {}
    used: list[tuple[int, int, frozenset[int], frozenset[int]]] = []
    for position, node in enumerate(order):
        origins = {shows[value] for value in node.inputs if value in shows}
        if may_alias(node):
            shows.update({Value(node.name): shows[node.inputs[0]]} if node.inputs[0] in shows else {})
            continue
        shows[Value(node.name)] = Value(node.name)
        read = frozenset(block for origin in origins for block in _blocks(plan.offsets_bytes[origin]))
        written = frozenset(_blocks(plan.offsets_bytes[Value(node.name)]))
        used.append((position, ends.get(node.name, position + 1), read, written))
    for start, end, read, written in used:
        for other_start, other_end, other_read, other_written in used:
            if start < other_start < end or (start < other_start and other_start < end <= other_end):
                assert not written & (other_read | other_written) and not read & other_written


def _blocks(offset: int) -> range:
    return range(offset, offset + 4 * 8 * dt.itemsize_bytes("float32"), 64)


def _clipped_training(use_resource: bool) -> tuple[Any, Any]:
    """A recurrent step with dropout, clipped gradients, Adam, a moving average and batch normalisation's updates."""
    with tf.variable_scope("", use_resource=use_resource):
        x = tf.random_uniform([8, 12, 12, 3])
        net = tf.layers.batch_normalization(tf.layers.conv2d(x, 8, 3, padding="same"), training=True)
        net = tf.nn.dropout(tf.layers.flatten(tf.layers.max_pooling2d(tf.nn.relu(net), 2, 2)), keep_prob=0.7)
        for _ in range(3):
            net = tf.layers.dense(net, 24, tf.nn.tanh)
        loss = tf.reduce_mean(tf.square(net - 0.3))
        optimizer = tf.train.AdamOptimizer(0.01)
        gradients, variables = zip(*optimizer.compute_gradients(loss), strict=True)
        clipped, _ = tf.clip_by_global_norm(gradients, 0.5)
        step = tf.train.get_or_create_global_step()
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            update = optimizer.apply_gradients(zip(clipped, variables, strict=True), step)
        with tf.control_dependencies([update]):
            return tf.train.ExponentialMovingAverage(0.9, step).apply(tf.trainable_variables()), loss


@pytest.mark.parametrize("use_resource", [False, True], ids=["ref", "resource"])
def test_training_gives_the_same_bits_whatever_the_timing(use_resource: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every step that may runs beside others, and workers dawdle; against one step after another."""
    monkeypatch.setattr(plan_overlap, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(autotune_steps, "REPEATS", 0)  # beside others in all runs but the second
    train, loss = _clipped_training(use_resource)
    chance, plain, calls = random.Random(7), Background._run, []

    def dawdling(self: Background) -> None:
        calls.append(self)
        time.sleep(chance.choice([0.0, 0.0, 2e-4, 1e-3]))
        plain(self)

    results = []
    for make in (lambda: None, run.WorkerSteps, run.WorkerSteps):
        monkeypatch.setattr(run, "WorkerSteps", make)
        with device_session() as session:
            session.run(tf.global_variables_initializer())
            curve = [session.run([loss, train])[0] for _ in range(6)]
            results.append([np.array(curve), *session.run(tf.global_variables())])
        assert bool(calls) == (len(results) > 1)
        monkeypatch.setattr(Background, "_run", dawdling)
    for got in results[1:]:
        for one, other in zip(got, results[0], strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_first_error_in_order_is_the_one_that_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two lookups beside others fail, and so does a step after them; TensorFlow names the row in the same words."""
    monkeypatch.setattr(plan_overlap, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(autotune_steps, "REPEATS", 0)  # beside others in all runs but the second
    table, rows = tf.random_uniform([50, 4]), tf.placeholder(tf.int32, [2])
    first, second = tf.gather(table, rows, name="first"), tf.gather(table, rows + 1, name="second")
    other = tf.reduce_sum(tf.matmul(table, table, transpose_b=True))
    total = tf.reduce_sum(first) + tf.reduce_sum(second) + other
    with device_session() as session:
        session.run(total, {rows: [0, 1]})
        for _ in range(5):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)first.*= 70 is not in \[0, 50\)"):
                session.run(total, {rows: [70, 1]})
        assert np.isfinite(session.run(total, {rows: [3, 4]}))
