"""Regions of element-wise nodes: the same bits as node by node and as TensorFlow's meaning, whatever the shape of the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_runtime.kernels.fused.elementwise_regions import REGION, assign_buffers
from npu_runtime.passes.fuse.fuse_elementwise import fuse_elementwise
from npu_runtime.passes.simplify.fold_constants import fold_constants
from tests.how_many import drawn
from tests.kernels.oracle import plain_session
from tests.passes.graphs import imported
from tests.runtime.device import device_session

ROWS, COLUMNS = 657, 300  # larger than one tile, and no multiple of it

UNARY: list[Callable[..., Any]] = [
    tf.tanh, tf.nn.relu, tf.square, tf.negative, tf.sigmoid, tf.nn.leaky_relu, lambda x: tf.where_v2(x > 0.25, x, -0.5),
]  # fmt: skip
BINARY: list[Callable[..., Any]] = [
    tf.add, tf.subtract, tf.multiply, tf.maximum, tf.squared_difference, lambda x, y: tf.add_n([x, y, x]),
    lambda x, y: tf.where_v2(x > y, y, tf.tanh(x)),
]  # fmt: skip


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


@st.composite
def recipes(draw: Any) -> list[tuple[int, int, int]]:
    """Nodes as (operation, operand, operand); operands count from the latest value back."""
    n_operations = len(UNARY) + len(BINARY)
    triple = st.tuples(st.integers(0, n_operations - 1), st.integers(0, 5), st.integers(0, 5))
    return draw(st.lists(triple, min_size=2, max_size=14))


def build(recipe: list[tuple[int, int, int]], inputs: list[tf.Tensor]) -> list[tf.Tensor]:
    values = list(inputs)
    for operation, a, b in recipe:
        first, second = values[-1 - a % len(values)], values[-1 - b % len(values)]
        if first.shape != [ROWS, COLUMNS]:
            first = first + values[0]
        made = UNARY[operation](first) if operation < len(UNARY) else None
        if made is None:
            second = second if second.shape == [ROWS, COLUMNS] else second + tf.zeros_like(first)
            made = BINARY[operation - len(UNARY)](first, second)
        values.append(made)
    return values[len(inputs) :]


@given(recipes(), st.booleans())
@settings(max_examples=drawn(40), deadline=None)
def test_fusing_changes_no_bit(recipe: list[tuple[int, int, int]], sees_inside: bool) -> None:
    random = np.random.default_rng(3)
    shapes = [(ROWS, COLUMNS), (COLUMNS,), (ROWS, 1), ()]
    with tf.Graph().as_default():
        inputs = [tf.placeholder(tf.float32, shape) for shape in shapes]
        made = build(recipe, inputs)
        fetches = made if sees_inside else made[-1:]
        feeds = {x: random.standard_normal(shape).astype(np.float32) for x, shape in zip(inputs, shapes, strict=True)}
        results = []
        for fusion in ("on", "off"):
            with device_session(fusion=fusion) as session:
                results.append(session.run(fetches, feeds))
    for fused, single in zip(*results, strict=True):
        np.testing.assert_array_equal(fused, single)


def test_a_chain_becomes_one_node_and_what_is_seen_stays() -> None:
    x = tf.placeholder(tf.float32, [500, 500], name="x")
    seen = tf.tanh(x * 2.0 + 1.0)
    y = tf.add_n([seen, tf.square(seen), x]) * 0.5
    graph = imported(y, {x: (500, 500)})
    fold_constants.run(graph)
    assert fuse_elementwise.run(graph) == 1
    (region,) = [node for node in graph if node.op == REGION]
    assert region.name == y.op.name
    with device_session() as session:
        value = np.linspace(-1, 1, 250000, dtype=np.float32).reshape(500, 500)
        both = session.run([seen, y], {x: value})
    np.testing.assert_allclose(both[0], np.tanh(2 * value + 1), rtol=1e-6)
    np.testing.assert_allclose(both[1], (both[0] + both[0] ** 2 + value) / 2, rtol=1e-6)


def test_a_variable_read_by_reference_is_read_before_it_changes() -> None:
    """The sum reads the variable's memory; its reader runs after an assignment that the sum does not wait for."""
    v = tf.get_variable("v", [500, 500], initializer=tf.ones_initializer(), use_resource=False)
    doubled = v * 2.0 + 1.0
    with tf.control_dependencies([doubled]):
        changed = tf.assign(v, tf.zeros([500, 500]))
    with tf.control_dependencies([changed]):
        late = tf.tanh(doubled)
    for make in (tf.Session, device_session):
        with make() as session:
            session.run(v.initializer)
            np.testing.assert_allclose(session.run(late), np.tanh(3.0) * np.ones((500, 500)), rtol=1e-6)


def test_buffers_are_used_again_once_their_value_is_read() -> None:
    def body(out: Any, *operands: Any) -> None:
        """Only its place counts here."""

    chain = [(body, (0,), "float32"), (body, (~0,), "float32"), (body, (~1, 0), "bool"), (body, (~2, ~1), "float32")]
    assert [step.buffer for step in assign_buffers(chain)] == [0, 0, 1, -1]


@pytest.mark.parametrize("n", [9, 10, 17, 20])
def test_a_sum_in_a_region_rounds_as_tensorflow_s_kernel(n: int) -> None:
    rng = np.random.default_rng(n)
    terms = [tf.placeholder(tf.float32, [ROWS, COLUMNS]) for _ in range(n)]
    feeds = {term: rng.random((ROWS, COLUMNS), np.float32) for term in terms}
    total = tf.raw_ops.AddN(inputs=terms)
    made = tf.negative(total)
    graph = imported(made, dict.fromkeys(terms, (ROWS, COLUMNS)))
    fuse_elementwise.run(graph)
    assert [node.op for node in graph if node.op != "_Feed"] == [REGION]
    with plain_session() as theirs, device_session() as ours:
        np.testing.assert_array_equal(ours.run(made, feeds), theirs.run(made, feeds))
