"""Before: a loop's variables have the shapes that were known when the graph was built.  After: those that this run's feeds give.

What enters a loop has a shape; if an iteration that begins with it ends with it, all iterations do. TensorFlow knows an unknown
batch inside every dynamic_rnn, and computes its extent, and what to sum gradients over, again in every iteration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import HANDLES, WHILE, Loop
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.shapes import common, merge
from npu_runtime.passes.simplify.infer_shapes import make_constant

MOST_ROUNDS = 4
"""The most tries of an iteration: a variable may change its shape because another one has, and loops of many such are rare."""
MANY = 2
"""The number of writers that stands for any number, where nobody can tell how many there are."""
_WRITTEN = {"StackPushV2": 1, "TensorArrayWriteV3": 2, "TensorArrayScatterV3": 2}
"""The position of the input that is written, for each op that writes to a stack or an array, which is its first input."""
_ONLY_READING = frozenset({
    "StackPopV2", "StackCloseV2", "TensorArrayReadV3", "TensorArrayGatherV3", "TensorArrayConcatV3", "TensorArraySizeV3",
    "TensorArrayCloseV3", "TensorArrayGradV3",
})  # fmt: skip


class LoopShapes:
    """The shapes and values known in the loops of one graph, which are asked about in the order in which they run."""

    def __init__(self, graph: Graph, fold: Callable[[Graph], object]) -> None:
        """fold: infers shapes and folds constants in the body of a loop."""
        self._graph, self._fold = graph, fold
        self._n_writers = _writers(graph) if any(node.op == WHILE for node in graph) else Counter[Value]()
        self._written: dict[Value, Spec] = {}
        """Spec of the elements that the one writer of a stack or an array stores there."""

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
        self._note_written(node, loop, trial)

    def infer_array(self, node: Node) -> None:
        """Sharpen what comes out of an array outside of loops, and note what goes in."""
        handle = _of_values(self._graph, node.inputs[0])
        if node.op == "TensorArrayScatterV3" and self._n_writers[handle] == 1 and handle == node.inputs[0]:
            values = self._graph.spec(node.inputs[2])
            self._written[handle] = Spec(values.shape[1:] if values.shape else None, values.dtype)
        elif node.op == "TensorArrayGatherV3" and handle in self._written:
            count, shape = self._graph.spec(node.inputs[1]).shape, self._written[handle].shape
            _sharpen(node, 0, None if shape is None else (count[0] if count else None, *shape))

    def _enter(self, node: Node, loop: Loop) -> None:
        handles = {}
        for position, name in loop.constants.items():
            spec, source = self._graph.spec(node.inputs[position]), loop.graph[name]
            if spec.dtype == "resource":
                source.outputs[0] = Spec(spec.shape, spec.dtype)  # of the value that a variable's handle leads to
            elif spec.dtype not in HANDLES and position not in node.ref_inputs:
                source.outputs[0] = Spec(merge(spec.shape, source.outputs[0].shape), spec.dtype, spec.value)
            handles[name] = node.inputs[position]
        for reading in [n for n in loop.graph if n.op in ("StackPopV2", "TensorArrayReadV3")]:
            handle = _of_values(loop.graph, reading.inputs[0]).node
            written = self._written.get(handles[handle]) if handle in handles else None
            if written is not None:
                _take(loop.graph, reading, written)

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
            both = {name: common(shape, trial.spec(loop.next_values[name]).shape) for name, shape in shapes.items()}
            if both == shapes:
                return trial
            shapes = both
        return None

    def _note_written(self, node: Node, loop: Loop, trial: Graph) -> None:
        handles = {name: node.inputs[position] for position, name in loop.constants.items()}
        for writing in trial:
            if writing.op in _WRITTEN and writing.inputs[0].node in handles:
                handle, spec = handles[writing.inputs[0].node], trial.spec(writing.inputs[_WRITTEN[writing.op]])
                if self._n_writers[handle] == 1 and writing.op != "TensorArrayScatterV3":
                    self._written[handle] = spec


def _of_values(graph: Graph, handle: Value) -> Value:
    """The array whose gradients are in an array, which have the shape of its elements; any other handle itself."""
    while graph[handle.node].op == "TensorArrayGradV3":
        handle = graph[handle.node].inputs[0]
    return handle


def _take(body: Graph, reading: Node, spec: Spec) -> None:
    """Gives a node that reads a stack or an array what the one writer puts there: always the same value, or the same shape."""
    if spec.value is None or reading.op != "StackPopV2":
        _sharpen(reading, 0, spec.shape)
        return
    make_constant(reading, [spec])
    body.targets = [name for name in body.targets if name != reading.name]


def _sharpen(node: Node, index: int, shape: Shape) -> None:
    old = node.outputs[index]
    node.outputs[index] = Spec(merge(shape, old.shape), old.dtype)


def _copied(graph: Graph) -> Graph:
    """A copy whose nodes, and those of the loops inside, may be changed."""
    made = graph.copied()
    for node in made:
        if node.op == WHILE:
            loop = node.attrs["loop"]
            node.attrs = {**node.attrs, "loop": replace(loop, graph=_copied(loop.graph))}
    return made


def _writers(graph: Graph) -> Counter[Value]:
    """The number of nodes that write to each stack and array, also in loops; MANY where its handle goes elsewhere too."""
    found: Counter[Value] = Counter()
    for node in graph:
        if node.op == WHILE:
            found.update(_writers_inside(node))
        elif node.op not in _ONLY_READING:
            found.update(dict.fromkeys(node.inputs, 1 if node.op in _WRITTEN else MANY))
    return found


def _writers_inside(node: Node) -> Counter[Value]:
    """The same of the values that come into one loop: MANY for those that it changes."""
    loop: Loop = node.attrs["loop"]
    inside = _writers(loop.graph)
    found = Counter({node.inputs[position]: MANY for position in loop.variables})
    for position, name in loop.constants.items():  # one handle may come in by several of them
        found[node.inputs[position]] += inside[Value(name)]
    return found
