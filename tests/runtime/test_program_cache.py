"""Feeds of ever new shapes: their programs do not fill the memory, and every one gives TensorFlow's values."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.executor import program_cache
from npu_runtime.session import run_log
from npu_runtime.trace.run_log import ProgramRecord, RunLog
from tests.runtime.device import device_of, device_session


@pytest.mark.parametrize("kept", [1, 3])
def test_only_the_programs_that_were_used_last_are_kept(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_cache, "FEW_SHAPES", 5)
    with tf.Graph().as_default(), tf.Session() as plain, device_session() as session:
        x = tf.placeholder(tf.float32, [None, 3])
        made = tf.reduce_sum(tf.nn.softmax(x * 2.0) * x, axis=1)
        session.run(made, {x: np.ones((1, 3), "f")})
        (plan,) = device_of(session)._plans.values()
        (first,) = plan.runners.values()
        monkeypatch.setattr(program_cache, "MOST_STEPS", kept * len(first.program.steps))
        for n in (2, 3, 4, 2, 3, 4, 5, 1, 2):
            value = np.random.default_rng(n).normal(size=(n, 3)).astype("f")
            np.testing.assert_allclose(session.run(made, {x: value}), plain.run(made, {x: value}), rtol=1e-6)
            assert len(plan.runners.values()) <= kept
        session.run(made, {x: np.ones((2, 3), "f")})  # there still
        assert plan.record.n_compilations == {1: 10, 3: 7}[kept]
        assert plan.record.n_dropped == plan.record.n_compilations - kept
        assert f"{plan.record.n_dropped} programs dropped" in run_log().digest()[0] or len(run_log().sessions) > 1


def test_a_program_that_is_used_again_and_again_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    with tf.Graph().as_default(), device_session() as session:
        x = tf.placeholder(tf.float32, [None])
        made = tf.exp(x) * 2.0
        session.run(made, {x: np.zeros(1, "f")})
        (plan,) = device_of(session)._plans.values()
        (first,) = plan.runners.values()
        monkeypatch.setattr(program_cache, "MOST_STEPS", 2 * len(first.program.steps))
        monkeypatch.setattr(program_cache, "FEW_SHAPES", 8)
        for n in range(2, 9):
            session.run(made, {x: np.zeros(n, "f")})
            session.run(made, {x: np.zeros(1, "f")})
        assert plan.record.n_compilations == 8
        assert first in plan.runners.values()


class Sequences:
    """Training on batches of sentences: embeddings, dropout, a product of all pairs of words, batch normalisation, Adam."""

    def __init__(self) -> None:
        tf.set_random_seed(5)
        self.words = tf.placeholder(tf.int32, [None, None])
        table = tf.get_variable("table", [40, 8], initializer=tf.random_normal_initializer(seed=1))
        x = tf.nn.dropout(tf.nn.embedding_lookup(table, self.words), rate=0.2, seed=2)
        x = tf.matmul(tf.nn.softmax(tf.matmul(x, x, transpose_b=True)), x)
        x = tf.layers.batch_normalization(tf.reshape(x, [-1, 8]), training=True)
        x = tf.reshape(tf.layers.dense(tf.nn.relu(x), 8), [tf.shape(self.words)[0], -1, 8])
        self.loss = tf.reduce_mean(tf.square(tf.reduce_max(x, axis=1) - 1.0))
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            self.train = tf.train.AdamOptimizer(0.01).minimize(self.loss)

    def batches(self, n: int) -> list[dict[Any, np.ndarray]]:
        random = np.random.default_rng(0)
        return [{self.words: random.integers(0, 40, random.integers(1, 12, 2))} for _ in range(n)]

    def losses(self, session: tf.Session, n: int) -> list[np.float32]:
        session.run(tf.global_variables_initializer())
        return [session.run([self.loss, self.train], batch)[0] for batch in self.batches(n)]


def test_sentences_of_every_length_are_compiled_for_a_few_times() -> None:
    with tf.Graph().as_default(), tf.Session() as plain, device_session() as session:
        made = Sequences()
        mine, theirs = made.losses(session, 40), made.losses(plain, 40)
        np.testing.assert_allclose(mine, theirs, rtol=2e-4)
        record = device_of(session)._state.record.programs[-1]
        assert record.n_shapes == len({tuple(*map(np.shape, batch.values())) for batch in made.batches(40)}) > 25
        assert record.n_compilations <= 8
        assert record.device_share == 1.0 and record.device_flops > 1000
        said = f"{record.n_compilations} times for {record.n_shapes} different shapes"
        assert any(said in line for line in run_log().summary())


@pytest.mark.parametrize("place", ["device", "host"])
def test_nodes_whose_shape_only_a_run_tells_are_said_not_to_be_counted(place: str) -> None:
    """Their work is in neither part of the share."""
    run_log().clear()
    with tf.Graph().as_default(), device_session() as session:
        x = tf.placeholder(tf.float32, [8, 4])
        some = tf.boolean_mask(x, x[:, 0] > 0)
        weights = tf.ones([4, 4], tf.float32 if place == "device" else tf.float64)
        made = tf.matmul(tf.cast(some, weights.dtype), weights) + tf.cast(tf.reduce_sum(tf.exp(x)), weights.dtype)
        session.run(made, {x: np.eye(8, 4)})
        record = device_of(session)._state.record.programs[-1]
        assert record.n_uncounted == 2  # the product and the sum, not what moves data only
        said = "(those of 2 nodes are not counted: only a run tells their shapes)"
        assert said in run_log().digest()[0]
        assert any(said in line for line in run_log().summary())
        assert run_log().document()["uncounted_nodes"] == 2


def test_nothing_is_said_of_counting_where_every_shape_is_known() -> None:
    run_log().clear()
    with tf.Graph().as_default(), device_session() as session:
        x = tf.placeholder(tf.float32, [None, 4])
        session.run(tf.matmul(x, tf.ones([4, 4])), {x: np.eye(8, 4)})
        assert device_of(session)._state.record.programs[-1].n_uncounted == 0
        assert not any("not counted" in line for line in run_log().digest() + run_log().summary())


def test_a_shape_that_comes_often_gets_a_program_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_cache, "REPAYS_COMPILING", 4)
    with tf.Graph().as_default(), device_session() as session:
        x = tf.placeholder(tf.float32, [None, None])
        made = tf.reduce_sum(tf.exp(x), axis=1)
        compiled = []
        for shape in [(9, 9), (2, 3), (3, 3), *[(4, 3)] * 6, (5, 3), (4, 3)]:
            np.testing.assert_allclose(session.run(made, {x: np.zeros(shape)}), np.full(shape[0], shape[1]))
            compiled.append(device_of(session)._state.record.programs[-1].n_compilations)
        assert compiled == [1, 2, 3, 4, 4, 4, 4, 5, 5, 5, 5]


def test_shapes_of_other_ranks_and_other_axes_and_much_larger_ones() -> None:
    with tf.Graph().as_default(), tf.Session() as plain, device_session() as session:
        x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        made = tf.concat([tf.reshape(tf.nn.softmax(x * y) + y, [-1]), [tf.cast(tf.rank(x), tf.float32)]], 0)
        shapes = [((2, 3), (3,)), ((4, 3), (1,)), ((5, 3), ()), ((5, 3), (3,)), ((2, 3), (2, 1)), ((7, 3), (3,)), ((7, 5), (5,))]
        shapes += [((6, 1), (1,)), ((0, 3), (3,)), ((1, 1), (1,)), ((2, 2, 3), (3,)), ((2, 4, 3), (4, 3)), ((400, 3), (3,))]
        for a, b in [*shapes, *shapes[::-1]]:
            fed = {x: np.arange(np.prod(a, dtype=int)).reshape(a) % 5, y: np.linspace(0, 1, int(np.prod(b))).reshape(b)}
            np.testing.assert_allclose(session.run(made, fed), plain.run(made, fed), rtol=1e-6)


def test_a_step_that_is_much_larger_is_still_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory of a program for any extent is not known before it runs."""
    with tf.Graph().as_default(), device_session() as session:
        x = tf.placeholder(tf.float32, [None, 4])
        made = tf.reduce_sum(tf.matmul(tf.exp(x), x, transpose_b=True))
        for n in (8, 7, 6, 5, 4, 9):
            session.run(made, {x: np.zeros((n, 4))})
        device = device_of(session)
        monkeypatch.setattr(device._state, "chip", replace(device._state.chip, hbm_bytes=1_000_000))
        session.run(made, {x: np.zeros((3, 4))})
        with pytest.raises(tf.errors.ResourceExhaustedError, match="MatMul"):
            session.run(made, {x: np.zeros((1000, 4))})


def test_threads_feed_shapes_of_all_kinds() -> None:
    with tf.Graph().as_default() as graph, device_session() as session:
        x = tf.placeholder(tf.float32, [None, 3])
        made = tf.reduce_sum(tf.nn.relu(x) * 2.0, axis=1)
        graph.finalize()

        def feed(seed: int) -> None:
            for n in np.random.default_rng(seed).integers(1, 30, 60):
                np.testing.assert_array_equal(session.run(made, {x: np.full((n, 3), seed)}), np.full(n, 6.0 * seed))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(feed, range(1, 5)))
        assert device_of(session)._state.record.programs[-1].n_shapes == 29


def test_reasons_that_differ_only_in_the_variable_are_one_line() -> None:
    """Each variable that stays on the host takes its readers with it; what follows in brackets is told apart."""
    log = RunLog()
    shares = "shares a variable or handle with {} (the device has no kernel for op {})"
    nodes = {f"layer_{i}/read": shares.format(f"layer_{i}/kernel", "Odd") for i in range(3)}
    nodes |= {"other/read": shares.format("other/kernel", "Even"), "words": "text is host data"}
    log.open_session().programs.append(ProgramRecord(("loss:0",), host_nodes=nodes, n_runs=1))
    expected = [
        f"  on the host: layer_0/read and 2 more: {nodes['layer_0/read']}",
        f"  on the host: other/read: {nodes['other/read']}",
        "  on the host: words: text is host data",
    ]
    assert log.digest()[-3:] == expected
    assert [(host["example"], host["count"]) for host in log.document()["host_nodes"]] == [
        ("layer_0/read", 3), ("other/read", 1), ("words", 1),
    ]  # fmt: skip


def test_readers_of_several_variables_on_the_host_are_one_line() -> None:
    """The same with the words that the placement of a real graph finds."""
    run_log().clear()
    with tf.Graph().as_default() as graph, device_session() as session:
        with graph._attr_scope({"_variable_placement": tf.AttrValue(s=b"host")}):
            variables = [tf.get_variable(f"v{i}", [3]) for i in range(3)]
        session.run(tf.global_variables_initializer())
        session.run(tf.add_n(variables))
    led_back = [line for line in run_log().digest() if "(the script keeps it on the host" in line]
    (line,) = led_back
    assert line.startswith("  on the host: v0/") and " more: " in line
