"""Passes over the order and identity of nodes: gated gradients, needless Identities, common subexpressions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_runtime.analysis import variable_writers
from npu_runtime.analysis.aliasing import may_alias
from npu_runtime.graph.ir import Node
from npu_runtime.passes.simplify.fold_constants import fold_constants
from npu_runtime.passes.simplify.forward_identities import forward_identities
from npu_runtime.passes.simplify.merge_duplicates import merge_duplicates
from npu_runtime.passes.simplify.prune_control_edges import prune_control_edges
from tests.how_many import drawn
from tests.passes.graphs import imported
from tests.runtime.device import device_session


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def test_gated_gradients_that_only_compute_wait_for_nothing() -> None:
    x = tf.placeholder(tf.float32, [4, 5], name="x")
    a, b = tf.tuple([x * 2.0, tf.tanh(x)])
    graph = imported([a, b], {x: (4, 5)})
    assert prune_control_edges.run(graph) > 0
    assert not graph[a.op.name].controls and not graph[b.op.name].controls


def test_a_gradient_still_waits_for_the_reader_of_the_variable_that_it_updates() -> None:
    """The product reads the variable's memory; the update must come after it, as gate_gradients promises."""
    v = tf.get_variable("v", [3, 3], initializer=tf.ones_initializer(), use_resource=False)
    x = tf.placeholder(tf.float32, [3, 3], name="x")
    product, step = tf.tuple([tf.matmul(x, v), x + 1.0])
    update = tf.assign_sub(v, step)
    graph = imported([product, update], {x: (3, 3)})
    prune_control_edges.run(graph)
    assert graph[step.op.name].controls
    for make in (tf.Session, device_session):
        with make() as session:
            session.run(v.initializer)
            got = session.run([product, update], {x: np.full((3, 3), 2.0, np.float32)})
            np.testing.assert_array_equal(got[0], np.full((3, 3), 6.0))
            np.testing.assert_array_equal(got[1], np.full((3, 3), -2.0))


def test_what_has_an_effect_is_waited_for() -> None:
    counter = tf.get_variable("counter", [], initializer=tf.zeros_initializer(), use_resource=False)
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.control_dependencies([tf.assign_add(counter, 1.0)]):
        doubled = tf.identity(x * 2.0)
    with tf.control_dependencies([doubled]):
        seen = counter + 0.0
    for make in (tf.Session, device_session):
        with make() as session:
            session.run(counter.initializer)
            assert [session.run(seen, {x: [1.0, 2.0]}) for _ in range(3)] == [1.0, 2.0, 3.0]


def test_identities_go_and_their_readers_stay() -> None:
    x = tf.placeholder(tf.float32, [4], name="x")
    inner = tf.identity(tf.identity(x * 2.0, name="first"), name="second")
    fetched = tf.identity(inner + 1.0, name="fetched")
    graph = imported([fetched], {x: (4,)})
    assert forward_identities.run(graph) == 2
    assert "fetched" in graph and "first" not in graph
    with device_session() as session:
        np.testing.assert_array_equal(session.run(fetched, {x: [0.0, 1.0, 2.0, 3.0]}), [1.0, 3.0, 5.0, 7.0])


def test_an_update_waits_in_the_place_of_an_identity_that_it_alone_reads() -> None:
    """The assignment must still come after what the Identity waits for; one with two readers, or another reader, stays."""
    v = tf.get_variable("v", [3], initializer=tf.ones_initializer(), use_resource=False)
    x = tf.placeholder(tf.float32, [3], name="x")
    seen = tf.multiply(v._ref(), x, name="seen")
    sums = x + 1.0, x + 2.0, x + 3.0
    with tf.control_dependencies([seen]):
        one, two, three = (tf.identity(value, name=name) for value, name in zip(sums, ("one", "two", "three"), strict=True))
    changed = tf.assign(v, one)
    graph = imported([seen, changed, two * 2.0, two * 3.0, three * 2.0], {x: (3,)})
    forward_identities.run(graph)
    assert "one" not in graph and graph[changed.op.name].controls == ["seen"]
    assert [graph[name].controls for name in ("two", "three")] == [["seen"], ["seen"]]
    with device_session() as session:
        session.run(v.initializer)
        for _ in range(2):
            session.run(v.initializer)
            got = session.run([seen, changed], {x: np.full(3, 2.0, np.float32)})
            np.testing.assert_array_equal(got, [[2.0] * 3, [3.0] * 3])


def test_a_copy_of_a_variable_is_no_identity_to_be_forwarded() -> None:
    """A read before the assignment must not show the value after it; TensorFlow's own readers are ordered so."""
    v = tf.get_variable("v", [200], initializer=tf.ones_initializer(), use_resource=False)
    before = tf.identity(v.read_value() * 1.0)
    with tf.control_dependencies([before]):
        changed = tf.assign(v, tf.zeros([200]))
    with tf.control_dependencies([changed]):
        late = tf.identity(before) + v.read_value()
    for make in (tf.Session, device_session):
        with make() as session:
            session.run(v.initializer)
            np.testing.assert_array_equal(session.run(late), np.ones(200))


def test_common_subexpressions_are_computed_once() -> None:
    x = tf.placeholder(tf.float32, [4, 5], name="x")
    y = tf.reduce_sum(tf.tanh(x) * 2.0, axis=1) + tf.reduce_sum(tf.tanh(x) * 2.0, axis=1)
    graph = imported([y], {x: (4, 5)})
    fold_constants.run(graph)
    assert merge_duplicates.run(graph) >= 3
    assert [node.op for node in graph].count("Tanh") == 1
    assert graph.saved_flops["Tanh"] == 20  # the profiler counts both
    value = np.linspace(-1, 1, 20, dtype=np.float32).reshape(4, 5)
    with tf.Session() as session, device_session() as device:
        np.testing.assert_allclose(device.run(y, {x: value}), session.run(y, {x: value}), rtol=1e-6)


def test_what_differs_is_not_merged() -> None:
    """By attribute, by control edge, by randomness, by effect."""
    x = tf.placeholder(tf.float32, [4, 4], name="x")
    products = [tf.matmul(x, x), tf.matmul(x, x, transpose_b=True), tf.random_uniform([4, 4]), tf.random_uniform([4, 4])]
    graph = imported(products, {x: (4, 4)})
    fold_constants.run(graph)
    names = {product.op.name for product in products}
    merge_duplicates.run(graph)
    assert names <= {node.name for node in graph}
    with device_session() as session:
        first, second, a, b = session.run(products, {x: np.arange(16, dtype=np.float32).reshape(4, 4)})
    assert (first != second).any() and (a != b).any()


OPS = ("add", "mul", "tanh", "identity", "tuple", "assign", "read")


@settings(deadline=None, max_examples=drawn(60))
@given(st.lists(st.tuples(st.sampled_from(OPS), st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=14))
def test_any_ordered_program_gives_what_tensorflow_gives(recipe: list[tuple[str, int, int]]) -> None:
    """Values, gated values and updates of a variable; each update waits for all that stands before it, so no race is left."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [3])
        v = tf.get_variable("v", [3], initializer=tf.ones_initializer(), use_resource=False)
        made = [x + 0.0, x * 0.5]
        last: list[tf.Operation] = []
        for op, left, right in recipe:
            a, b = made[left % len(made)], made[right % len(made)]
            with tf.control_dependencies(last):
                made += _grown(op, a, b, v, made)
            if op == "assign":
                last = [made[-1].op]
        fetches = [*made, *([v.read_value()] if not last else [])]
        feeds = {x: np.array([0.5, -1.0, 2.0], np.float32)}
        results = []
        for make in (tf.Session, device_session):
            with make() as session:
                session.run(v.initializer)
                results.append([session.run(fetches, feeds) for _ in range(2)])
    for expected, got in zip(*results, strict=True):
        for one, other in zip(expected, got, strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)


def _grown(op: str, a: tf.Tensor, b: tf.Tensor, v: tf.Variable, made: list[tf.Tensor]) -> list[tf.Tensor]:
    """Tensors that one line of the recipe adds. Every value is bounded, so that nothing overflows."""
    if op == "tuple":
        return list(tf.tuple([tf.tanh(a), tf.sin(b)]))
    if op == "assign":
        with tf.control_dependencies([value.op for value in made]):
            assigned = tf.assign_add(v, tf.tanh(a) * 0.1)
        with tf.control_dependencies([assigned]):
            return [v.read_value() * 1.0]
    made_one = {
        "add": lambda: tf.tanh(a + b),
        "mul": lambda: a * 0.5,
        "tanh": lambda: tf.tanh(b),
        "identity": lambda: tf.identity(a),
    }
    return [made_one[op]() if op in made_one else tf.tanh(v.read_value() + a)]


def test_a_chain_of_conditionals_is_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each hands on what it got by two ways, so that the ways double with every one."""
    asked = [0]

    def counted(node: Node) -> bool:
        asked[0] += 1
        return may_alias(node)

    monkeypatch.setattr(variable_writers, "may_alias", counted)
    choices, x = tf.placeholder(tf.bool, [14]), tf.placeholder(tf.float32, [3])
    y = x
    for number in range(14):
        y = tf.cond(choices[number], lambda y=y: tf.identity(y), lambda y=y: tf.reshape(y, [3]))
        with tf.control_dependencies([y]):
            y = tf.identity(y)
    z = tf.tanh(y) + tf.sin(y)
    feeds = {choices: np.arange(14) % 3 == 0, x: np.float32([1, -2, 3])}
    with tf.Session() as theirs, device_session() as mine:
        np.testing.assert_allclose(mine.run(z, feeds), theirs.run(z, feeds), rtol=1e-6)
    assert asked[0] < 100 * len(tf.get_default_graph().get_operations())


def test_what_a_neutral_sum_or_reshape_waits_for_still_happens() -> None:
    """Source: TensorFlow runs what the axes and the shape are computed behind, whatever they are."""
    with tf.Graph().as_default():
        x, switch = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.bool, [])
        counts = [tf.get_variable(f"count{k}", initializer=0.0, use_resource=k % 2 == 1) for k in range(3)]
        with tf.control_dependencies([counts[0].assign_add(1.0)]):
            shape = tf.shape(x) + 0
        with tf.control_dependencies([counts[1].assign_add(1.0)]):
            axes = tf.constant(np.zeros(0, np.int32)) * 1
        shown = tf.cond(switch, lambda: tf.reshape(x, tf.shape(x)) * 2.0, lambda: tf.reduce_sum(x, tf.zeros([0], tf.int32)))
        fetches = [tf.reshape(tf.sin(x), shape), tf.reduce_sum(tf.exp(x), axes), tf.reduce_mean(counts[2], axis=[]), shown]
        with tf.Session() as plain, device_session() as session:
            for one in (plain, session):
                one.run(tf.global_variables_initializer())
            for value in (True, False):
                feed = {x: np.linspace(-1, 1, 6).reshape(2, 3), switch: value}
                for theirs, mine in zip(plain.run(fetches, feed), session.run(fetches, feed), strict=True):
                    np.testing.assert_allclose(mine, theirs, rtol=1e-6)
                assert session.run(counts) == plain.run(counts)
