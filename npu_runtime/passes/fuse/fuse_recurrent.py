"""Before: _While over the elements of an array, and that of its gradients.  After: _LstmSequence, _LstmSequenceGrad, or a GRU's.

Turn by turn a cell is some thirty kernels forward and fifty backward, each with a few microseconds of work. As one kernel, a turn
is one product and a few passes in place, and what need not wait for the turn before is done for all turns at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from npu_runtime.analysis.node_work import node_work
from npu_runtime.analysis.sequence_loops import SequenceLoop, backward_loop, forward_loop, origin
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import LOOP_INPUT, TURNS, WHILE, Turns
from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.base import all_kernels
from npu_runtime.kernels.fused.gru_sequence import GRU_SEQUENCE, GRU_SEQUENCE_GRADIENT
from npu_runtime.kernels.fused.lstm_sequence import LSTM_SEQUENCE, LSTM_SEQUENCE_GRADIENT
from npu_runtime.kernels.fused.recurrent_weights import Cell
from npu_runtime.passes.base import graph_pass
from npu_runtime.passes.fuse import recurrent_trials as trials
from npu_runtime.passes.fuse.recurrent_cells import CellMatcher, Found, is_zero
from npu_runtime.passes.fuse.recurrent_ops import RecurrentOps
from npu_runtime.passes.fuse.recurrent_verdicts import Verdict, signature, verdicts
from npu_runtime.passes.simplify.drop_unread import drop_unread
from npu_runtime.passes.simplify.eliminate_noops import eliminate_noops
from npu_runtime.passes.simplify.fold_constants import fold_constants
from npu_runtime.passes.simplify.remove_unused import remove_unused

OPS = {1: (GRU_SEQUENCE, GRU_SEQUENCE_GRADIENT), 2: (LSTM_SEQUENCE, LSTM_SEQUENCE_GRADIENT)}
"""The kernels by the number of states: forward, backward."""
_PLUMBING = frozenset({"Identity", "StackV2", "TensorArrayV3", "TensorArrayGradV3", "TensorArrayScatterV3", "NoOp"})
"""Ops that only serve the loops, and go with them."""


@graph_pass
def fuse_recurrent(graph: Graph) -> int:
    """Make one kernel of every loop of a known cell, and one of that of its gradients; returns the number of loops."""
    changed = 0
    for node in [node for node in graph if node.op == WHILE]:
        fusion = _find(graph, node) if node.op == WHILE and node.name in graph else None
        if fusion is not None:
            fusion.replace()
            changed += 1 + (fusion.backward is not None)
    return changed


def _find(graph: Graph, node: Node) -> _Fusion | None:
    """The loop of a known cell with all that belongs to it; None where anything of it is not known."""
    if node.ref_inputs or node.host_reason is not None:
        return None
    loop = forward_loop(graph, node)
    if loop is None or not _is_plain(loop) or not loop.limits:
        return None
    fusion = _Fusion(graph, loop)
    return fusion if fusion.find() else None


def _is_plain(loop: SequenceLoop) -> bool:
    """Whether it reads one array and writes one at most, by its counters, pops nothing, and carries one or two states."""
    n_written = len(loop.writes)
    if len(loop.reads) != 1 or n_written > 1 or loop.pops or len(loop.carried) not in OPS or len(loop.flows) != n_written:
        return False
    indices = [origin(loop.body, node.inputs[1]).node for node in (*loop.reads, *loop.writes)]
    return set(indices) <= set(loop.counters) and all(loop.next_of(flow) == Value(loop.writes[0].name) for flow in loop.flows)


@dataclass
class _Fusion:
    """A forward loop, what it computes, and the loop of its gradients, if there is one."""

    graph: Graph
    forward: SequenceLoop
    backward: SequenceLoop | None = None

    def find(self) -> bool:
        """Whether all parts are found and known."""
        self.readers = self.graph.consumers()
        handles = [self.forward.outside(node.inputs[0]) for node in (*self.forward.reads, *self.forward.writes)]
        known = [handle for handle in handles if handle is not None]
        if len(known) != len(handles) or len({*known}) != len(known):
            return False
        self.read, self.written = known[0], known[1] if len(known) > 1 else None
        return self._find_backward() and self._find_plumbing() and self._find_sequences() and self._find_cell()

    @property
    def arrays(self) -> list[Value]:
        """Handles of what is read and, if anything is, of what is written."""
        return [self.read] if self.written is None else [self.read, self.written]

    def _find_backward(self) -> bool:
        """The one loop that pops what this one pushes, if it pushes anything."""
        self.pushed: dict[Value, Value] = {}
        for node in self.forward.pushes:
            stack = self.forward.outside(node.inputs[0])
            if stack is None or stack in self.pushed or self.graph[stack.node].op != "StackV2":
                return False
            self.pushed[stack] = node.inputs[1]
        loops = {reader.name for stack in self.pushed for reader in self.readers[stack]} - {self.forward.node.name}
        loops = {name for name in loops if self.graph[name].op == WHILE}
        if not loops:
            return True
        if len(loops) == 1 and not self.graph[next(iter(loops))].ref_inputs:
            self.backward = backward_loop(self.graph, self.graph[loops.pop()])
        return self.backward is not None and self._is_plain_backward(self.backward)

    def _is_plain_backward(self, loop: SequenceLoop) -> bool:
        """Whether it begins with the number of turns, and reads and writes the gradients of the arrays at the same places."""
        count = origin(self.graph, loop.start(loop.counters[0]))
        counted = None if count.node != self.forward.node.name else self.forward.loop.results[count.output]
        if loop.pushes or len(loop.reads) > 1 or len(loop.writes) > 1 or counted not in self.forward.counters:
            return False
        for node, array in [*((n, self.written) for n in loop.reads), *((n, self.read) for n in loop.writes)]:
            if array is None or self._gradient_of(loop, node) != array or not self._is_place(loop, node.inputs[1]):
                return False
        return all(is_zero(loop, loop.start(name)) for name in loop.carried if not self._may_be_state(loop, name))

    def _gradient_of(self, loop: SequenceLoop, node: Node) -> Value | None:
        """The array whose gradients a node of the body reads or writes."""
        maker = loop.body[origin(loop.body, node.inputs[0]).node]
        return loop.outside(maker.inputs[0]) if maker.op == "TensorArrayGradV3" else None

    def _is_place(self, loop: SequenceLoop, index: Value) -> bool:
        """Whether an index is what the forward loop has pushed of its counter."""
        node = loop.body[origin(loop.body, index).node]
        stack = loop.outside(node.inputs[0]) if node.op == "StackPopV2" else None
        return stack in self.pushed and origin(self.forward.body, self.pushed[stack]).node in self.forward.counters

    def _may_be_state(self, loop: SequenceLoop, name: str) -> bool:
        """Whether a variable has the shape of the forward loop's states; only others have to begin with zeros."""
        shape = self.graph.spec(self.forward.start(self.forward.carried[0])).shape
        return self.graph.spec(loop.start(name)).shape == shape

    def _find_plumbing(self) -> bool:
        """All nodes behind handles, flows and counts, which nobody else may read or wait for."""
        loops = [loop for loop in (self.forward, self.backward) if loop is not None]
        own = {loop.node.name for loop in loops}
        values = [*self.arrays, *self.pushed]
        self.plumbing: dict[str, Node] = {value.node: self.graph[value.node] for value in values}
        work = [Value(name, i) for name, n in self.plumbing.items() for i in range(len(n.outputs))]
        for loop in loops:
            indices = [loop.result(name) for name in (*loop.flows, *loop.counters)]
            work += [Value(loop.node.name, index) for index in indices if index is not None]
        self.gathers: list[Node] = []
        while work:
            for reader in self.readers.get(work.pop(), []):
                if reader.op == "TensorArrayGatherV3":
                    self.gathers += [reader] if reader not in self.gathers else []
                elif reader.name not in own and reader.name not in self.plumbing:
                    self.plumbing[reader.name] = reader
                    work += [Value(reader.name, i) for i in range(len(reader.outputs))]
        return self._may_go(own)

    def _may_go(self, own: set[str]) -> bool:
        gone = self.plumbing.keys()
        if any(node.op not in _PLUMBING or node.host_reason is not None for node in self.plumbing.values()):
            return False
        if gone & (self.graph.kept() | self.graph.seen_by_host()):
            return False
        mine = own | gone | {node.name for node in self.gathers}
        return not any(gone & set(node.controls) for node in self.graph if node.name not in mine)

    def _find_sequences(self) -> bool:
        """Whether the scatters and gathers of the arrays are known and whole: x, outputs, their gradients, the gradient of x."""
        scatters = {self._array_of(n): n for n in self.plumbing.values() if n.op == "TensorArrayScatterV3"}
        self.gathered = {self._array_of(node): node for node in self.gathers}
        whole = [*scatters.values(), *self.gathers]
        count = sum(n.op == "TensorArrayScatterV3" for n in self.plumbing.values()) + len(self.gathers)
        if len(scatters) + len(self.gathered) != count or (self.read, False) not in scatters:
            return False
        if not scatters.keys() <= {(self.read, False), (self.written, True)}:
            return False
        if not self.gathered.keys() <= {(self.written, False), (self.read, True)}:
            return False
        self.x = scatters[self.read, False].inputs[2]
        self.dy = scatters[self.written, True].inputs[2] if (self.written, True) in scatters else None
        spec = self.graph.spec(self.x)
        if not spec.is_complete or spec.rank != 3 or spec.dtype != "float32":
            return False
        self.length = spec.known_shape()[0]
        return all(map(self._is_whole, whole)) and all(map(self._has_length, self.arrays))

    def _array_of(self, node: Node) -> tuple[Value | None, bool]:
        """The array that a node fills or reads, and whether it is that of its gradients."""
        handle = origin(self.graph, node.inputs[0])
        maker = self.graph[handle.node]
        return (origin(self.graph, maker.inputs[0]), True) if maker.op == "TensorArrayGradV3" else (handle, False)

    def _is_whole(self, node: Node) -> bool:
        """Whether it takes all elements in order."""
        numbers = self.graph.spec(node.inputs[1]).value
        return numbers is not None and np.array_equal(numbers, np.arange(self.length))

    def _has_length(self, handle: Value) -> bool:
        size = self.graph.spec(self.graph[handle.node].inputs[0]).value
        return size is not None and int(size) == self.length and self.graph[handle.node].attrs.get("dtype") == "float32"

    def _find_cell(self) -> bool:
        """The cell, and what the loop of gradients has of it, as random turns tell."""
        if not trials.is_smooth(self.forward):
            return False
        shape = self.graph.spec(self.x).known_shape()[1:]
        states = [self.forward.body[name].outputs[0] for name in self.forward.carried]
        if not all(spec.is_complete and spec.rank == 2 and spec.dtype == "float32" for spec in states) or 0 in shape:
            return False
        self.found: Found | None = None
        self.gradients: trials.Gradients | None = None
        known = verdicts()
        loops = signature(self.forward, self.backward)
        if known is not None and loops in known:
            self.found, self.gradients = known[loops].found, known[loops].gradients
            return self.found is not None
        is_known = self._is_tried(shape)
        if known is not None:
            known[loops] = Verdict(self.found if is_known else None, self.gradients)
        return is_known

    def _is_tried(self, shape: tuple[int, ...]) -> bool:
        """Whether the loops are a cell's in all trials."""
        return all(self._try(seed, shape) for seed in range(trials.n_trials(self.forward.body, self.forward.carried[0])))

    def _try(self, seed: int, shape: tuple[int, ...]) -> bool:
        """Whether a random turn of both loops is what the kernels make of it."""
        draw = trials.Draw(seed, trials.lengths_of(self.forward))
        values = trials.try_forward(self.forward, draw, shape)
        if values is None:
            return False
        self.found = self.found or CellMatcher(self.forward, values).match()
        if self.found is None:
            return False
        one = trials.OneTurn(self.forward, self.found, values, draw, OPS[len(self.found.states)])
        if not one.is_forward():
            return False
        if self.backward is None:
            return True
        loops = (self.forward, self.backward) if self.gradients is None else ()
        if not all(RecurrentOps(loop, self.forward, self.found, self.pushed).are_known() for loop in loops):
            return False
        self.gradients = trials.try_backward(self.backward, one, self.pushed, self.gradients)
        return self.gradients is not None and self._begin_with_zeros(self.gradients)

    def _begin_with_zeros(self, found: trials.Gradients) -> bool:
        return self.backward is not None and all(
            is_zero(self.backward, self.backward.start(name)) for name in found.weights if name is not None
        )

    def replace(self) -> None:
        """Put the kernels in the place of the loops, and take out what only served those."""
        assert self.found is not None
        moved = self._moved(self.forward, self.found.states)
        turns = {loop.node.name: _turns_of(loop) for loop in (self.forward, self.backward) if loop is not None}
        if self.backward is not None and self.gradients is not None:
            moved |= self._moved(self.backward, [*self.gradients.states, *self.gradients.weights])
        controls = self._controls()
        self._rewire(moved)
        cell = replace(self.found.cell, is_kept=self.backward is not None, n_limits=len(self.forward.limits))
        states = [self.forward.start(name) for name in self.found.states]
        tail = self._tail(self.found)
        ops, node = OPS[len(states)], self.forward.node
        last = [] if self.backward is None else self._last(self.backward)
        self._become(node, ops[0], [self.x, *states, *tail], {"cell": cell, TURNS: turns[node.name]}, controls)
        if self.backward is not None:
            kept = [Value(node.name, index) for index in (0, *range(1 + len(states), len(node.outputs)))]
            dy = [] if self.dy is None else [self.dy]
            self._become_gradient(self.backward.node, ops[1], [self.x, *states, *kept, *last, *dy, *tail], cell,
                                  turns[self.backward.node.name])  # fmt: skip
        self._take_out()

    def _moved(self, loop: SequenceLoop, names: Sequence[str | None]) -> dict[Value, Value]:
        """The kernel's outputs, which stand behind its sequence in the order of the names, by those of the loop."""
        node = loop.node.name
        indices = [(index, names.index(name)) for index, name in enumerate(loop.loop.results) if name in names]
        return {Value(node, index): Value(node, 1 + place) for index, place in indices}

    def _controls(self) -> list[str]:
        """The nodes that the removed nodes before the forward kernel have waited for, by control edges."""
        own = {loop.node.name for loop in (self.forward, self.backward) if loop is not None}
        before = [node for node in self.plumbing.values() if node.op in ("TensorArrayV3", "StackV2")]
        before += [node for node in self.plumbing.values() if self._fills(node)]
        return sorted({name for node in before for name in node.controls} - self.plumbing.keys() - own)

    def _fills(self, node: Node) -> bool:
        return node.op == "TensorArrayScatterV3" and self._array_of(node) == (self.read, False)

    def _last(self, loop: SequenceLoop) -> list[Value]:
        """The gradients of the last states."""
        return [] if self.gradients is None else [loop.start(name) for name in self.gradients.states]

    def _tail(self, found: Found) -> list[Value]:
        """Limits, lengths and weights as values of the graph."""
        weights = [self._read(value) for value in found.weights]
        return [*self.forward.limits, *([] if found.lengths is None else [found.lengths]), *weights]

    def _read(self, value: Value) -> Value:
        """The value of a weight, for a handle read outside of the loop."""
        spec = self.graph.spec(value)
        if spec.dtype != "resource":
            return value
        name = f"{self.forward.node.name}/read/{value.node}"
        if name not in self.graph:
            outputs = [Spec(spec.shape, "float32")]
            self.graph.add(
                Node(name, "ReadVariableOp", [value], self._before_reading(), {"dtype": "float32"}, outputs, members=())
            )
        return Value(name)

    def _before_reading(self) -> list[str]:
        """The nodes after which a variable is read: all that the first turn of the loop waits for, by a control edge or a value.

        A training step may come before the loop in the same run, and only the loop's first values may wait for it.
        """
        values = [value.node for value in (*self.forward.node.inputs, self.x)]
        waiting = [name for name in values if self.graph[name].inputs or self.graph[name].controls]
        names = dict.fromkeys([*self.forward.node.controls, *self._controls(), *waiting])
        return [name for name in names if name not in self.plumbing]

    def _become_gradient(self, node: Node, op: str, inputs: list[Value], cell: Cell, turns: Turns) -> None:
        assert self.gradients is not None
        wanted = tuple(name is not None for name in self.gradients.weights)
        attrs = {"cell": cell, TURNS: turns, "wanted": wanted, "has_dy": self.dy is not None}
        self._become(node, op, inputs, {**attrs, "wants_dx": (self.read, True) in self.gathered}, [])

    def _become(self, node: Node, op: str, inputs: list[Value], attrs: dict[str, Any], controls: list[str]) -> None:
        """Make a kernel's node of a loop's, which keeps its name."""
        shapes = all_kernels()[op].infer([self.graph.spec(value) for value in inputs], attrs)
        self._note_origins(node, len(shapes))
        node.op, node.inputs, node.attrs, node.is_stateful = op, inputs, attrs, False
        node.controls = [name for name in dict.fromkeys([*node.controls, *controls]) if name not in self.plumbing]
        node.outputs = [Spec(shape, "float32") for shape in shapes]

    def _note_origins(self, node: Node, n_outputs: int) -> None:
        """Notes the origins of a kernel. Its first output is the whole sequence; no node of the user's graph has the value of the
        others."""
        loop = self.backward if self.backward is not None and node is self.backward.node else self.forward
        node.members = tuple(one.name for one in loop.body if one.op != LOOP_INPUT)
        gathered = self.gathered.get((self.written, False) if loop is self.forward else (self.read, True))
        first = None if gathered is None else Value(gathered.name)
        node.origins = {0: first, **dict.fromkeys(range(1, n_outputs))}

    def _rewire(self, moved: Mapping[Value, Value]) -> None:
        """Makes every node read the outputs of the kernels."""
        for node in self.graph:
            node.inputs = [moved.get(value, value) for value in node.inputs]
        self.graph.fetches = [moved.get(value, value) for value in self.graph.fetches]

    def _take_out(self) -> None:
        """Whole sequences are the kernels' first outputs; nobody reads the arrays any more."""
        for (_, is_gradient), node in self.gathered.items():
            loop = self.backward if is_gradient and self.backward is not None else self.forward
            node.op, node.inputs, node.attrs = "Identity", [Value(loop.node.name)], {"T": "float32"}
            node.controls = [name for name in node.controls if name not in self.plumbing]
            node.is_stateful = False
        for name in self.plumbing:
            del self.graph.nodes[name]


def _turns_of(loop: SequenceLoop) -> Turns:
    """Floating-point operations of a turn and a test, as they are counted where the loop stays one."""
    for one in (fold_constants, eliminate_noops, drop_unread, remove_unused):
        one.run(loop.body)
    flops = {True: 0.0, False: 0.0}
    for node in loop.body:
        flops[node.name in loop.loop.body] += node_work(loop.body, node)
    return Turns(flops[True], flops[False])
