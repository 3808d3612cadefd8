"""Ranks, groups, cuts, and collectives on one rank."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf


@pytest.fixture(autouse=True)
def no_groups():
    from hccl import _groups

    yield
    _groups.clear()


def test_ranks_come_from_the_environment(monkeypatch):
    from hccl.manage import api

    assert (api.get_rank_size(), api.get_rank_id(), api.get_local_rank_size(), api.get_local_rank_id()) == (1, 0, 1, 0)
    monkeypatch.setenv("RANK_SIZE", "8")
    monkeypatch.setenv("RANK_ID", "5")
    assert (api.get_rank_size(), api.get_rank_id(), api.get_local_rank_id()) == (8, 5, 5)
    monkeypatch.setenv("RANK_SIZE", "eight")
    with pytest.raises(ValueError, match="RANK_SIZE must be a number"):
        api.get_rank_size()


def test_groups(monkeypatch):
    from hccl.manage import api

    monkeypatch.setenv("RANK_SIZE", "4")
    monkeypatch.setenv("RANK_ID", "2")
    api.create_group("pair", 2, [2, 0])
    assert api.get_rank_size("pair") == 2 and api.get_rank_id("pair") == 0
    assert api.get_world_rank_from_group_rank("pair", 1) == 0
    assert api.get_group_rank_from_world_rank(0, "pair") == 1
    api.destroy_group("pair")
    with pytest.raises(ValueError, match="no group"):
        api.get_rank_size("pair")


@pytest.mark.parametrize(
    "arguments",
    [(1, 1, [0]), ("", 1, [0]), ("g" * 128, 1, [0]), ("g", 0, []), ("g", "1", [0]), ("g", 1, (0,)), ("g", 2, [0]), ("g", 1, [-1]),
     ("g", 1, [1]), ("g", 1, [7]), ("hccl_world_group", 1, [0])],
)  # fmt: skip
def test_misuse_of_create_group(arguments, monkeypatch):
    from hccl.manage import api

    monkeypatch.setenv("RANK_SIZE", "2")
    with pytest.raises(ValueError):
        api.create_group(*arguments)


def test_other_misuse_of_groups():
    from hccl.manage import api

    api.create_group("one", 1, [0])
    for call in (
        lambda: api.create_group("one", 1, [0]), lambda: api.destroy_group("hccl_world_group"), lambda: api.destroy_group("none"),
        lambda: api.get_rank_id("none"), lambda: api.get_world_rank_from_group_rank("one", -1),
        lambda: api.get_world_rank_from_group_rank("one", 3), lambda: api.get_group_rank_from_world_rank("0", "one"),
        lambda: api.get_rank_size(3),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            call()


def test_cuts():
    from hccl.split import api

    api.set_split_strategy_by_idx([20, 159])
    assert api.split_of() == ("index", [20, 159])
    api.set_split_strategy_by_size([60, 20.5, 19.5])
    assert api.split_of() == ("size", [60, 20.5, 19.5])
    for wrong in ([], (1, 2), [2, 1], [1, 1], [-1, 2], [2**32], list(range(9)), ["1"], [1.5]):
        with pytest.raises(ValueError):
            api.set_split_strategy_by_idx(wrong)
    for wrong in ([], (60, 40), [60, 30], [110, -10], ["60", "40"], [12.5] * 7 + [6.25] * 2):
        with pytest.raises(ValueError):
            api.set_split_strategy_by_size(wrong)


def test_collectives_of_one_rank_are_identities_with_gradients(plain_session):
    from npu_bridge.hccl import hccl_ops

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    for y in (
        hccl_ops.allreduce(x, "sum"), hccl_ops.allgather(x, 1), hccl_ops.reduce(x, "max", 0),
        hccl_ops.reduce_scatter(x, "sum", 1), hccl_ops.broadcast([x], 0)[0],
    ):  # fmt: skip
        value, slope = plain_session.run([y, tf.gradients(y * y, x)[0]])
        np.testing.assert_array_equal(value, [[1, 2], [3, 4]])
        np.testing.assert_array_equal(slope, [[2, 4], [6, 8]])
        assert y.op.get_attr("_npu_op").startswith(b"Hcom") and y.shape == x.shape
    assert plain_session.run(hccl_ops.allreduce([x], "sum")).shape == (1, 2, 2)


def test_broadcast_takes_and_gives_lists(plain_session):
    from npu_bridge.hccl import hccl_ops

    variables = [tf.Variable([1.0, 2.0]), tf.Variable(3, dtype=tf.int32), tf.Variable(True)]
    outputs = hccl_ops.broadcast(variables, 0)
    plain_session.run(tf.global_variables_initializer())
    assert isinstance(outputs, list) and isinstance(outputs[0].op, tf.Operation)
    assert [np.asarray(v).tolist() for v in plain_session.run(outputs)] == [[1.0, 2.0], 3, True]
    with pytest.raises(TypeError, match="list"):
        hccl_ops.broadcast(tf.ones([2]), 0)


def test_exchange_with_oneself(plain_session):
    from npu_bridge.hccl import hccl_ops

    send, receive = hccl_ops.send(tf.constant([1, 2]), 7, 0), hccl_ops.receive([2], tf.int32, 7, 0)
    plain_session.run(send)
    assert plain_session.run(receive).tolist() == [1, 2]
    data = tf.constant([5.0, 6.0, 7.0])
    part = hccl_ops.all_to_all_v(
        data, tf.constant([2], tf.int64), tf.constant([1], tf.int64), tf.constant([2], tf.int64), tf.constant([0], tf.int64)
    )
    assert plain_session.run(part).tolist() == [6.0, 7.0]
    assert plain_session.run(hccl_ops.all_to_all_v_c(data, tf.constant([[2]], tf.int64), 0)).tolist() == [5.0, 6.0]


def test_misuse_of_collectives(graph, monkeypatch):
    from npu_bridge.hccl import hccl_ops

    x = tf.ones([2])
    for call, error in (
        (lambda: hccl_ops.allreduce(x, "mean"), ValueError), (lambda: hccl_ops.allreduce(x, "sum", fusion=5), ValueError),
        (lambda: hccl_ops.allreduce(x, "sum", fusion=2, fusion_id=-1), ValueError),
        (lambda: hccl_ops.allreduce(tf.constant("a"), "sum"), TypeError), (lambda: hccl_ops.allgather(x, 4), ValueError),
        (lambda: hccl_ops.send(x, 1, 3), ValueError), (lambda: hccl_ops.remote_read(x, tf.float32), RuntimeError),
        (lambda: hccl_ops.allreduce(x, "sum", group="none"), ValueError),
    ):  # fmt: skip
        with pytest.raises(error):
            call()
    monkeypatch.setenv("RANK_SIZE", "2")
    with pytest.raises(
        RuntimeError, match="RANK_SIZE=2, but nobody has started the other ranks: `tf2npu run --devices 2 SCRIPT`"
    ):
        hccl_ops.allreduce(x, "sum")
