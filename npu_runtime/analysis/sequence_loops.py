"""A loop over the elements of arrays, forward or backward: which of its parts count, read, write, push, pop and carry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import LOOP_INPUT, Loop
from npu_runtime.kernels.base import all_kernels


@dataclass
class SequenceLoop:
    """The parts of a `_While` node whose turns are counted.

    node: of the loop.  outer: the graph that it stands in.  counters: variables that go up by 1 from 0, or the one that goes
    down to 1.  limits: what the counters are less than, outside; empty for a loop that goes down.  reads, writes, pushes, pops:
    nodes of the body.  flows: variables that only order what is done to arrays.  carried: all other variables.
    """

    node: Node
    outer: Graph
    counters: list[str] = field(default_factory=list)
    limits: list[Value] = field(default_factory=list)
    reads: list[Node] = field(default_factory=list)
    writes: list[Node] = field(default_factory=list)
    pushes: list[Node] = field(default_factory=list)
    pops: list[Node] = field(default_factory=list)
    flows: list[str] = field(default_factory=list)
    carried: list[str] = field(default_factory=list)

    @property
    def loop(self) -> Loop:
        loop: Loop = self.node.attrs["loop"]
        return loop

    @property
    def body(self) -> Graph:
        return self.loop.graph

    def start(self, name: str) -> Value:
        """The value outside of the loop that a variable begins with."""
        return next(self.node.inputs[position] for position, source in self.loop.variables.items() if source == name)

    def outside(self, value: Value) -> Value | None:
        """The value outside that comes into the body, through any Identity, as a constant of the loop; None for any other."""
        name = origin(self.body, value).node
        return next((self.node.inputs[position] for position, source in self.loop.constants.items() if source == name), None)

    def next_of(self, name: str) -> Value:
        """The value of a variable after a turn; Identities are skipped."""
        return origin(self.body, self.loop.next_values[name])

    def result(self, name: str) -> int | None:
        """The position of the loop's output that is the last value of a variable; None where nobody reads it."""
        return self.loop.results.index(name) if name in self.loop.results else None


def origin(graph: Graph, value: Value) -> Value:
    """The value that comes to be this one through Identities alone."""
    while graph[value.node].op == "Identity":
        value = graph[value.node].inputs[0]
    return value


def forward_loop(outer: Graph, node: Node) -> SequenceLoop | None:
    """The parts of a loop whose counters go up from 0; None for any other."""
    found = SequenceLoop(node, outer)
    for test in _tests(found.body, found.loop.condition):
        if test.op != "Less":
            return None
        counter, limit = (origin(found.body, value) for value in test.inputs)
        outside = found.outside(limit)
        if outside is None or not _counts(found, counter.node, ("AddV2", "Add"), 0):
            return None
        found.counters.append(counter.node)
        found.limits.append(outside)
    found.counters += [name for name in _variables(found) if name not in found.counters
                       and _counts(found, name, ("AddV2", "Add"), 0)]  # fmt: skip
    return _sorted_out(found)


def backward_loop(outer: Graph, node: Node) -> SequenceLoop | None:
    """The parts of the loop of gradients, whose counter goes down to 1; None for any other."""
    found = SequenceLoop(node, outer)
    tests = list(_tests(found.body, found.loop.condition))
    if len(tests) != 1 or tests[0].op != "GreaterEqual":
        return None
    counter, limit = (origin(found.body, value) for value in tests[0].inputs)
    if _number(found, limit) != 1 or not _counts(found, counter.node, ("Sub",), None):
        return None
    found.counters.append(counter.node)
    return _sorted_out(found)


def _tests(body: Graph, condition: Value) -> Iterator[Node]:
    """The comparisons that must all hold."""
    node = body[origin(body, condition).node]
    if node.op == "LogicalAnd":
        for value in node.inputs:
            yield from _tests(body, value)
    else:
        yield node


def _variables(found: SequenceLoop) -> list[str]:
    return list(found.loop.variables.values())


def _number(found: SequenceLoop, value: Value) -> int | None:
    """A constant of one element, inside or outside of the loop."""
    value = origin(found.body, value)
    outside = found.outside(value)
    constant = found.body.spec(value).value if outside is None else found.outer.spec(outside).value
    return int(constant.reshape(())) if constant is not None and constant.size == 1 else None


def _counts(found: SequenceLoop, name: str, ops: tuple[str, ...], start: int | None) -> bool:
    """Whether a variable is an int32 that each turn changes by 1.  start: what it begins with; None: anything."""
    body = found.body
    if name not in _variables(found) or body[name].op != LOOP_INPUT or body[name].outputs[0].dtype != "int32":
        return False
    if start is not None:
        begin = found.outer.spec(found.start(name)).value
        if begin is None or begin.size != 1 or int(begin.reshape(())) != start:
            return False
    step = body[found.next_of(name).node]
    return step.op in ops and origin(body, step.inputs[0]).node == name and _number(found, step.inputs[1]) == 1


_PARTS = {"TensorArrayReadV3": "reads", "TensorArrayWriteV3": "writes", "StackPushV2": "pushes", "StackPopV2": "pops"}
_WITHOUT_EFFECT = frozenset({LOOP_INPUT, "NoOp", "ControlTrigger", "ReadVariableOp", "StackCloseV2", "TensorArrayGradV3"})
"""Other ops that are stateful by name or return nothing, and yet change nothing that anybody outside of the loop sees."""


def has_effect(node: Node) -> bool:
    """Whether a node may do more than return values: change a variable, draw numbers, print, or stop the program.

    A variable that is only read in a loop is one that nobody in the loop assigns, as the assignment would have an effect.
    """
    if node.host_reason is not None or node.ref_inputs or node.ref_outputs:
        return True
    if node.op in _PARTS or node.op in _WITHOUT_EFFECT:
        return False
    made = all_kernels().get(node.op)
    return node.is_stateful or not node.outputs or (made is not None and made.is_stateful)


def _sorted_out(found: SequenceLoop) -> SequenceLoop | None:
    """The loop with its parts; None where it has an effect or a loop inside."""
    for node in found.body:
        if node.op in _PARTS:
            getattr(found, _PARTS[node.op]).append(node)
        if has_effect(node) or "loop" in node.attrs:
            return None
    for name in _variables(found):
        if name not in found.counters:
            (found.flows if _is_flow(found, name) else found.carried).append(name)
    return found


def _is_flow(found: SequenceLoop, name: str) -> bool:
    """Whether a variable only orders what is done to arrays: it stays, or is or adds what a write returns.

    Source: the gradient of reading an array adds up the flows of writing to its gradients (tensor_array_grad.py).
    """
    if found.body[name].outputs[0].shape != () or found.body[name].outputs[0].dtype != "float32":
        return False
    own = {Value(name), *(Value(node.name) for node in found.writes)}
    after = found.next_of(name)
    node = found.body[after.node]
    return after in own or (node.op in ("Add", "AddV2") and {origin(found.body, value) for value in node.inputs} <= own)
