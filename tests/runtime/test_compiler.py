"""The list of the compiler's steps: its order by facts, the checks and the dumps behind each step."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

import npu_runtime.passes
from npu_runtime.compiler.compilation import Compilation, Step, check_order, step
from npu_runtime.compiler.pipeline import ON_IMPORT, STEPS
from npu_runtime.graph.ir import Graph, Value
from npu_runtime.passes.base import Pass
from tests.passes.graphs import imported, run_passes
from tests.runtime.device import device_session


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def network() -> tuple[tf.Tensor, list[tf.Tensor]]:
    """An image that is fed, then a loss and its gradients."""
    x = tf.placeholder(tf.float32, [None, 8, 8, 1], name="x")
    hidden = tf.layers.conv2d(x, 4, 3, activation=tf.nn.relu, kernel_initializer=tf.ones_initializer())
    logits = tf.layers.dense(
        tf.layers.flatten(tf.layers.max_pooling2d(hidden, 2, 2)), 3, kernel_initializer=tf.ones_initializer()
    )
    loss = tf.losses.sparse_softmax_cross_entropy(tf.zeros([tf.shape(x)[0]], tf.int32), logits)
    return x, [loss, *tf.gradients(loss, tf.trainable_variables())]


def test_every_pass_keeps_the_graph_sound_and_the_values() -> None:
    x, fetched = network()
    run_passes(imported(fetched[1], {x: (5, 8, 8, 1)}))
    with tf.Session() as plain:
        plain.run(tf.global_variables_initializer())
        expected = plain.run(fetched, {x: np.ones((5, 8, 8, 1), np.float32)})
    for fusion in ("on", "off"):
        with device_session(fusion=fusion) as session:
            session.run(tf.global_variables_initializer())
            actual = session.run(fetched, {x: np.ones((5, 8, 8, 1), np.float32)})
            tf.nest.map_structure(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), actual, expected)


def needs_layout(made: Compilation) -> None: ...
def makes_layout(made: Compilation) -> None: ...
def breaks_layout(made: Compilation) -> None: ...


def test_order_that_lacks_a_fact_is_refused() -> None:
    needs = step(needs_layout, "It asks for the layout.", requires="layout")
    makes = step(makes_layout, "First.", provides="layout")
    breaks = step(breaks_layout, "Somewhere.", breaks="layout")
    check_order([makes, needs])
    for order in ([needs, makes], [makes, breaks, needs]):
        with pytest.raises(ValueError, match="needs_layout needs"):
            check_order(order)


@pytest.mark.parametrize("position", range(len(STEPS)))
def test_every_step_says_why_it_stands_where_it_stands(position: int) -> None:
    reason = STEPS[position].because
    assert reason.endswith(".") and len(reason.split()) >= 5


def test_every_fact_that_a_step_needs_is_provided_and_every_one_provided_is_needed() -> None:
    needed = frozenset().union(*(one.requires for one in STEPS))
    assert frozenset().union(*(one.provides for one in STEPS)) >= needed - {"imported"}


def test_a_step_out_of_order_is_found() -> None:
    """Every step that needs a fact cannot come first."""
    for one in STEPS:
        if one.requires:
            with pytest.raises(ValueError, match=f"step {one.name} needs"):
                check_order([one])


def test_every_pass_is_in_the_list() -> None:
    listed = {one.action.name for one in STEPS if isinstance(one.action, Pass)}
    modules = [m.name for m in pkgutil.walk_packages(npu_runtime.passes.__path__, "npu_runtime.passes.") if not m.ispkg]
    assert len(modules) >= 34
    made = {value.name for name in modules for _, value in inspect.getmembers(import_module(name)) if isinstance(value, Pass)}
    assert made == listed


def break_the_graph(made: Compilation) -> None:
    made.graph.fetches = [Value("nowhere")]


def with_broken_step(monkeypatch: pytest.MonkeyPatch) -> None:
    broken: tuple[Step, ...] = (*ON_IMPORT, step(break_the_graph, "Nobody knows why it is here."))
    monkeypatch.setattr("npu_runtime.session.observed_session.ON_IMPORT", broken)


def test_the_step_that_breaks_a_graph_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with_broken_step(monkeypatch)
    with device_session() as session, pytest.raises(ValueError, match="behind break_the_graph: fetch: node nowhere"):
        session.run(tf.constant(1.0) + 1.0)


def test_nobody_looks_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with_broken_step(monkeypatch)
    with device_session(verify="off") as session:
        assert session.run(tf.constant(1.0) + 1.0) == 2.0


def test_a_dump_has_a_text_behind_every_step_that_changes_something(tmp_path: Path) -> None:
    x, fetched = network()
    tf.as_string(fetched[0])  # for the host, which placement writes into the graph
    with device_session(dump_graph=str(tmp_path)) as session:
        session.run(tf.global_variables_initializer())
        session.run(fetched, {x: np.ones((5, 8, 8, 1), np.float32)})
    last = sorted(path.stem.removeprefix("session_").partition("_")[2] for path in tmp_path.glob("*_run_2_*.txt"))
    labels = [name.removeprefix("run_2_shapes_1_") for name in last if name.startswith("run_2_shapes_1_")]
    assert {"before", "after"} <= set(labels) and "typed" not in labels
    steps = [label.partition("_") for label in labels if label[0].isdigit()]
    assert len(steps) >= 8 and {"fold_constants", "fuse_bias_activation", "plan_memory"} <= {name for _, _, name in steps}
    assert [int(number) for number, _, _ in steps] == sorted(int(number) for number, _, _ in steps)
    assert "run_2_01_prune" in last
    assert list(tmp_path.glob("*_import_1_*_place.txt"))


def test_a_graph_of_nothing_goes_through_every_pass() -> None:
    run_passes(Graph())
