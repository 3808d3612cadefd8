"""Short host calls run on the thread that makes them, if that is faster and nothing in them needs another one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.autotune import Autotune
from npu_runtime.importers.tensorflow import caller_thread
from npu_runtime.importers.tensorflow.caller_thread import FasterWay, may_run_in_caller
from tests.runtime.device import device_session

N_CALLS = 3 * caller_thread.REPEATS
SECONDS = 20.0
"""After which a call hangs."""


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def test_what_it_gives_is_what_tensorflow_does() -> None:
    """Texts and a counter of the host, more often than there are trials."""
    x = tf.placeholder(tf.int32, [2])
    count = tf.Variable(["a"], dtype=tf.string)
    grown = tf.assign(count, tf.string_join([count, tf.as_string(tf.reduce_sum(x * 2))]))
    found = []
    for make in (tf.Session, device_session):
        with make() as session:
            session.run(tf.global_variables_initializer())
            found.append([session.run(grown, {x: [index, 1]}).tolist() for index in range(N_CALLS)])
    assert found[0] == found[1]


def test_a_users_function_keeps_its_thread() -> None:
    """It may run the session itself, and threads have state."""
    seen: list[int] = []

    def look(x: np.ndarray) -> np.ndarray:
        seen.append(threading.get_ident())
        return x

    made = tf.py_func(look, [tf.placeholder_with_default(tf.ones([4]), [4])], tf.float32)
    with device_session() as session:
        for _ in range(N_CALLS):
            session.run(made)
    assert threading.get_ident() not in seen


def test_an_error_in_it_is_told_as_ever_and_the_next_call_is_made() -> None:
    x = tf.placeholder(tf.string, [])
    made = tf.string_to_number(x)
    with device_session() as session:
        for _ in range(N_CALLS):
            with pytest.raises(tf.errors.InvalidArgumentError, match="StringToNumberOp could not correctly convert string: one"):
                session.run(made, {x: "one"})
            assert session.run(made, {x: "1"}) == 1.0


def _in_time(function: Callable[[], Any]) -> Any:
    """Its result; fails where it takes longer than SECONDS."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()), daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert found, "it hangs"
    return found[0]


def test_what_waits_for_its_neighbour_in_the_same_call_does_not_hang() -> None:
    """A staging area that holds one value: taking it and putting the next one wait for each other."""
    from tensorflow.python.ops.data_flow_ops import StagingArea

    area = StagingArea([tf.float32], [[2]], capacity=1)
    x = tf.placeholder(tf.float32, [2])
    put, (taken,) = area.put([x]), area.get()
    with device_session() as session:
        for index in range(N_CALLS):
            value = np.full(2, index, "f")
            np.testing.assert_array_equal(_in_time(lambda value=value: session.run([taken, put], {x: value})[0]), value)


def test_a_full_queue_waits_for_another_thread() -> None:
    """The call that enqueues too much returns once somebody else has dequeued."""
    queue = tf.FIFOQueue(1, [tf.int32], [[]])
    put, taken = queue.enqueue(7), queue.dequeue()
    with device_session() as session:
        for _ in range(N_CALLS):
            session.run(put)
            second = threading.Thread(target=session.run, args=(put,), daemon=True)
            second.start()
            assert _in_time(lambda: session.run([taken])) == [7]
            second.join(SECONDS)
            assert not second.is_alive()
            assert session.run(taken) == 7


@pytest.mark.parametrize("ops", [["Stage"], ["Unstage"], ["PartitionedCall"], ["Enter", "Exit"], ["PyFunc"], ["Add"] * 100])
def test_calls_that_keep_their_threads(ops: list[str]) -> None:
    assert not may_run_in_caller(ops)
    assert may_run_in_caller(["ScalarSummary", "IteratorGetNext"])


@pytest.mark.parametrize(("here", "pool", "best"), [(0.0, 0.01, True), (0.002, 0.02, True), (0.02, 0.002, False)])
def test_the_faster_way_is_kept(here: float, pool: float, best: bool) -> None:
    made: list[bool] = []

    def make(is_here: bool) -> Callable[[], None]:
        def call() -> None:
            time.sleep(here if is_here else pool)
            made.append(is_here)

        return call

    call = FasterWay(make)
    for _ in range(N_CALLS):
        call()
    assert made[-1] is best


def _call_often(call: FasterWay, found: list[int]) -> None:
    found.extend(call(value) for value in range(20))


def test_threads_that_call_at_once_all_get_their_result() -> None:
    """One is in the last trial when another comes: a race that ended the search twice."""
    for _ in range(30):
        call, found = FasterWay(lambda is_here: lambda value: value + 1), list[int]()
        threads = [threading.Thread(target=_call_often, args=(call, found)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == sorted(4 * list(range(1, 21)))


def _two_of(shown: list[float]) -> Generator[str, float, str]:
    for way in ("first", "second"):
        shown.append((yield way))
    return "second"


def test_a_search_that_another_thread_has_ended_is_not_gone_on_with() -> None:
    """A thread that saw it open, and was given its turn when the other had ended it."""
    shown: list[float] = []
    search = Autotune(_two_of(shown))
    assert (search.begin(), search.begin()) == ("first", None), "two trials at a time"
    assert not search.tell(1.0)
    assert search.current == "second"
    assert search.tell(2.0)
    assert not search.tell(3.0)
    search.end()
    assert (search.begin(), search.current, shown) == (None, "second", [1.0, 2.0])


def test_a_search_that_an_interrupt_has_ended_keeps_the_first_way() -> None:
    ways = _two_of([])
    search = Autotune(ways)
    ways.close()
    assert search.begin() == "first"
    assert search.tell(1.0)
    search.end()
    assert search.found == "first"
