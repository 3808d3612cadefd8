"""Gradients that share a call: by the vendor's documents and by what a cycle, a type or a group forbids."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow.compat.v1 as tf
from hypothesis import given
from hypothesis import strategies as st

from npu_runtime.analysis.gradient_split import parts_of
from npu_runtime.config import GradientSplit
from npu_runtime.graph.disjoint import DisjointSets
from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.verify import verify
from npu_runtime.passes.fuse.fuse_all_reduces import ALL_REDUCE, fuse_all_reduces, order_all_reduces
from npu_runtime.passes.place.partition import partition
from npu_runtime.passes.simplify.eliminate_noops import eliminate_noops
from npu_runtime.passes.simplify.fold_constants import fold_constants
from npu_runtime.passes.simplify.forward_identities import forward_identities
from tests.passes.graphs import imported

WORLD = "hccl_world_group"


def _resnet_50() -> list[int]:
    """Bytes of the gradients of ResNet-50 as they are made, from the last layer to the first.  Source: He et al., 2015."""
    sizes = [7 * 7 * 3 * 64, 64, 64]
    wide = 64
    for blocks, narrow in ((3, 64), (4, 128), (6, 256), (3, 512)):
        for block in range(blocks):
            shortcut = [] if block else [wide * 4 * narrow]
            for weights, channels in (
                *((one, 4 * narrow) for one in shortcut), (wide * narrow, narrow), (9 * narrow * narrow, narrow),
                (4 * narrow * narrow, 4 * narrow),
            ):  # fmt: skip
                sizes += [weights, channels, channels]
            wide = 4 * narrow
    return [4 * size for size in reversed([*sizes, 2048 * 1000, 1000])]


def test_the_default_is_the_best_split_of_resnet_50():
    """The vendor: 96.54 and 3.46 % are the best place to cut ResNet-50, and a log of the default cut says [0,107] [108,159].

    That network is not named and has a gradient less in its second part than this one, which has 161.
    """
    sizes = _resnet_50()
    assert sum(sizes) == 4 * 25_557_032, "as published with the weights"
    first, second = parts_of(sizes, GradientSplit())
    shares = [100 * sum(sizes[position] for position in part) / sum(sizes) for part in (first, second)]
    assert [round(share, 2) for share in shares] == [96.54, 3.46]
    assert (first[0], first[-1], second[0]) == (0, 107, 108)


@pytest.mark.parametrize(
    ("sizes", "split", "parts"),
    [
        ([1 << 20] * 150, GradientSplit(percent=(60, 20, 20)), [(0, 89), (90, 119), (120, 149)]),
        ([8] * 160, GradientSplit(indices=(20, 100, 159)), [(0, 20), (21, 100), (101, 159)]),
        ([8] * 160, GradientSplit(indices=(20, 100)), [(0, 20), (21, 100), (101, 159)]),
        ([8] * 21, GradientSplit(indices=(20, 100, 159)), [(0, 20)]),
        ([8, 8], GradientSplit(), [(0, 1)]),
        ([80, 10, 10], GradientSplit(percent=(20, 20, 60)), [(0, 0), (1, 1), (2, 2)]),
        ([40, 20, 40], GradientSplit(percent=(50, 50)), [(0, 0), (1, 2)]),
    ],
    ids=["150 MB as 90, 30 and 30", "160 in three", "rest", "fewer", "one part", "one each", "earlier of two"],
)  # fmt: skip
def test_parts_are_those_of_the_documented_examples(sizes: list[int], split: GradientSplit, parts: list[tuple[int, int]]):
    """The first two are the examples of the vendor's documentation; "in some cases, there is only one segment"."""
    assert [(part[0], part[-1]) for part in parts_of(sizes, split)] == parts


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=40), st.lists(st.integers(1, 99), min_size=1, max_size=8))
def test_every_gradient_is_in_one_part(sizes: list[int], weights: list[int]):
    split = GradientSplit(percent=tuple(100 * weight / sum(weights) for weight in weights))
    parts = parts_of(sizes, split)
    assert [position for part in parts for position in part] == list(range(len(sizes)))
    assert all(parts) and len(parts) <= len(weights)


_ASKED: dict[str, dict[str, Any]] = {}
"""Attributes of each all-reduce of the default graph, by the name of the Identity that stands for it until it is imported."""


def _reduced(x: tf.Tensor, reduction: str = "sum", fusion: int = 1, fusion_id: int = -1) -> tf.Tensor:
    made = tf.identity(x, name="HcomAllReduce")
    _ASKED[made.op.name] = {"reduction": reduction, "fusion": fusion, "fusion_id": fusion_id}
    return made


def _as_all_reduces(graph: Graph) -> None:
    for node in graph:
        if node.op == "Identity" and node.name in _ASKED:
            node.op, node.is_stateful = ALL_REDUCE, True
            node.attrs = {"group": WORLD, "ranks": "0,1", "_npu_op": "HcomAllReduce", **_ASKED[node.name]}


def _fused(fetches: list[tf.Tensor], feeds: dict[Any, tuple[int, ...]], split: GradientSplit | None = None) -> Graph:
    graph = imported(fetches, feeds)
    _as_all_reduces(graph)
    order_all_reduces.run(graph)
    fold_constants.run(graph)
    fuse_all_reduces(graph, partition(graph, DisjointSets()), {WORLD: split} if split else {})
    verify(graph)
    return graph


@pytest.fixture(autouse=True)
def nothing_asked():
    _ASKED.clear()


def _calls(graph: Graph) -> list[Node]:
    return [node for node in graph if node.op == ALL_REDUCE]


def _members(graph: Graph) -> list[list[str]]:
    return [list(node.original_names) for node in _calls(graph)]


def _network(n_layers: int = 4) -> tuple[tf.Tensor, list[tf.Tensor]]:
    """(rows, the gradients of the kernels in the order of the layers)."""
    x = tf.placeholder(tf.float32, [8, 10])
    y = x
    for _ in range(n_layers):
        y = tf.layers.dense(y, 10, tf.tanh, use_bias=False)
    return x, tf.gradients(tf.reduce_sum(y), tf.trainable_variables())


@pytest.mark.parametrize(
    ("split", "parts"),
    [
        (GradientSplit(percent=(75, 25)), [[3, 2, 1], [0]]),
        (GradientSplit(percent=(50, 50)), [[3, 2], [1, 0]]),
        (GradientSplit(indices=(0, 3)), [[3], [2, 1, 0]]),
        (None, [[3, 2, 1, 0]]),
    ],
)
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
def test_the_last_layers_come_first_in_whatever_order_the_script_names_them(split: Any, parts: Any, order: list[int]):
    x, gradients = _network()
    made = {number: _reduced(gradients[number], "sum") for number in order}
    wanted = [[made[number].op.name for number in part] for part in parts]
    assert sorted(_members(_fused(list(made.values()), {x: (8, 10)}, split))) == sorted(wanted)


def test_types_groups_reductions_and_a_script_that_forbids_it_are_kept_apart():
    x = tf.placeholder(tf.float32, [4])
    wide = [_reduced(x * number, "sum") for number in (2.0, 3.0)]
    half = [_reduced(tf.cast(x * number, tf.float16), "sum") for number in (2.0, 3.0)]
    alone = [_reduced(x * number, "sum", fusion=0) for number in (4.0, 5.0)]
    largest = [_reduced(x * number, "max") for number in (6.0, 7.0)]
    by_id = [_reduced(x * number, "sum", fusion=2, fusion_id=int(number) % 2) for number in (8.0, 9.0, 10.0)]
    found = _members(_fused([*wide, *half, *alone, *largest, *by_id], {x: (4,)}))
    several = sorted(sorted(names) for names in found if len(names) > 1)
    assert several == sorted(sorted(one.op.name for one in some) for some in (wide, half, [by_id[0], by_id[2]]))


def test_what_waits_for_another_reduction_is_in_a_later_call():
    """Two steps of sums, of which the second reads the first: joined they would wait for themselves."""
    x = tf.placeholder(tf.float32, [4])
    first = [_reduced(x * number, "sum") for number in (2.0, 3.0)]
    second = [_reduced(value * 2.0, "sum") for value in first]
    with tf.control_dependencies([second[0]]):
        third = _reduced(x * 4.0, "sum")
    found = _members(_fused([*second, third], {x: (4,)}))
    assert sorted(map(sorted, found)) == sorted(sorted(t.op.name for t in some) for some in (first, second, [third]))


def test_sizes_that_only_a_run_tells_are_reduced_alone():
    x = tf.placeholder(tf.float32, [4])
    unknown = [_reduced(tf.boolean_mask(x, x > number), "sum") for number in (0.0, 1.0)]
    assert all(len(names) == 1 for names in _members(_fused(unknown, {x: (4,)})))


def test_a_batch_of_one_on_another_rank_is_fused_alike():
    """Gradients of a batch that is repeated are summed: the simplified graphs of both ranks differ, their calls do not."""
    calls = []
    for batch in (1, 8):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [None, 10])
            weight, table = (tf.get_variable(*one, use_resource=True) for one in (("weight", [10, 9]), ("table", [8, 9])))
            y = tf.tanh(tf.matmul(x, weight)) + tf.tanh(tf.tanh(tf.tanh(table)))
            reduced = [_reduced(gradient) for gradient in tf.gradients(tf.reduce_sum(tf.tanh(y)), [weight, table])]
            graph = imported(reduced, {x: (batch, 10)})
            _as_all_reduces(graph)
            order_all_reduces.run(graph)
            for one in (fold_constants, eliminate_noops, forward_identities):
                one.run(graph)
            fuse_all_reduces(graph, partition(graph, DisjointSets()), {})
            calls.append([(node.original_names, node.attrs.get("tag")) for node in _calls(graph)])
    assert calls[0] == calls[1] and len(calls[0]) == 1
