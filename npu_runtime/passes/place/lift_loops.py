"""Before: Enter -> Merge -> Switch -> ... -> NextIteration -> Merge, Switch -> Exit.  After: one `_While` node and its body.

V1 loops are lifted and not run as frames: a loop is then one task of a straight program, its body a program of its own
that runs as often as the condition holds, and nothing else has to know of iterations.  Source: tf.while_loop builds every
loop from these five ops and LoopCond; a loop variable is Merge(Enter, NextIteration), leaves by Exit(Switch(Merge, LoopCond)).
"""

from __future__ import annotations

from collections.abc import Mapping

from npu_runtime.analysis.loop_frames import loop_frames
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import ENTERS, EXITS, LOOP_INPUT, NEXT_ITERATIONS, WHILE, Loop
from npu_runtime.graph.order import followers
from npu_runtime.passes.base import graph_pass


@graph_pass
def lift_loops(graph: Graph) -> int:
    """Replace every loop of the device by a `_While` node, outermost first, inner ones inside; returns their number."""
    frames = _frames(graph)
    for frame, names in frames.items():
        _lift(graph, frame, names)
    return len(frames)


def _frames(graph: Graph) -> dict[str, list[str]]:
    """Names of the nodes inside each outermost device loop, by frame."""
    found: dict[str, list[str]] = {}
    for name, frame in loop_frames(graph).items():
        if graph[name].host_reason is None:
            found.setdefault(frame, []).append(name)
    return found


def _lift(graph: Graph, frame: str, names: list[str]) -> None:
    inside = set(names)
    members = [node for node in graph if node.name in inside]
    enters = [n for n in members if n.op in ENTERS and n.attrs["frame_name"] == frame]
    exits = _own_exits(graph, members, enters)
    loop = Loop(Graph())
    outer = Node(f"^while/{frame}", WHILE, [n.inputs[0] for n in enters], attrs={"loop": loop})
    outer.controls = sorted({c for n in members for c in n.controls if c not in inside})
    outer.ref_inputs = frozenset(i for i, node in enumerate(enters) if node.op == "RefEnter")
    outer.is_stateful = True
    for node in members:
        if node not in exits:
            del graph.nodes[node.name]
            node.controls = [c for c in node.controls if c in inside]
            loop.graph.add(node)
    _name_parts(loop, enters, exits)
    outer.outputs = [node.outputs[0] for node in exits]
    graph.add(outer)
    for index, node in enumerate(exits):
        node.op, node.inputs, node.controls = "Identity", [Value(outer.name, index)], []
    lift_loops.run(loop.graph)
    _settle(loop)


def _settle(loop: Loop) -> None:
    """Settles a loop after inner loops have become nodes: which of them belong to the body, and what must run in any case."""
    graph = loop.graph
    inner = [n.name for n in graph if n.op == WHILE and any(m.name in loop.body for m in n.attrs["loop"].graph)]
    loop.body = frozenset([*(name for name in loop.body if name in graph), *inner])
    graph.targets = [node.name for node in graph if node.is_stateful]


def _own_exits(graph: Graph, members: list[Node], enters: list[Node]) -> list[Node]:
    """Exits of this loop and not of one inside it: their variable starts at one of our Enters."""
    own = {node.name for node in enters}
    return [node for node in members if node.op in EXITS and _start_of(graph, node).node in own]


def _start_of(graph: Graph, leaving: Node) -> Value:
    merge = graph[_merge_behind(graph, leaving)]
    return next(value for value in merge.inputs if graph[value.node].op not in NEXT_ITERATIONS)


def _name_parts(loop: Loop, enters: list[Node], exits: list[Node]) -> None:
    """Take the loop ops apart: Enters and Merges become sources, Switches and NextIterations disappear."""
    graph = loop.graph
    position = {node.name: index for index, node in enumerate(enters)}
    merges = {}
    for node in [node for node in graph if node.op in ("Merge", "RefMerge")]:
        starts = [value.node for value in node.inputs if value.node in position]
        backs = [value.node for value in node.inputs if graph[value.node].op in NEXT_ITERATIONS]
        if starts and backs:
            merges[node.name] = starts[0]
            loop.variables[position[starts[0]]] = node.name
            loop.next_values[node.name] = graph[backs[0]].inputs[0]
    loop.results = [_merge_behind(graph, node) for node in exits]
    condition = next(node for node in graph if node.op == "LoopCond" and _tests(graph, node, merges))
    loop.condition = condition.inputs[0]
    switches = {n.name: n for n in graph if n.op.endswith("Switch") and n.inputs[1].node == condition.name}
    loop.body = frozenset(_descendants(graph, switches, merges))
    _remove_loop_ops(loop, enters, merges, switches, condition)


def _merge_behind(graph: Graph, leaving: Node) -> str:
    """The Merge of the variable that an Exit takes out.

    Source: gated gradients (tf.tuple, as optimizers make them) put an Identity between a gradient loop's Switch and Exit.
    """
    node = graph[leaving.inputs[0].node]
    while node.op in ("Identity", "RefIdentity"):
        node = graph[node.inputs[0].node]
    return node.inputs[0].node


def _tests(graph: Graph, condition: Node, merges: Mapping[str, str]) -> bool:
    """Whether this LoopCond steers the Switches of these variables, not those of an inner loop."""
    readers = (node for node in graph if node.op.endswith("Switch") and node.inputs[1].node == condition.name)
    return any(node.inputs[0].node in merges for node in readers)


def _descendants(graph: Graph, switches: Mapping[str, Node], merges: Mapping[str, str]) -> set[str]:
    """Everything behind a Switch, by data or control, up to the end of the iteration."""
    after = followers(graph)
    found: set[str] = set()
    work = [name for switch in switches for name in after.get(switch, ())]
    while work:
        name = work.pop()
        if name not in found and name not in merges:
            found.add(name)
            work += after.get(name, ())
    return found


def _remove_loop_ops(
    loop: Loop, enters: list[Node], merges: Mapping[str, str], switches: Mapping[str, Node], condition: Node
) -> None:
    graph = loop.graph
    started = set(merges.values())
    for index, node in enumerate(enters):
        if node.name in started:
            del graph.nodes[node.name]
        else:
            loop.constants[index] = node.name
            _make_source(node)
    for name in merges:
        _make_source(graph[name])
    own_backs = {n.name for n in list(graph) if n.op in NEXT_ITERATIONS and n.inputs[0] in loop.next_values.values()}
    loop.switched = {node.inputs[0].node: name for name, node in switches.items() if node.inputs[0].node in merges}
    gone = set(switches) | own_backs | {condition.name}
    for name in gone:
        del graph.nodes[name]
    for node in graph:
        node.inputs = [switches[v.node].inputs[0] if v.node in switches else v for v in node.inputs]
        node.controls = [name for name in node.controls if name not in gone]
    loop.next_values = {k: switches[v.node].inputs[0] if v.node in switches else v for k, v in loop.next_values.items()}
    graph.fetches = [loop.condition, *loop.next_values.values(), *(Value(name) for name in loop.results)]


def _make_source(node: Node) -> None:
    node.op, node.inputs, node.controls, node.outputs = LOOP_INPUT, [], [], node.outputs[:1]
