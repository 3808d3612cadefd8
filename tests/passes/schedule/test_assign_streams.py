"""Engines, subgraphs, streams and events: on random graphs by their definition, on real ones by what stands in the log."""

from __future__ import annotations

import sys
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_formats.device.chip import load_chip
from npu_runtime.device.engines import AI_CPU, COLLECTIVE, CORE, LOCAL, RUNTIME, VECTOR, engine_of, stream_limits
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.base import all_kernels
from npu_runtime.passes.schedule.assign_streams import StreamPlan, assign_streams, find_subgraphs
from npu_runtime.session import run_log
from tests.how_many import drawn
from tests.runtime.device import device_of, device_session

OPS = ("MatMul", "Relu", "Unique", "HcomA", "HcomB", "Identity", "Switch", "HostOp")
CHIPS = st.sampled_from(["Ascend910A", "Ascend910B2"]).map(load_chip)
LIMITS = st.dictionaries(st.sampled_from([CORE, VECTOR, AI_CPU, COLLECTIVE]), st.integers(1, 4))


@st.composite
def graphs(draw: Any) -> Graph:
    """Nodes of all engines with data and control edges to earlier ones."""
    graph = Graph()
    for number in range(draw(st.integers(1, 24))):
        op = draw(st.sampled_from(OPS))
        names = [node.name for node in graph]
        chosen = draw(st.lists(st.sampled_from(names), max_size=3, unique=True)) if names else []
        cut = draw(st.integers(0, len(chosen)))
        node = Node(f"n{number}", op, [Value(name) for name in chosen[:cut]], chosen[cut:], outputs=[Spec(())] * 2)
        if op.startswith("Hcom"):
            node.op, node.attrs = "Identity", {"_npu_op": "HcomAllReduce", "group": op}
        node.host_reason = "by hand" if op == "HostOp" else None
        graph.add(node)
    return graph


def planned(graph: Graph, chip: Any, limits: Any = None) -> StreamPlan:
    return assign_streams(graph, list(graph), chip, limits)


def launches_before(graph: Graph, plan: StreamPlan, name: str) -> set[str]:
    """The launched nodes that a node must wait for: its own sources, and those of the local nodes it reads from."""
    found: set[str] = set()
    for source in {value.node for value in graph[name].inputs} | set(graph[name].controls):
        if graph[source].host_reason is None:
            found |= {source} if source in plan.streams else launches_before(graph, plan, source)
    return found


@given(graphs(), CHIPS, LIMITS)
@settings(max_examples=drawn(150), deadline=None)
def test_every_edge_between_streams_has_its_event(graph: Graph, chip: Any, limits: dict[str, int]) -> None:
    plan = planned(graph, chip, limits)
    order = {name: index for index, name in enumerate(graph.nodes)}
    for name in plan.streams:
        for source in launches_before(graph, plan, name):
            if plan.streams[source] != plan.streams[name]:
                assert any(
                    plan.streams[event.records] == plan.streams[source] and order[event.records] >= order[source]
                    and plan.streams[event.waits] == plan.streams[name] and order[event.waits] <= order[name]
                    for event in plan.events
                ), (source, name)  # fmt: skip
    for event in plan.events:
        assert order[event.records] < order[event.waits]
        assert plan.streams[event.records] != plan.streams[event.waits]
        assert event.records in launches_before(graph, plan, event.waits)


@given(graphs(), CHIPS)
@settings(max_examples=drawn(150), deadline=None)
def test_subgraphs_are_of_one_engine_without_cycles_and_maximal(graph: Graph, chip: Any) -> None:
    plan = planned(graph, chip)
    assert sorted(name for members in plan.subgraphs for name in members) == sorted(plan.streams)
    assert all(len({plan.engines[name] for name in members}) == 1 for members in plan.subgraphs)
    number = {name: index for index, members in enumerate(plan.subgraphs) for name in members}
    edges = {(number[s], number[name]) for name in plan.streams for s in launches_before(graph, plan, name)}
    edges = {(a, b) for a, b in edges if a != b}
    assert not has_cycle(edges)
    for a, b in combinations(range(len(plan.subgraphs)), 2):
        same = plan.engines[plan.subgraphs[a][0]] == plan.engines[plan.subgraphs[b][0]]
        if same and {(a, b), (b, a)} & edges:
            merged = {(a if x == b else x, a if y == b else y) for x, y in edges}
            assert has_cycle({(x, y) for x, y in merged if x != y}), "these two could be one"


def has_cycle(edges: set[tuple[int, int]]) -> bool:
    left = set(edges)
    while True:
        sources = {a for a, _ in left} - {b for _, b in left}
        smaller = {(a, b) for a, b in left if a not in sources}
        if len(smaller) == len(left):
            return bool(left)
        left = smaller


@given(graphs(), CHIPS)
@settings(max_examples=drawn(100), deadline=None)
def test_who_gets_which_stream(graph: Graph, chip: Any) -> None:
    plan = planned(graph, chip)
    for name, stream in plan.streams.items():
        node = graph[name]
        if plan.engines[name] in (CORE, VECTOR):
            assert stream == 0
        elif plan.engines[name] == COLLECTIVE:
            alike = {plan.streams[n] for n in plan.streams if graph[n].attrs.get("group") == node.attrs["group"]}
            assert stream > 0
            assert alike == {stream}
    assert set(plan.engines) == {node.name for node in graph if node.host_reason is None}
    assert all(plan.engines[name] != LOCAL for name in plan.streams)


@given(graphs(), CHIPS, LIMITS)
@settings(max_examples=drawn(150), deadline=None)
def test_an_engine_has_as_many_streams_as_it_may(graph: Graph, chip: Any, limits: dict[str, int]) -> None:
    plan, plain = planned(graph, chip, limits), planned(graph, chip)
    assert plan.subgraphs == plain.subgraphs
    for members in plan.subgraphs:
        assert plan.engines[members[0]] == COLLECTIVE or len({plan.streams[name] for name in members}) == 1
    for engine, limit in limits.items():
        subgraphs = [members for members in plan.subgraphs if plan.engines[members[0]] == engine]
        used = {plan.streams[name] for members in subgraphs for name in members}
        assert len(used) <= limit or (engine, limit) == (AI_CPU, 1), "with one stream the AI CPU goes with its neighbours"
        if engine in (CORE, VECTOR, AI_CPU) and limit > 1:
            alone = [m for m in subgraphs if not any(launches_before(graph, plan, name) for name in m)]
            assert len(used) >= min(limit, len(alone))
    if all(limit == 1 for engine, limit in limits.items() if engine != COLLECTIVE) and COLLECTIVE not in limits:
        assert plan.streams == plain.streams


def test_the_option_for_parallel_streams() -> None:
    assert stream_limits("") == ({}, ())
    assert stream_limits("DNN_VM_AICPU:10, AIcoreEngine:1") == ({AI_CPU: 10, CORE: 1}, ())
    limits, notes = stream_limits("DNN_HCCL:2,Warp:3,AIcoreEngine:0,VectorEngine")
    assert limits == {COLLECTIVE: 2}
    assert [note.split(" is left out")[0] for note in notes] == [
        f"stream_max_parallel_num: {part!r}" for part in ("Warp:3", "AIcoreEngine:0", "VectorEngine")
    ]


@pytest.mark.parametrize(("option", "n_streams"), [("", 1), ("DNN_VM_AICPU:1", 1), ("DNN_VM_AICPU:2", 3), ("DNN_VM_AICPU:9", 4)])
def test_a_session_gives_engines_the_streams_of_its_option(option: str, n_streams: int) -> None:
    with tf.Graph().as_default(), device_session(stream_max_parallel_num=option) as session:
        fed = [tf.placeholder(tf.int32, [3]) for _ in range(3)]
        y = tf.add_n([tf.cast(tf.reduce_sum(tf.unique(x)[0]), tf.float32) for x in fed])
        assert session.run(y, {x: [1, 2, 1] for x in fed}) == 9
        assert device_of(session)._state.record.programs[-1].streams["streams"] == n_streams


@pytest.mark.parametrize(
    ("op", "old", "new"),
    [
        ("MatMul", CORE, CORE),
        ("Relu", CORE, VECTOR),
        ("Unique", AI_CPU, AI_CPU),
        ("Reshape", LOCAL, LOCAL),
        ("Merge", RUNTIME, RUNTIME),
    ],
)
def test_engines_follow_table_and_chip(op: str, old: str, new: str) -> None:
    made = all_kernels().get(op)
    unit = made.unit if made else "scalar"
    assert [engine_of(op, {}, unit, load_chip(name)) for name in ("Ascend910A", "Ascend910B2")] == [old, new]


def test_the_dump_of_a_graph_shows_engines_and_streams(tmp_path: Any) -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        w = tf.get_variable("w", [4, 3], use_resource=True)
        with tf.variable_scope("loss"):
            loss = tf.reduce_mean(tf.square(x @ w))
        (gradient,) = tf.gradients(loss, w)
        gradient.op._set_attr("_npu_op", tf.AttrValue(s=b"HcomAllReduce"))
        train = w.assign_sub(gradient).op
        words = tf.as_string(loss, name="words")
        with device_session(dump_graph=str(tmp_path)) as session:
            session.run(tf.global_variables_initializer())
            session.run([train, words], {x: np.ones((2, 4))})
            plan = next(iter(device_of(session)._plans.values()))
        assert plan is not None
    before, after = (next(tmp_path.glob(f"*run_2_shapes_1_{when}.txt")).read_text() for when in ("before", "after"))
    assert "MatMul(^feed/x:0:0, " in before
    assert "host: text is host data" in after
    lines = {line.partition(":")[0]: line for line in after.splitlines()}
    assert "AI Core, stream 0" in next(line for name, line in lines.items() if name.endswith("matmul"))
    collective = gradient.op.name
    assert "HCCL, stream 1, waits for " in lines[collective]
    assert f"waits for {collective}" in next(line for line in lines.values() if "= AssignSubVariableOp" in line)


def test_the_run_log_tells_engines_and_streams() -> None:
    with tf.Graph().as_default(), device_session() as session:
        session.run(tf.unique(tf.placeholder_with_default([1, 2, 1], [3]) + 1))
        record = device_of(session)._state.record.programs[-1]
    assert record.streams == {"nodes": {AI_CPU: 1, CORE: 1, LOCAL: 3}, "subgraphs": 2, "streams": 1, "events": 0}
    log = "\n".join(run_log().summary())
    assert "nodes by engine: AI CPU 1, AI Core 1, local 3; 2 subgraphs, 1 stream, 0 events" in log


def test_a_sum_of_many_terms_is_cut_in_time_that_grows_with_it():
    assert _work_of_a_sum(400) < 2.2 * _work_of_a_sum(200)


def _work_of_a_sum(n: int) -> int:
    """Lines of Python that run."""
    names = [f"n{number}" for number in range(n)]
    engines = dict.fromkeys([*names, "sum"], VECTOR)
    sources = {**dict.fromkeys(names, frozenset()), "sum": frozenset(names)}
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert len(find_subgraphs([*names, "sum"], engines, sources)) == 1
    finally:
        sys.settrace(before)
    return count
