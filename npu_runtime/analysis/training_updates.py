"""Operators that train: those of optimizers, and others that change a trainable variable by a gradient or by adding to it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.ops import VARIABLES

ADDITIONS = frozenset({
    "AssignAdd", "AssignSub", "AssignAddVariableOp", "AssignSubVariableOp", "ScatterAdd", "ScatterSub", "ResourceScatterAdd",
    "ResourceScatterSub", "ScatterNdAdd", "ScatterNdSub", "ResourceScatterNdAdd", "ResourceScatterNdSub",
})  # fmt: skip
CHANGES = ADDITIONS | {"Assign", "AssignVariableOp"}
"""Initializers and savers do this, too; an optimizer written in TensorFlow's own operators gives what comes of a gradient."""
_OF_GRADIENTS = re.compile(r"(?:^|/)(?:gradients(?:_\d+)?|gradient_tape)/")
"""Scopes that TensorFlow puts gradients into: tf.gradients, which all optimizers of version 1 call, and GradientTape."""
_OF_DATA = re.compile(
    r"^(?:_Feed|Placeholder.*|Iterator.*GetNext.*|Queue.*Dequeue.*|.*PyFunc.*|.*MatMul.*|Conv[23]D.*|Einsum|Sum|Mean)$"
)
"""Ops through which examples, or what is computed of all of them, reach a gradient that is written by hand.

A count of epochs, a decaying rate and a decay of weights add to a variable without any of them.
"""


def is_training_update(op: str) -> bool:
    """Whether an op updates a variable as an optimizer does.  Source: the ops of TensorFlow's optimizers."""
    return "Apply" in op and not op.startswith("Assign") and "Accumulator" not in op


def is_addition_that_trains(op: str, sources: Iterable[tuple[str, str]]) -> bool:
    """Whether an op adds to a variable what a gradient gives.  sources: names and ops of all nodes that give what is added."""
    return op in ADDITIONS and any(_OF_GRADIENTS.search(name) or _OF_DATA.match(source) for name, source in sources)


def trains(graph: Graph, trainable: Collection[str]) -> bool:
    """Whether a run of all of a graph trains.  trainable: names of the nodes of trainable variables."""
    if any(is_training_update(node.op) for node in graph):
        return True
    changes = _changes(graph)
    changing = [node for name in changes if name in trainable for node in changes[name]]
    seen: dict[bool, set[str]] = {True: set(), False: set()}
    return any(_trains(graph, node, seen[node.op in ADDITIONS], changes) for node in changing)


def trained_variables(graph: Graph, trainable: Collection[str]) -> dict[str, list[str]]:
    """The variables that a run of a graph trains: the name of each one's node, with those of the nodes that change it."""
    found: dict[str, list[str]] = {}
    changes = _changes(graph)
    for node in graph:
        is_update = is_training_update(node.op)
        is_change = node.op in CHANGES and _variable(graph, node) in trainable
        if is_update or (is_change and _trains(graph, node, set(), changes)):
            found.setdefault(_variable(graph, node), []).append(node.name)
    return found


def _changes(graph: Graph) -> dict[str, list[Node]]:
    """The nodes of variables that a run changes, in the order of the graph, with the nodes that change each."""
    found: dict[str, list[Node]] = {}
    for node in graph:
        if node.op in CHANGES:
            found.setdefault(_variable(graph, node), []).append(node)
    return found


def _trains(graph: Graph, node: Node, seen: set[str], changes: Mapping[str, Sequence[Node]]) -> bool:
    """Whether a node that adds to a trainable variable, or sets it, does as an optimizer.  seen, changes: as for `_reached`."""
    sources = [(name, graph[name].op) for name in _reached(graph, node, seen, changes)]
    return is_addition_that_trains(node.op, sources) or any(_OF_GRADIENTS.search(name) for name, _ in sources)


def is_trained(changes: Collection[str], names: Iterable[str]) -> bool:
    """The same of a function that is not imported.

    changes: types of the operations that change trainable variables.  names: of all operations that a call executes.
    """
    if any(is_training_update(op) or op in ADDITIONS for op in changes):
        return True
    return bool(changes) and any(map(_OF_GRADIENTS.search, names))


def _variable(graph: Graph, node: Node) -> str:
    """The node of the variable that another one changes: it may come through a branch or into a loop."""
    seen: set[str] = set()
    while node.op not in VARIABLES and node.inputs and node.inputs[0].node in graph and node.name not in seen:
        seen.add(node.name)
        node = graph[node.inputs[0].node]
    return node.name


def _reached(graph: Graph, node: Node, seen: set[str], changes: Mapping[str, Sequence[Node]]) -> Iterator[str]:
    """The nodes that give a new value, without those that others have reached before.  seen: is added to.

    changes: what gives a variable a value in the same run gives it to who reads the variable: an optimizer's moments are such.
    """
    waiting = [value.node for value in node.inputs[1:]]
    while waiting:
        name = waiting.pop()
        if name not in seen and name in graph:
            seen.add(name)
            yield name
            waiting += [value.node for value in graph[name].inputs]
            waiting += [value.node for change in changes.get(name, ()) for value in change.inputs[1:]]
