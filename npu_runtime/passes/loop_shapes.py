"""Before: a loop's variables have the shapes that were known when the graph was built.  After: those that this run's feeds give.

What enters a loop has a shape; if an iteration that begins with it ends with it, all iterations do. TensorFlow knows an unknown
batch inside every dynamic_rnn, and computes its extent, and what to sum gradients over, again in every iteration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.shapes import merge
from npu_runtime.passes.lift_loops import WHILE, Loop
from npu_runtime.passes.placement import HANDLES

CONSTANT = "_Constant"
MOST_ROUNDS = 4
"""Tries of an iteration: a variable may change its shape because another one has, and loops of many such are rare."""
MANY = 2
"""Pushes, where nobody can tell how many there are."""


class LoopShapes:
    """What is known of the loops of one graph, which are asked about in the order in which they run."""

    def __init__(self, graph: Graph, fold: Callable[[Graph], object]) -> None:
        """fold: infers shapes and folds constants in the body of a loop."""
        self._graph, self._fold = graph, fold
        self._n_pushes = _pushes(graph)
        self._pushed: dict[Value, Spec] = {}

    def infer(self, node: Node) -> None:
        """Sharpen the specs of what comes into a loop, of what it takes from stacks, and of its results."""
        loop = node.attrs["loop"]
        self._enter(node, loop)
        trial = self._steady_iteration(node, loop)
        if trial is None:
            return
        for name in loop.variables.values():
            _sharpen(loop.graph[name], 0, trial[name].outputs[0].shape)
        for index, name in enumerate(loop.results):
            _sharpen(node, index, trial[name].outputs[0].shape)
        self._note_pushed(node, loop, trial)

    def _enter(self, node: Node, loop: Loop) -> None:
        stacks = {}
        for position, name in loop.constants.items():
            spec, source = self._graph.spec(node.inputs[position]), loop.graph[name]
            if spec.dtype not in HANDLES and position not in node.ref_inputs:
                source.outputs[0] = Spec(merge(spec.shape, source.outputs[0].shape), spec.dtype, spec.value)
            stacks[name] = node.inputs[position]
        for popping in [n for n in loop.graph if n.op == "StackPopV2" and n.inputs[0].node in stacks]:
            pushed = self._pushed.get(stacks[popping.inputs[0].node])
            if pushed is not None:
                _take(loop.graph, popping, pushed)

    def _steady_iteration(self, node: Node, loop: Loop) -> Graph | None:
        """The folded body, with shapes of the variables that all iterations have; None where none were found."""
        shapes: dict[str, Shape] = {
            name: merge(self._graph.spec(node.inputs[position]).shape, loop.graph[name].outputs[0].shape)
            for position, name in loop.variables.items()
        }
        for _ in range(MOST_ROUNDS):
            trial = _copied(loop.graph)
            for name, shape in shapes.items():
                trial[name].outputs[0] = Spec(shape, trial[name].outputs[0].dtype)
            self._fold(trial)
            both = {name: _common(shape, trial.spec(loop.next_values[name]).shape) for name, shape in shapes.items()}
            if both == shapes:
                return trial
            shapes = both
        return None

    def _note_pushed(self, node: Node, loop: Loop, trial: Graph) -> None:
        stacks = {name: node.inputs[position] for position, name in loop.constants.items()}
        for pushing in trial:
            if pushing.op == "StackPushV2" and pushing.inputs[0].node in stacks:
                stack = stacks[pushing.inputs[0].node]
                if self._n_pushes[stack] == 1:
                    self._pushed[stack] = trial.spec(pushing.inputs[1])


def _take(body: Graph, popping: Node, spec: Spec) -> None:
    """What is taken from a stack is what one node pushes: always the same, or always of the same shape."""
    if spec.value is None:
        _sharpen(popping, 0, spec.shape)
        return
    popping.op, popping.inputs, popping.attrs, popping.is_stateful = CONSTANT, [], {}, False
    popping.outputs = [spec]
    body.targets = [name for name in body.targets if name != popping.name]


def _sharpen(node: Node, index: int, shape: Shape) -> None:
    old = node.outputs[index]
    node.outputs[index] = Spec(merge(shape, old.shape), old.dtype)


def _common(a: Shape, b: Shape) -> Shape:
    """What holds of both; None for what differs."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(m if m == n else None for m, n in zip(a, b, strict=True))


def _copied(graph: Graph) -> Graph:
    """A copy whose nodes, and those of the loops inside, may be changed."""
    made = Graph(fetches=list(graph.fetches), targets=list(graph.targets))
    for node in graph:
        copied = replace(node, inputs=list(node.inputs), controls=list(node.controls), outputs=list(node.outputs))
        if node.op == WHILE:
            loop = node.attrs["loop"]
            copied.attrs = {**node.attrs, "loop": replace(loop, graph=_copied(loop.graph))}
        made.add(copied)
    return made


def _pushes(graph: Graph) -> Counter[Value]:
    """How many nodes push on each stack, in loops; MANY where it goes elsewhere too."""
    found: Counter[Value] = Counter()
    for node in graph:
        if node.op == WHILE:
            found.update(_pushes_of(node))
        elif node.op not in ("StackPopV2", "StackCloseV2"):
            found.update(dict.fromkeys(node.inputs, 1 if node.op == "StackPushV2" else MANY))
    return found


def _pushes_of(node: Node) -> Counter[Value]:
    """The same by the values that come into one loop."""
    loop: Loop = node.attrs["loop"]
    inside = _pushes(loop.graph)
    return Counter({node.inputs[position]: inside[Value(name)] for position, name in loop.constants.items()})
