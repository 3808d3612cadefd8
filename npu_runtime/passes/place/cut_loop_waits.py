"""Before: Exit -> batch norm -> AssignSub -^-> Const -> Enter.  After: no loop waits for what comes behind it.

with tf.control_dependencies(update_ops): optimizer.minimize(loss)      where the updates come behind a dynamic_rnn

The gradient of a loop adds a counter and stacks to it, and under such a scope their constants wait for the updates, hence for the
end of the very loop that they stand in. On TensorFlow the loop runs ahead of its counter, as far as parallel_iterations lets it.
Here a loop is one step, so it could neither begin nor end; and what counts iterations has no use for the updates.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from npu_runtime.analysis.loop_frames import loop_frames
from npu_runtime.graph.ir import Graph
from npu_runtime.graph.ops import ENTERS
from npu_runtime.graph.order import followers, reached
from npu_runtime.passes.base import graph_pass

_HANDING_ON = ENTERS | {"Identity"}


@graph_pass
def cut_loop_waits(graph: Graph) -> int:
    """Drop control edges that lead from behind a loop into it; returns how many loops had some.

    Source: an operation without inputs in a loop waits for Identities of Enters of what its scope waits for
    (WhileContext._RemoveExternalControlEdges), and the counter of a gradient starts at a constant outside
    (WhileContext.AddForwardLoopCounter).
    """
    frames: dict[str, set[str]] = {}
    for name, frame in loop_frames(graph).items():
        frames.setdefault(frame, set()).add(name)
    after, n_cut = _followers(graph, frames), 0
    for inside in frames.values():
        if _cut(graph, inside, reached(sorted(inside), after) - inside):
            after, n_cut = _followers(graph, frames), n_cut + 1
    return n_cut


def _followers(graph: Graph, frames: Mapping[str, AbstractSet[str]]) -> dict[str, list[str]]:
    """The followers of each node when each loop is one step: a node that leads to a part of it leads to all of it."""
    if not frames:
        return {}
    after = followers(graph)
    for frame, inside in frames.items():
        for name in inside:
            after.setdefault(name, []).append(f"^{frame}")
        after[f"^{frame}"] = sorted(inside)
    return after


def _cut(graph: Graph, inside: AbstractSet[str], behind: AbstractSet[str]) -> bool:
    entering = {value.node for name in inside for value in graph[name].inputs} & behind
    starts = {name for name in entering if graph[name].op == "Const"}
    gone = _only_waited_for(graph, inside, entering - starts)
    for name in starts:
        graph[name].controls = [control for control in graph[name].controls if control not in behind | inside]
    for name in inside:
        graph[name].controls = [control for control in graph[name].controls if control not in gone and control not in behind]
    for name in gone:
        del graph.nodes[name]
    return bool(starts or gone)


def _only_waited_for(graph: Graph, inside: AbstractSet[str], sources: AbstractSet[str]) -> set[str]:
    """Enters of the sources, with all that hands them on, which no node in the loop computes with."""
    readers = _data_readers(graph, inside)
    found: set[str] = set()
    for source in sources:
        for enter in readers.get(source, ()):
            handed_on = {enter, *reached([enter], readers)}
            if all(graph[name].op in _HANDING_ON for name in handed_on):
                found |= handed_on
    return found


def _data_readers(graph: Graph, inside: AbstractSet[str]) -> Mapping[str, list[str]]:
    readers: dict[str, list[str]] = {}
    for name in inside:
        for value in graph[name].inputs:
            readers.setdefault(value.node, []).append(name)
    return readers
