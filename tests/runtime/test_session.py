"""The same graph on TensorFlow's own session and on the device gives the same values."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.errors import DeadlineExceeded
from npu_runtime.executor import active_steps
from npu_runtime.executor.active_steps import ActiveSteps
from tests.runtime.device import device_of, device_session

Step = tuple[Any, dict[Any, Any]]
X = np.random.default_rng(0).normal(size=(16, 4)).astype(np.float32)


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def same_on_both(steps: list[Step], initialize: bool = True, rtol: float = 1e-5) -> list[Any]:
    """Run the steps in a TensorFlow session and in a device session; returns the device's values."""
    results = []
    for session in (tf.Session(), device_session()):
        with session:
            if initialize:
                session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
            results.append([session.run(fetches, feeds) for fetches, feeds in steps])
    for theirs, mine in zip(*results, strict=True):
        tf.nest.map_structure(lambda a, b: assert_same(b, a, rtol), theirs, mine)
    return results[1]


def assert_same(mine: Any, theirs: Any, rtol: float) -> None:
    assert type(mine) is type(theirs)
    if theirs is None:
        return
    assert np.asarray(mine).dtype == np.asarray(theirs).dtype
    if np.asarray(theirs).dtype.kind in "fc":
        np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=1e-6)
    else:
        np.testing.assert_array_equal(mine, theirs)


def regression(use_resource: bool) -> tuple[Any, Any]:
    w = tf.get_variable("w", [4, 3], initializer=tf.random_normal_initializer(seed=1), use_resource=use_resource)
    b = tf.get_variable("b", [3], initializer=tf.zeros_initializer(), use_resource=use_resource)
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    return x, tf.reduce_mean(tf.square(tf.nn.relu(x @ w + b) - 1.0))


OPTIMIZERS: list[Callable[[], Any]] = [
    lambda: tf.train.GradientDescentOptimizer(0.1),
    lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    lambda: tf.train.AdamOptimizer(0.01),
    lambda: tf.train.AdagradOptimizer(0.1),
    lambda: tf.train.AdadeltaOptimizer(0.1),
    lambda: tf.train.RMSPropOptimizer(0.01, momentum=0.5),
    lambda: tf.train.FtrlOptimizer(0.1),
]


@pytest.mark.parametrize("use_resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_training(optimizer: Callable[[], Any], use_resource: bool) -> None:
    x, loss = regression(use_resource)
    train = optimizer().minimize(loss)
    same_on_both([([loss, train], {x: X})] * 6 + [(tf.trainable_variables(), {})])


def test_sparse_gradients_of_an_embedding() -> None:
    table = tf.get_variable("table", [10, 4], initializer=tf.random_uniform_initializer(seed=2))
    loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, tf.constant([1, 3, 3, 9]))))
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    same_on_both([([loss, train], {})] * 3 + [(table, {})])


def test_ref_read_is_an_alias() -> None:
    v = tf.Variable(1.0, use_resource=False)
    read = v.value()
    with tf.control_dependencies([read]):
        write = tf.assign_add(v, 10.0)
    with tf.control_dependencies([write]):
        again = tf.identity(read)
    assert same_on_both([([read, write, again], {})])[0] == [11.0, 11.0, 11.0]


def test_resource_read_is_a_snapshot() -> None:
    v = tf.Variable([1.0, 2.0], use_resource=True)
    read = v.read_value()
    with tf.control_dependencies([read]):
        write = v.assign_add([10.0, 10.0]).op
    with tf.control_dependencies([write]):
        after, before = v.read_value(), tf.identity(read)
    same_on_both([([read, before, after], {})] * 2)


def test_fetches_are_copies() -> None:
    v = tf.Variable([1.0, 2.0], use_resource=False)
    up = tf.assign_add(v, [1.0, 1.0]).op
    with device_session() as session:
        session.run(tf.global_variables_initializer())
        first = session.run(v)
        session.run(up)
        np.testing.assert_array_equal(first, [1.0, 2.0])


@pytest.mark.parametrize("taken", [True, False])
def test_cond_with_host_work_and_gradient(taken: bool) -> None:
    v = tf.Variable(3.0)
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: v * 2.0, lambda: tf.py_func(lambda a: a + np.float32(7), [v], tf.float32))
    z = tf.cond(p, lambda: tf.square(v), lambda: v - 1.0)
    same_on_both([([y, z, tf.gradients(z, v)], {p: taken})])


def test_side_effects_of_the_other_branch_do_not_happen() -> None:
    p = tf.placeholder(tf.bool, [])
    counter = tf.Variable(0, use_resource=True)
    step = tf.cond(p, lambda: tf.identity(counter.assign_add(1)), lambda: tf.identity(counter.assign_sub(10)))
    same_on_both([(step, {p: True}), (step, {p: False}), (counter, {})])


def test_a_branch_gives_the_variable_that_it_assigns() -> None:
    """As loss scalers do: the Merge has a reference and a value, and one of them is dead."""
    p, q = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
    scale = tf.Variable(4.0, use_resource=False)
    y = tf.cond(p, lambda: scale / 8.0, lambda: tf.cond(q, lambda: tf.assign(scale, scale * 2.0), lambda: scale))
    one = tf.cond(p, lambda: tf.assign(scale, scale + 1.0), lambda: tf.constant(3.0))
    in_loop = tf.while_loop(lambda i: i < 3.0, lambda i: i + tf.cond(q, lambda: tf.assign_add(scale, 1.0), lambda: 1.0), [0.0])
    choices = [{p: a, q: b} for a in (False, True) for b in (False, True)]
    same_on_both([(fetched, choice) for choice in choices for fetched in (y, scale, one, in_loop, scale)])


def test_queue_in_a_branch() -> None:
    p = tf.placeholder(tf.bool, [])
    queue = tf.FIFOQueue(10, tf.float32, [[]])
    fill = queue.enqueue_many([[1.0, 2.0, 3.0]])
    y = tf.cond(p, lambda: queue.dequeue(), lambda: tf.constant(-1.0))
    same_on_both([(fill, {}), (y, {p: True}), (y, {p: False}), (y, {p: True}), (queue.size(), {})])


def test_while_loop_and_its_gradient() -> None:
    v = tf.Variable(1.5)
    _, y = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * v), [0, tf.constant(2.0)])
    loss = tf.square(y) - v
    train = tf.train.GradientDescentOptimizer(1e-3).minimize(loss)
    same_on_both([([loss, tf.gradients(loss, v)], {}), (train, {}), (v, {})])


def test_dynamic_rnn_trains() -> None:
    cell = tf.nn.rnn_cell.LSTMCell(5, initializer=tf.random_uniform_initializer(-0.3, 0.3, seed=1))
    inputs = tf.constant(X.reshape(2, 8, 4))
    outputs, _ = tf.nn.dynamic_rnn(cell, inputs, sequence_length=[8, 5], dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(outputs))
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    same_on_both([([loss, train], {})] * 3)


@pytest.mark.parametrize("kind", ["one_shot", "initializable", "reinitializable"])
def test_tf_data_with_a_smaller_last_batch(kind: str) -> None:
    data = tf.data.Dataset.from_tensor_slices(X).map(lambda row: row * 2.0).batch(6)
    steps: list[Step] = []
    if kind == "one_shot":
        iterator = data.make_one_shot_iterator()
    elif kind == "initializable":
        iterator = data.make_initializable_iterator()
        steps = [(iterator.initializer, {})]
    else:
        iterator = tf.data.Iterator.from_structure(data.output_types, data.output_shapes)
        steps = [(iterator.make_initializer(data), {})]
    w = tf.get_variable("w", [4, 2], initializer=tf.ones_initializer())
    y = iterator.get_next() @ w
    same_on_both(steps + [(y, {})] * 3)
    with device_session() as session:
        session.run([tf.global_variables_initializer(), *(fetch for fetch, _ in steps)])
        for _ in range(3):
            session.run(y)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(y)


def test_strings_and_tables() -> None:
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    words = tf.placeholder(tf.string, [None])
    ids = table.lookup(words)
    y = tf.cast(ids, tf.float32) * 2.0
    feed = {words: np.array([b"b", b"x\x00\x00", b"a"], object)}
    same_on_both([([ids, y, words, tf.strings.length(words)], feed), (tf.constant(b"z\x00"), {}), (tf.as_string(y), feed)])


def test_a_table_that_two_host_calls_of_one_run_share() -> None:
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64)), -1)
    with tf.control_dependencies([table.initializer]):
        found = table.lookup(tf.constant(["b", "a"]))
    same_on_both([([found, tf.ones([2]) + 1.0], {})])


def test_feeding_what_is_not_a_placeholder() -> None:
    data = tf.data.Dataset.from_tensors(X).make_one_shot_iterator().get_next()
    middle = data * 2.0
    y = tf.reduce_sum(middle + 1.0)
    default = tf.placeholder_with_default(3.0, [])
    same_on_both([(y, {}), (y, {middle: X}), (y, {data: X + 1.0}), (default * 2, {}), (default * 2, {default: 5.0})])


def test_structures_of_fetches() -> None:
    a, b = tf.constant(1.0), tf.constant([1, 2])
    none = tf.no_op()
    same_on_both([({"a": a, "b": [b, none], "c": (a,)}, {}), ([], {}), (none, {})])


def test_random_numbers_are_tensorflow_s() -> None:
    tf.set_random_seed(7)
    numbers = [tf.random_uniform([5]), tf.random_normal([3, 3]), tf.truncated_normal([7], seed=3), tf.random.shuffle(tf.range(9))]
    same_on_both([(numbers, {})] * 3, rtol=0)


def test_summaries_have_the_same_bytes() -> None:
    tf.summary.scalar("loss", tf.constant(1.5) * 2.0)
    tf.summary.histogram("x", tf.constant(X))
    same_on_both([(tf.summary.merge_all(), {})])


@pytest.mark.parametrize("use_resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("writer", ["device", "tensorflow"])
def test_checkpoints_both_ways(tmp_path: Any, writer: str, use_resource: bool) -> None:
    x, loss = regression(use_resource)
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    saver = tf.train.Saver()
    sessions = {"device": device_session(), "tensorflow": tf.Session()}
    with sessions.pop(writer) as session:
        session.run(tf.global_variables_initializer())
        session.run(train, {x: X})
        path = saver.save(session, str(tmp_path / "model"), global_step=1)
        values = session.run(tf.global_variables())
        after = session.run([loss, train], {x: X})[0]
    (reader,) = sessions.values()
    with reader as session:
        saver.restore(session, path)
        for mine, theirs in zip(session.run(tf.global_variables()), values, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_allclose(session.run([loss, train], {x: X})[0], after, rtol=1e-6)


def test_callables() -> None:
    x, loss = regression(False)
    two = tf.constant(2.0)
    with device_session() as session:
        session.run(tf.global_variables_initializer())
        assert session.make_callable(two)() == 2.0
        assert session.make_callable(two.op)() is None
        run = session.make_callable([loss, two], feed_list=[x])
        np.testing.assert_allclose(run(X), session.run([loss, two], {x: X}))


@pytest.mark.parametrize("n_values", [0, 1, 2])
@pytest.mark.parametrize("n_feeds", [None, 0, 1])
def test_callables_with_too_few_and_too_many_values(n_feeds: int | None, n_values: int) -> None:
    x = tf.placeholder(tf.float32, [2])
    results = []
    for session in (tf.Session(), device_session()):
        with session:
            run = session.make_callable(x * 2.0, None if n_feeds is None else [x] * n_feeds)
            try:
                results.append(run(*[np.ones(2)] * n_values).tolist())
            except (TypeError, tf.errors.OpError) as error:
                results.append(type(error))
    assert results[0] == results[1]


def test_partial_run_is_refused() -> None:
    x = tf.placeholder(tf.float32, [])
    with device_session() as session, pytest.raises(tf.errors.UnimplementedError, match="partial_run"):
        session.partial_run_setup([x * 2.0], [x])


def test_two_sessions_keep_their_variables_apart() -> None:
    v = tf.Variable(1.0)
    up = tf.assign_add(v, 1.0)
    with device_session() as one, device_session() as two:
        one.run(v.initializer)
        two.run(v.initializer)
        one.run(up)
        assert (one.run(v), two.run(v)) == (2.0, 1.0)


def test_graph_grows_between_runs() -> None:
    v = tf.Variable([1.0, 2.0])
    with device_session() as session:
        session.run(v.initializer)
        for n in range(3):
            np.testing.assert_array_equal(session.run(v + float(n)), np.array([1.0, 2.0]) + n)


def test_variable_moves_to_the_host_with_its_value() -> None:
    v = tf.Variable([3.0, 4.0], use_resource=True)
    with device_session() as session:
        session.run(v.initializer)
        session.run(v.assign_add([1.0, 1.0]))
        assert v.handle.op.name not in device_of(session)._placement.reasons
        iterator = tf.data.Dataset.range(2).map(lambda i: v[i] * 10.0).make_initializable_iterator()
        session.run(iterator.initializer)
        assert [session.run(iterator.get_next()) for _ in range(2)] == [40.0, 50.0]
        assert v.handle.op.name in device_of(session)._placement.reasons
        np.testing.assert_array_equal(session.run(v * 2.0), [8.0, 10.0])


def test_two_handles_of_one_variable_are_on_one_side_and_containers_are_apart() -> None:
    def handle(container: str = "") -> Any:
        return tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="v", container=container)

    def read(of: Any) -> Any:
        return tf.raw_ops.ReadVariableOp(resource=of, dtype=tf.float32)

    one, same, other = handle(), handle(), handle("other")
    values = {one: [3.0, 4.0], other: [5.0, 6.0]}
    set_both = [tf.raw_ops.AssignVariableOp(resource=of, value=value) for of, value in values.items()]
    same_on_both([(set_both, {}), ([read(one), read(same), read(other)], {})])
    iterator = tf.data.Dataset.range(1).map(lambda i: read(same)[i]).make_initializable_iterator()
    same_on_both([(set_both, {}), (iterator.initializer, {}), ([iterator.get_next(), read(one), read(other)], {})])


def _step_that_waits(v: Any, began: threading.Event, may_end: threading.Event) -> tf.Operation:
    """An update of a variable on the device, behind a call of the host that lasts until it is told to end."""

    def call() -> np.float32:
        began.set()
        assert may_end.wait(60)
        return np.float32(1.0)

    return v.assign_add(tf.fill(v.shape, tf.py_func(call, [], tf.float32))).op


def test_a_variable_that_moves_to_the_host_takes_the_update_of_a_step_under_way_along() -> None:
    v = tf.get_variable("v", initializer=[3.0, 4.0], use_resource=True)
    began, may_end = threading.Event(), threading.Event()
    step = _step_that_waits(v, began, may_end)
    number, other = tf.placeholder(tf.float32, []), tf.get_variable("other", initializer=1.0, use_resource=True)
    seen: list[Any] = []
    with device_session() as session:
        session.run([v.initializer, other.initializer])
        thread = threading.Thread(target=session.run, args=(step,))
        thread.start()
        assert began.wait(60)
        iterator = tf.data.Dataset.range(1).map(lambda i: v[i] * 10.0).make_initializable_iterator()
        element, again, grown = iterator.get_next(), v * 2.0, number * other + 5.0
        mover = threading.Thread(target=lambda: seen.append(session.run([iterator.initializer, again])[1]))
        mover.start()
        assert session.run(grown, {number: 1.0}) == 6.0  # who does not use the variable does not wait
        mover.join(0.2)
        assert mover.is_alive() and not seen
        may_end.set()
        thread.join(60)
        mover.join(60)
        assert v.handle.op.name in device_of(session)._placement.reasons
        np.testing.assert_array_equal(seen, [[8.0, 10.0]])
        assert session.run(element) == 40.0


def test_a_run_that_waits_for_a_variable_to_move_keeps_its_timeout() -> None:
    v = tf.get_variable("v", initializer=[3.0, 4.0], use_resource=True)
    began, may_end = threading.Event(), threading.Event()
    step = _step_that_waits(v, began, may_end)
    with device_session() as session:
        session.run(v.initializer)
        thread = threading.Thread(target=session.run, args=(step,))
        thread.start()
        assert began.wait(60)
        iterator = tf.data.Dataset.range(1).map(lambda i: v[i] * 10.0).make_initializable_iterator()
        try:
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(iterator.initializer, options=tf.RunOptions(timeout_in_ms=100))
        finally:
            may_end.set()
            thread.join(60)
        session.run(iterator.initializer)
        assert session.run(iterator.get_next()) == 40.0


def test_a_step_that_never_ends_is_told_to_who_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[Any] = []
    flight, used = ActiveSteps(), frozenset({("resource", "v")})
    assert flight.begin(used)
    flight.move({key: partial(moved.append, key) for key in used})
    assert flight.begin(frozenset({("ref", "v")})) and not flight.begin(used) and moved == []
    monkeypatch.setattr(active_steps, "MOST_SECONDS", 0.0)
    with pytest.raises(DeadlineExceeded, match="need v on the host"):
        flight.wait(time.monotonic() - 1.0)
    flight.end(used)
    assert flight.begin(used) and moved == [*used]


def test_a_run_that_is_nested_in_the_step_it_waits_for_is_told_at_once() -> None:
    v = tf.get_variable("v", initializer=[3.0, 4.0], use_resource=True)
    seen: list[str] = []
    with device_session() as session:

        def call() -> np.float32:
            """Grows the graph by what needs the variable on the host, and runs it in the step that uses it on the device."""
            with v.graph.as_default():
                iterator = tf.data.Dataset.range(1).map(lambda i: v[i] * 10.0).make_initializable_iterator()
            try:
                session.run(iterator.initializer)
            except tf.errors.FailedPreconditionError as error:
                seen.append(error.message)
            return np.float32(1.0)

        step = v.assign_add(tf.fill(v.shape, tf.py_func(call, [], tf.float32)))
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(step), [4.0, 5.0])
        assert len(seen) == 1 and "need v on the host" in seen[0]
        np.testing.assert_array_equal(session.run(v), [4.0, 5.0])


def test_threads_share_a_session() -> None:
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.reduce_sum(tf.square(x), axis=1)
    wrong: list[Any] = []
    with device_session() as session:

        def work(seed: int) -> None:
            for n in range(1, 40):
                value = np.random.default_rng(seed * 100 + n).normal(size=(n % 5 + 1, 4)).astype(np.float32)
                if not np.allclose(session.run(y, {x: value}), np.square(value).sum(1), rtol=1e-5):
                    wrong.append((seed, n))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_queue_runners_and_coordinator() -> None:
    numbers = tf.train.input_producer(tf.constant(np.arange(10, dtype=np.float32)), num_epochs=2, shuffle=False)
    batch = tf.train.batch([numbers.dequeue()], 4, allow_smaller_final_batch=True)
    doubled = batch * 2.0
    seen = []
    with device_session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                seen.extend(session.run(doubled))
        coordinator.request_stop()
        coordinator.join(threads)
    np.testing.assert_array_equal(seen, np.tile(np.arange(10), 2) * 2.0)


def test_function_calls_are_seen_through() -> None:
    v = tf.Variable([1.0, 2.0], use_resource=True)

    @tf.function
    def inner(a: Any) -> Any:
        return a * v + tf.strings.to_number(tf.constant("1.5"))

    @tf.function
    def outer(a: Any) -> Any:
        v.assign_add([1.0, 1.0])
        return inner(a) * 2.0, tf.reduce_sum(a)

    x = tf.placeholder(tf.float32, [2])
    y, total = outer(x)
    same_on_both([([y, total, tf.gradients(y, x)], {x: [3.0, 4.0]})] * 2 + [(v, {})])


def test_lists_of_one_output() -> None:
    x = tf.placeholder(tf.float32, [2, 3])
    one = [tf.split(x, 1)[0], tf.unstack(x, axis=0)[0], tf.unstack(x[:1])[0], tf.identity_n([x])[0], tf.shape_n([x])[0]]
    same_on_both([([t * 2 for t in one], {x: X[:2, :3]})])


def test_iteration_op_runs_as_many_steps_as_its_variable_says() -> None:
    w = tf.Variable(1.0)
    numbers = tf.data.Dataset.range(100).make_one_shot_iterator().get_next()
    train = tf.assign_add(w, tf.cast(numbers, tf.float32)).op
    loops = tf.get_variable("npu_runconfig/iterations_per_loop", initializer=np.int64(3), use_resource=True)
    looped = tf.group(train, name="IterationOp")
    with device_session() as session:
        session.run(tf.global_variables_initializer())
        session.run(looped)
        assert session.run(w) == 1.0 + 0 + 1 + 2 + 3
        loops.load(0, session)
        session.run(looped)
        assert session.run(w) == 1.0 + 0 + 1 + 2 + 3 + 4


def test_denormal_results_are_zero_on_the_device_and_nowhere_else() -> None:
    small = np.full(200_000, 1e-38, np.float32)
    x = tf.placeholder(tf.float32, small.shape)
    assert not np.any(same_on_both([(x * 1e-2, {x: small})], rtol=0)[0])
    assert np.all(small * np.float32(1e-2))


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32])
def test_whether_a_denormal_is_true(dtype: tf.DType) -> None:
    """Of 16-bit floats it is; one of fp32 is read as zero."""
    x = tf.placeholder(dtype, [None])
    least = np.full(70, {tf.float16: 6e-8}.get(dtype, 1e-40)).astype(dtype.as_numpy_dtype)
    same_on_both([(tf.cast(x, tf.bool), {x: least}), (tf.cast(x, tf.bool), {x: -least[:3]})], rtol=0)


def test_a_counter_at_its_limit_ends_a_step_whose_queue_would_wait_forever() -> None:
    queue = tf.PaddingFIFOQueue(10, [tf.int32], [[None, 2]])
    numbers = tf.Variable(tf.constant(0, tf.int64), use_resource=False)
    batches = tf.FIFOQueue(10, [tf.int32, tf.int64])
    step = batches.enqueue([queue.dequeue(), numbers.count_up_to(2)])
    for make in (tf.Session, device_session):
        with make() as session:
            session.run(numbers.initializer)
            for n in (1, 3):
                session.run(queue.enqueue([np.ones((n, 2), np.int32)]))
            session.run(step)
            session.run(step)
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(step)
            assert session.run(batches.size()) == 2


def test_a_table_is_looked_up_in_a_branch_beside_records_of_unknown_number() -> None:
    """From tf_slim's decoder of examples: the table's handle goes through a Switch whose predicate the host call makes."""
    records = tf.placeholder(tf.string, [None])
    keys = tf.constant(["a", "b"])
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, tf.constant([7, 9], tf.int64)), -1)
    parsed = tf.io.parse_example(records, {"k": tf.VarLenFeature(tf.string), "n": tf.VarLenFeature(tf.int64)})
    names = tf.sparse_tensor_to_dense(parsed["k"], default_value="")
    numbers = tf.sparse_tensor_to_dense(parsed["n"])
    found = tf.cond(tf.size(numbers) > 0, lambda: numbers + 1, lambda: table.lookup(names))
    features = {"k": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"b", b"a"]))}
    record = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
    for make in (tf.Session, device_session):
        with make() as session:
            session.run(tf.tables_initializer())
            np.testing.assert_array_equal(session.run(found, {records: [record]}), [[9, 7]])


def test_the_limits_of_floats_are_known_before_denormals_are_flushed() -> None:
    code = (
        "import warnings; warnings.simplefilter('error')\nimport ml_dtypes, numpy as np\n"
        "from npu_runtime.device.denormals import flushed\n"
        "with flushed():\n    for limits in (np.finfo, ml_dtypes.finfo):\n        assert repr(limits(np.float32))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_text_without_elements() -> None:
    empty = tf.constant([], tf.string)
    same_on_both([([empty, tf.concat([empty, ["a"]], 0), tf.zeros([0, 3], tf.string)], {})])


def test_a_reference_of_the_host_in_a_branch() -> None:
    """From tf_slim's streaming_concat: a variable of float64 grows in one branch and is read and written in the other."""
    v = tf.get_variable("v", initializer=np.zeros(4), use_resource=False)
    n = tf.placeholder(tf.int32, [])
    x = tf.placeholder(tf.float64, [None])

    def write() -> Any:
        return tf.identity(tf.raw_ops.StridedSliceAssign(
            ref=v._ref(), begin=[n], end=[n + 2], strides=[1], value=x
        ))  # fmt: skip

    y = tf.cond(n < 2, write, lambda: tf.concat([v, x], 0))
    steps: list[Step] = [(y, {n: k, x: [k + 1.0, k + 2.0]}) for k in (0, 1, 2, 1, 3)]
    same_on_both([step for one in steps for step in (one, (v, {}))])
