"""The loop frames of TensorFlow 1: which nodes lie inside which while loop."""

from __future__ import annotations

from collections.abc import Mapping

from npu_runtime.graph.disjoint import DisjointSets
from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.ops import ENTERS, EXITS
from npu_runtime.graph.order import followers, predecessors


def loop_frames(graph: Graph) -> dict[str, str]:
    """The outermost loop frame of every node inside one, by node name; Enter and Exit belong to their loop.

    Source: TensorFlow's executor enters a frame at Enter (attribute frame_name) and leaves it at Exit.
    """
    if not any(node.op in ENTERS for node in graph):
        return {}
    stacks: dict[str, tuple[str, ...]] = {}
    work = [node.name for node in graph if not predecessors(node)]
    after = followers(graph)
    stacks.update((name, ()) for name in work)
    while work:
        name = work.pop()
        outside = _frame_after(graph[name], stacks[name])
        for follower in after.get(name, ()):
            if follower not in stacks or len(outside) > len(stacks[follower]):
                stacks[follower] = outside
                work.append(follower)
    return _outermost(graph, stacks)


def loop_groups(frames: Mapping[str, str]) -> DisjointSets:
    """A set for each loop.  frames: the outermost frame of the nodes inside one."""
    groups = DisjointSets()
    for name, frame in frames.items():
        groups.join(name, f"frame {frame}")
    return groups


def _frame_after(node: Node, stack: tuple[str, ...]) -> tuple[str, ...]:
    if node.op in ENTERS:
        return (*stack, node.attrs["frame_name"])
    return stack[:-1] if node.op in EXITS else stack


def _outermost(graph: Graph, stacks: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    frames = {name: stack[0] for name, stack in stacks.items() if stack}
    for node in graph:
        if node.op in ENTERS:
            frames.setdefault(node.name, node.attrs["frame_name"])
    return frames
