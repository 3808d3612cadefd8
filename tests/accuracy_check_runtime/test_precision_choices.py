"""The least change of precision: planted faults are found, and the files that are written mend them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_formats.delta_debugging import MinimalSubset, minimal_subset
from npu_formats.device.chip import load_chip
from npu_formats.device.op_table import BLACK, tensorflow_ops
from npu_runtime.analysis.minimal_settings import LeastChange, with_files
from npu_runtime.analysis.precision_choices import (
    MOST_NODES,
    ReducedNode,
    mixlist_with_black,
    precision_candidates,
    precision_change,
    reduced_nodes,
    type_change,
    with_precision_choice,
)
from npu_runtime.analysis.precision_policy import load_policy, read_mixlist
from npu_runtime.config import RuntimeConfig, load_config
from npu_runtime.session import DeviceSession, Request, run_log
from tests.accuracy_check_runtime.faulty_networks import FORCED, MIXED, NETWORKS, Network

TOLERANCE = 0.01
"""Of a loss beside that of TensorFlow's CPU."""


@dataclass
class Trial:
    """A network on the device.  right: TensorFlow's losses."""

    device: DeviceSession
    initialise: Request
    step: Request
    feeds: list[np.ndarray]
    right: list[float]
    config: RuntimeConfig

    def losses(self) -> list[float]:
        self.device.run(self.initialise, [])
        return [float(self.device.run(self.step, self.feeds)[0]) for _ in self.right]

    def is_right(self) -> bool:
        return bool(np.allclose(self.losses(), self.right, rtol=TOLERANCE, atol=0))

    def mends(self, config: RuntimeConfig) -> bool:
        """Whether a config gives these losses. Of the first step nothing is updated: its loss is known before."""
        self.device.reconfigure(config)
        if len(self.right) > 1:
            return self.is_right()
        self.device.run(self.initialise, [])
        (found,) = self.device.run(Request(self.step.fetches, (), self.step.feeds), self.feeds)
        return bool(np.allclose(found, self.right, rtol=TOLERANCE, atol=0))

    def nodes(self) -> list[ReducedNode]:
        self.device.reconfigure(self.config)
        return reduced_nodes(self.device.typed_graph(self.step))


@contextmanager
def trial(network: Network, verify: str = "off") -> Iterator[Trial]:
    with tf.Graph().as_default() as graph:
        loss, train = network.build()
        start, feeds = tf.global_variables_initializer(), network.feeds()
        with tf.Session() as session:
            session.run(start)
            right = [float(session.run([loss, train], feeds)[0]) for _ in range(network.n_losses)]
        config = load_config({"precision_mode": network.mode, "verify": verify}, {})
        device = DeviceSession(graph, tf.ConfigProto(), config)
        step = Request((loss.name,), (train.name,), tuple(feeds))
        yield Trial(device, Request((), (start.name,), ()), step, list(feeds.values()), right, config)
        device.close()
    run_log().clear()


@pytest.mark.whole(
    but=(
        "product_mixed",
        "epsilon_forced",
    )
)
@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_the_nodes_of_a_planted_fault_are_found_and_their_file_mends_it(network: Network, tmp_path: Path, record_property: Any):
    with trial(network) as one:
        assert not one.is_right()
        nodes = one.nodes()
        assert len(nodes) > 100 and set(network.planted) <= {node.name for node in nodes}

        def mends(chosen: frozenset[str]) -> bool:
            return one.mends(with_precision_choice(one.config, chosen))

        assert mends(frozenset(network.planted))
        found = minimal_subset(precision_candidates(nodes), mends)
        assert found.names and found.is_minimal and len(found.names) <= len(network.planted)
        most = 12 * len(found.names) * math.log2(len(nodes))
        assert found.n_tests <= most
        change = precision_change(found, nodes, one.config, {})
        with_types = type_change(found.groups, nodes, one.config, {})
        session_config = one.config
    assert change.kind == "nodes" and set(change.names) == set(found.names) and list(change.files) == ["customize_dtypes.cfg"]
    assert run_with(network, with_files(session_config, change, tmp_path / "nodes"))
    assert run_with(network, with_files(session_config, with_types, tmp_path / "types"))
    line = f"{network.name}: {len(found.names)} of {len(nodes)} nodes found by {found.n_tests} runs of {most:.0f}"
    record_property("figure", f"{line}: {', '.join(change.names)}")


def run_with(network: Network, config: RuntimeConfig) -> bool:
    """Whether a session that has only the files is right."""
    with trial(network) as one:
        session = DeviceSession(tf.get_default_graph(), tf.ConfigProto(), config)
        try:
            return replace(one, device=session).is_right()
        finally:
            session.close()


@pytest.mark.parametrize("network", [one for one in NETWORKS if len(one.planted) > 1], ids=lambda network: network.name)
def test_no_part_of_what_is_planted_suffices(network: Network):
    with trial(network, verify="on") as one:
        for left_out in network.planted:
            assert not one.mends(with_precision_choice(one.config, set(network.planted) - {left_out}))


def test_what_is_tried_and_what_the_file_says_are_one(tmp_path: Path):
    network = NETWORKS[0]
    with trial(network) as one:
        nodes = one.nodes()
        for chosen in ([nodes[3].name], [node.name for node in nodes[::2]]):
            found = MinimalSubset(tuple(chosen), (), True, "", 1)
            change = precision_change(found, nodes, one.config, {})
            one.device.reconfigure(with_precision_choice(one.config, chosen))
            tried = one.losses()
            one.device.reconfigure(with_files(one.config, change, tmp_path))
            assert one.losses() == tried


def test_nodes_of_loops_are_found_by_the_names_of_the_users_graph():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [4, 4], "x")
        _, result = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.matmul(y, y, name="square") * 0.001), [0, x])
        config = load_config({"precision_mode": MIXED}, {})
        device = DeviceSession(graph, tf.ConfigProto(), config)
        step, fed = Request((result.name,), (), ("x:0",)), np.full([4, 4], 200, np.float32)
        with tf.Session() as session:
            right = session.run(result, {x: fed})

        def mends(chosen: frozenset[str]) -> bool:
            device.reconfigure(with_precision_choice(config, chosen))
            return bool(np.allclose(device.run(step, [fed])[0], right, rtol=TOLERANCE))

        nodes = reduced_nodes(device.typed_graph(step))
        assert {node.op for node in nodes} == {"MatMulV2", "Mul"}
        assert all(graph.get_operation_by_name(node.name) for node in nodes)
        assert minimal_subset(precision_candidates(nodes), mends).names == ("while/square",)
        device.close()
    run_log().clear()


def test_a_suspect_is_found_where_several_nodes_would_do():
    (network,) = [one for one in NETWORKS if one.name == "variance_mixed"]
    with trial(network) as one:
        candidates = precision_candidates(one.nodes(), network.planted)
        assert candidates[0].name == network.planted[0] and len(set(candidates)) == len(one.nodes())
        found = minimal_subset(candidates, lambda chosen: one.mends(with_precision_choice(one.config, chosen)))
        assert found.names == network.planted


def test_no_node_of_the_graphs_own_types_is_a_candidate():
    with trial(NETWORKS[0]) as one:
        everything = [node.name for node in one.nodes()]
        one.device.reconfigure(with_precision_choice(one.config, everything))
        assert reduced_nodes(one.device.typed_graph(one.step)) == []
        one.device.reconfigure(load_config({}, {}))
        assert reduced_nodes(one.device.typed_graph(one.step)) == []
        assert np.allclose(one.losses(), one.right, rtol=1e-5)


def test_of_too_many_nodes_whole_operators_are_named():
    node = ReducedNode("a", "Mul", ("float32", "float32"), ("float32",))
    nodes = [node._replace(name=f"n{i}") for i in range(MOST_NODES + 1)]
    found = MinimalSubset(tuple(node.name for node in nodes), ("Mul",), True, "", 9)
    mixed = load_config({"precision_mode": MIXED}, {})
    change = precision_change(found, nodes, mixed, {})
    assert (change.kind, change.names) == ("types", ("Mul",))
    assert json.loads(change.files["modify_mixlist.json"]) == {"black-list": {"to-add": ["Mul"]}}
    forced = precision_change(found, nodes, load_config({"precision_mode": FORCED}, {}), {})
    assert forced.files == {"customize_dtypes.cfg": "OpType::Mul:InputDtype:float32,float32,OutputDtype:float32\n"}


def test_types_stand_for_every_input_and_those_of_a_session_stay(tmp_path: Path):
    node = ReducedNode("scope/sum", "ReduceSum", ("float32", "int32"), ("float32",))
    found = MinimalSubset(("scope/sum",), ("ReduceSum",), True, "", 9)
    theirs = "OpType::Mul:InputDtype:float16,float16,OutputDtype:float16\nscope/sum::InputDtype:float16,OutputDtype:float16\n"
    before = {"customize_dtypes.cfg": theirs}
    config = load_config({"precision_mode": MIXED}, {})
    change = precision_change(found, [node], config, before)
    assert change.files["customize_dtypes.cfg"].splitlines() == [
        "OpType::Mul:InputDtype:float16,float16,OutputDtype:float16",
        "scope/sum::InputDtype:float32,int32,OutputDtype:float32",
    ]
    types = load_policy(with_files(config, change, tmp_path), load_chip("Ascend910A")).customized
    assert types.of("scope/sum", tensorflow_ops()["Sum"]) == ("float32", "float32")
    assert types.of("another", tensorflow_ops()["Mul"]) == ("float16", "float16")


def test_an_operator_leaves_the_lists_that_a_session_has_put_it_on(tmp_path: Path):
    before = {"white-list": {"to-add": ["Mul", "MatMul", "Exp"]}, "black-list": {"to-add": ["Add"], "to-remove": ["Mul"]}}
    ops = ("Mul", "MatMulV2")
    change = LeastChange("types", ops, {"modify_mixlist.json": mixlist_with_black(ops, json.dumps(before))})
    config = with_files(load_config({"precision_mode": MIXED}, {}), change, tmp_path)
    lists, unknown = read_mixlist(config.precision.mixlist)
    assert lists["Mul"] == lists["MatMulV2"] == BLACK and lists["Add"] == BLACK and lists["Exp"] == "white" and unknown == []
    assert load_policy(config, load_chip("Ascend910A")).lists == lists
    assert load_config(config.parameters, {}) == config, "what a script's options or the launcher's say is the same"
