"""Collective operations between ranks that are threads here, against numpy over all that they bring."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from npu_runtime.collectives import rendezvous, shm_transport
from npu_runtime.collectives.collective_call import Call
from npu_runtime.collectives.communicator import Communicator, communicator
from npu_runtime.collectives.coordinator import Coordinator
from npu_runtime.errors import FailedPrecondition
from tests.how_many import drawn

DTYPES = ("float32", "int32", "int64", "int8")
NUMPY = {"sum": np.sum, "prod": np.prod, "min": np.min, "max": np.max}


@pytest.fixture(scope="module")
def coordinator(tmp_path_factory):
    made = Coordinator(tmp_path_factory.mktemp("memory"))
    yield made
    made.close()


class World:
    """Ranks in threads of their own; each keeps its connections."""

    def __init__(self, coordinator: Coordinator, n_ranks: int) -> None:
        self.ranks = [Communicator(coordinator.address, rank) for rank in range(n_ranks)]
        self._pool = ThreadPoolExecutor(n_ranks)

    def call(self, call: Call, *brought):
        """Results of each rank of the group, in its order.  brought: by rank of the group, an array or several."""
        arrays = [item if isinstance(item, (list, tuple)) else [item] for item in brought]
        waits = [self._pool.submit(self.ranks[rank].exchange, call, own) for rank, own in zip(call.ranks, arrays, strict=True)]
        return [wait.result(30) for wait in waits]


@pytest.fixture(scope="module")
def world(coordinator):
    return World(coordinator, 4)


def arrays_of(draw, shape, n_ranks):
    dtype = draw(st.sampled_from(DTYPES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return [(rng.standard_normal(shape) * 4).astype(dtype) for _ in range(n_ranks)]


@settings(deadline=None, max_examples=drawn(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_reductions_gathers_and_broadcasts(world, data):
    """Also those that travel beside the message, and groups in another order than the world."""
    ranks = tuple(data.draw(st.permutations(range(4)))[: data.draw(st.integers(2, 4))])
    n_ranks, root = len(ranks), data.draw(st.integers(0, len(ranks) - 1))
    rows = n_ranks * data.draw(st.sampled_from([1, 2, 5000]))
    brought = arrays_of(data.draw, (rows, data.draw(st.integers(1, 3))), n_ranks)
    stack, reduction = np.stack(brought), data.draw(st.sampled_from(sorted(NUMPY)))
    wanted = NUMPY[reduction](stack, axis=0, dtype=stack.dtype) if reduction in ("sum", "prod") else NUMPY[reduction](stack, 0)
    close = {"rtol": 2e-6, "atol": 1e-5}  # numpy may add four numbers in another order
    for got in (everybody := world.call(Call("HcomAllReduce", ranks, reduction), *brought)):
        np.testing.assert_allclose(got, wanted, **close)
        assert got.dtype == stack.dtype and got.tobytes() == everybody[0].tobytes()
    got = world.call(Call("HcomReduce", ranks, reduction, root), *brought)
    np.testing.assert_allclose(got[root], wanted, **close)
    got = world.call(Call("HcomReduceScatter", ranks, reduction), *brought)
    np.testing.assert_allclose(np.concatenate(got), wanted, **close)
    for got in world.call(Call("HcomAllGather", ranks), *brought):
        np.testing.assert_array_equal(got, np.concatenate(brought))
    for got in world.call(Call("HcomBroadcast", ranks, root=root), *brought):
        np.testing.assert_array_equal(got, brought[root])


@settings(deadline=None, max_examples=drawn(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_exchanges_of_parts(world, data):
    """The matrix of what each rank sends to each, in both forms; what arrives is the column of the receiver."""
    n_ranks = data.draw(st.integers(2, 4))
    ranks = tuple(range(n_ranks))
    counts = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n_ranks**2, max_size=n_ranks**2))).reshape(n_ranks, n_ranks)
    parts = [[np.full(counts[i, j], 10.0 * i + j, np.float32) for j in ranks] for i in ranks]
    wanted = [np.concatenate([parts[i][j] for i in ranks]) for j in ranks]
    data_of = [np.concatenate(row) for row in parts]
    for got, column in zip(world.call(Call("HcomAllToAllVC", ranks), *[(d, counts) for d in data_of]), wanted, strict=True):
        np.testing.assert_array_equal(got, column)

    def places(numbers):
        return np.cumsum(numbers) - numbers

    brought = [(data_of[i], counts[i], places(counts[i]), counts[:, i], places(counts[:, i])) for i in ranks]
    for got, column in zip(world.call(Call("HcomAllToAllV", ranks), *brought), wanted, strict=True):
        np.testing.assert_array_equal(got, column)


def test_messages_wait_for_their_receiver_and_keep_their_order(world):
    def call(op, tag):
        return Call(op, (0, 1), tag=tag)

    first, second, other = (np.full(3, value, np.float32) for value in (1, 2, 3))
    sender, receiver = world.ranks[:2]
    for tag, value in ((1, first), (1, second), (2, other)):
        sender.exchange(call("HcomSend", tag), [value])
    got = [receiver.exchange(call("HcomReceive", tag), [np.zeros(3, np.float32)])[0] for tag in (2, 1, 1)]
    assert got == [3.0, 1.0, 2.0]
    sender.exchange(call("HcomSend", 1), [first])
    with pytest.raises(FailedPrecondition, match=r"expects float32\[2\], rank 0 has sent float32\[3\]"):
        receiver.exchange(call("HcomReceive", 1), [np.zeros(2, np.float32)])


@pytest.mark.parametrize(
    ("calls", "brought", "said"),
    [
        ([Call("HcomAllReduce", (0, 1), "sum")] * 2, [np.zeros(2), np.zeros(3)], r"0 float64\[2\], rank 1 float64\[3\]"),
        ([Call("HcomAllReduce", (0, 1), "sum")] * 2, [np.zeros(2), np.zeros(2, int)], "rank 1 int64"),
        (
            [Call("HcomAllReduce", (0, 1), "sum"), Call("HcomBroadcast", (0, 1), root=0)], [np.zeros(2), np.zeros(2)],
            "different operations at the same time: rank 0 HcomAllReduce sum; rank 1 HcomBroadcast root 0",
        ),
        ([Call("HcomReduceScatter", (0, 1), "sum")] * 2, [np.zeros(3), np.zeros(3)], "divides by 2 ranks"),
    ],
)  # fmt: skip
def test_ranks_that_do_not_fit_are_told_all_of_them(world, calls, brought, said):
    waits = [world._pool.submit(world.ranks[i].exchange, calls[i], [brought[i]]) for i in range(2)]
    for wait in waits:
        with pytest.raises(FailedPrecondition, match=said):
            wait.result(30)
    np.testing.assert_array_equal(world.call(Call("HcomAllReduce", (0, 1), "sum"), np.ones(2), np.ones(2))[0], [2, 2])


def test_nobody_waits_for_a_rank_that_has_ended(tmp_path):
    coordinator = Coordinator(tmp_path)
    one = Communicator(coordinator.address, 0)
    threading.Timer(0.2, coordinator.leave, (1, "has ended with exit code 3")).start()
    said = "HcomAllReduce sum waits for rank 1, which has ended with exit code 3; every rank has to run the same steps"
    for _ in range(2):
        with pytest.raises(FailedPrecondition, match=said):
            one.exchange(Call("HcomAllReduce", (0, 1), "sum"), [np.ones(2)])
    with pytest.raises(FailedPrecondition, match="waits for rank 1, which has ended"):
        one.exchange(Call("HcomReceive", (1, 0), tag=4), [np.ones(2)])
    coordinator.close()


def test_the_socket_is_in_the_folder_that_goes_with_the_run(tmp_path):
    """A launcher that is killed leaves nothing that the next one does not find: see npu_formats.ranks.shared_folder."""
    coordinator = Coordinator(tmp_path)
    coordinator.leave(1, "has ended")
    with pytest.raises(FailedPrecondition, match="waits for rank 1"):
        Communicator(coordinator.address, 0).exchange(Call("HcomAllReduce", (0, 1), "sum"), [np.ones(2)])
    assert [path.is_socket() for path in tmp_path.iterdir()] == [True]
    coordinator.close()
    assert not list(tmp_path.iterdir())


def test_a_wait_has_an_end(tmp_path, monkeypatch):
    monkeypatch.setenv("HCCL_EXEC_TIMEOUT", "0.3")
    coordinator = Coordinator(tmp_path)
    one, begun = Communicator(coordinator.address, 0), time.monotonic()
    with pytest.raises(FailedPrecondition, match=r"has waited 0\.3 s for rank 1, 2 \(HCCL_EXEC_TIMEOUT\)"):
        one.exchange(Call("HcomAllReduce", (0, 1, 2), "sum"), [np.ones(2)])
    assert time.monotonic() - begun < 60
    coordinator.close()


def test_groups_do_not_wait_for_each_other(world):
    """Two threads of a rank in two groups, whose other members come in the opposite order."""
    first, second = (Call("HcomAllReduce", (0, other), "sum") for other in (2, 3))
    waits = [world._pool.submit(world.ranks[0].exchange, call, [np.ones(1)]) for call in (first, second)]
    world.ranks[3].exchange(second, [np.ones(1)])
    world.ranks[2].exchange(first, [np.ones(1)])
    assert [wait.result(30)[0] for wait in waits] == [2.0, 2.0]


def test_many_calls_of_large_arrays_are_never_mixed_up(world):
    """The memory that arrays travel through is used again by a rank that is ahead of the others."""
    call = Call("HcomBroadcast", (0, 1, 2, 3), root=2)
    done = threading.Barrier(4)
    wrong: list[tuple[int, int]] = []

    def rank(number: int) -> None:
        for turn in range(60):
            got = world.ranks[number].exchange(call, [np.full(20_000 + turn, number + 10 * turn, np.float32)])
            if not (got == 2 + 10 * turn).all():
                wrong.append((number, turn))
        done.wait(30)

    for thread in (threads := [threading.Thread(target=rank, args=(i,)) for i in range(4)]):
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == [] and not any(thread.is_alive() for thread in threads)


def test_files_in_memory_have_no_name_once_both_sides_have_them(tmp_path):
    coordinator = Coordinator(tmp_path)
    world = World(coordinator, 2)
    for n_elements in (20_000, 40_000):
        world.call(Call("HcomAllReduce", (0, 1), "sum"), np.ones(n_elements), np.ones(n_elements))
        assert not [path for path in tmp_path.iterdir() if path.is_file()]
    coordinator.close()


def test_who_is_interrupted_waits_no_longer_and_is_not_given_an_old_answer(coordinator):
    one, other = (Communicator(coordinator.address, rank) for rank in range(2))
    call = Call("HcomAllReduce", (0, 1), "sum")

    def look() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        one.exchange(call, [np.ones(2)], look)
    np.testing.assert_array_equal(other.exchange(call, [np.ones(2)]), [2, 2])
    with pytest.raises(FailedPrecondition, match="this rank has left a call before its end"):
        one.exchange(call, [np.ones(2)])


def test_counts_that_fit_no_array_are_told_to_all(world):
    call = Call("HcomAllToAllV", (0, 1))
    fitting, wrong = [np.arange(4.0), *[np.array([0, 2])] * 4], [np.arange(4.0), *[np.array([0, 2, 3])] * 3, np.array([0, 2])]
    waits = [world._pool.submit(world.ranks[i].exchange, call, brought) for i, brought in enumerate((fitting, wrong))]
    for wait in waits:
        with pytest.raises(FailedPrecondition, match="HcomAllToAllV: "):
            wait.result(30)


def test_a_long_sum_holds_up_no_other_group(world, monkeypatch):
    begun, may_end = threading.Event(), threading.Event()
    combine = rendezvous.combine

    def long(call, brought):
        if call.ranks == (0, 1):
            begun.set()
            assert may_end.wait(30)
        return combine(call, brought)

    monkeypatch.setattr(rendezvous, "combine", long)
    first, second = (Call("HcomAllReduce", ranks, "sum") for ranks in ((0, 1), (2, 3)))
    waits = [world._pool.submit(world.ranks[i].exchange, first, [np.ones(1)]) for i in (0, 1)]
    try:
        assert begun.wait(30)
        assert [got[0] for got in world.call(second, np.ones(1), np.ones(1))] == [2.0, 2.0]
    finally:
        may_end.set()
    assert [wait.result(30)[0] for wait in waits] == [2.0, 2.0]


def test_without_room_arrays_go_with_the_message(coordinator, monkeypatch):
    def full(folder, name, n_bytes):
        raise OSError("no space left")

    monkeypatch.setattr(shm_transport, "_made", full)
    world = World(coordinator, 2)
    brought = [np.arange(50_000.0), np.ones(50_000)]
    np.testing.assert_array_equal(world.call(Call("HcomAllReduce", (0, 1), "max"), *brought)[1], np.maximum(*brought))


def test_a_stranger_is_not_let_in(coordinator):
    _, folder = coordinator.address.split("|")
    with pytest.raises(FailedPrecondition, match="this run's key is another one"):
        Communicator(f"{'00' * 32}|{folder}", 0).exchange(Call("HcomAllReduce", (0, 1), "sum"), [np.ones(1)])


def test_a_process_alone_is_told_what_to_do(monkeypatch):
    monkeypatch.delenv("TF2NPU_COLLECTIVES", raising=False)
    communicator.cache_clear()
    with pytest.raises(FailedPrecondition, match="--devices N"):
        communicator()


def test_who_waits_for_whom_is_noted(tmp_path):
    made = Coordinator(tmp_path)
    world = World(made, 3)
    call = Call("HcomAllReduce", (0, 1, 2), "sum")

    def late(rank: int) -> None:
        time.sleep(0.3 * (rank == 1))
        world.ranks[rank].exchange(call, [np.ones(1)])

    for _ in range(2):
        list(world._pool.map(late, range(3)))
    document = made._waiting.document()
    made.close()
    ((rank, times, seconds),) = document["last"]
    assert (document["calls"], rank, times) == (2, 1, 2) and 1.1 < seconds < 10, "two ranks, 0.3 s each, twice"


def test_a_forked_process_says_nothing_at_its_end(coordinator, capfd):
    """It has the lines of its parent, whose next call would get the wrong answer."""
    world = World(coordinator, 2)
    call = Call("HcomAllReduce", (0, 1), "sum")
    world.call(call, np.ones(2), np.ones(2))
    child = os.fork()
    if child == 0:
        world.ranks[0].finish()
        os._exit(0)
    os.waitpid(child, 0)
    assert capfd.readouterr().err == ""
    world.ranks[0].finish()
    assert "2 ranks have met" in capfd.readouterr().err
