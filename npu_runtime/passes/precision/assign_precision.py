"""Before: MatMul -> Add.  After: _Round16 (of each input) -> MatMul -> _Round16 -> Add: numbers as a 16-bit device has them.

Every node gets the type that the session's precision mode gives it. One that runs in 16 bits reads rounded numbers and its
results are rounded, while they stay in fp32 storage; where the graph itself says 16 bits and the mode wants 32, the node becomes
one of fp32 between two Casts. The type of each node stands in its attribute `_device_type`.
"""

from __future__ import annotations

from npu_formats.device.op_table import BLACK, OpOnDevice, tensorflow_ops
from npu_runtime import dtypes as dt
from npu_runtime.analysis.compute_types import DEVICE_TYPE, ROUNDED_INPUT
from npu_runtime.analysis.precision_policy import HALVES, PrecisionPolicy, Types
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import HANDLES, VARIABLES, WHILE
from npu_runtime.graph.order import topological
from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.base import all_kernels
from npu_runtime.kernels.elementwise.rounding import ROUND

KEEP = "_keep_dtype"
"""Attribute of operations that the script wants in their own type.  Source: npu_scope.keep_dtype_scope."""


def assign_precision(graph: Graph, policy: PrecisionPolicy) -> int:
    """Give every device node its type, before the graph is partitioned; returns the number of nodes that run in another type
    than the graph's."""
    return 0 if policy.is_origin else _assign(graph, policy, frozenset()).changes


def _assign(graph: Graph, policy: PrecisionPolicy, body: frozenset[str]) -> _Assignment:
    assignment = _Assignment(graph, policy, body)
    for node in topological([node for node in graph if node.host_reason is None]):
        assignment.visit(node)
    assignment.finish()
    for node in graph:
        if node.op == WHILE:
            assignment.changes += _assign_in_loop(node, policy)
    return assignment


def _assign_in_loop(node: Node, policy: PrecisionPolicy) -> int:
    """Assigns types in a loop; variables keep theirs.  Source: the operators Enter and NextIteration are on the black list."""
    loop = node.attrs["loop"]
    before = list(loop.graph.fetches)
    assignment = _assign(loop.graph, policy, loop.body)
    moved = dict(zip(before, loop.graph.fetches, strict=True))
    loop.condition = moved[loop.condition]
    loop.next_values = {source: moved[value] for source, value in loop.next_values.items()}
    loop.body |= {made.name for name in loop.body for made in assignment.beside(name)}
    return assignment.changes


class _Assignment:
    """One graph on its way. reduced: 16-bit type of values in fp32 storage.  replaced: what to read instead of a value.
    lowered: the 16-bit value that readers of a raised one get, unless they are raised themselves.  body: nodes that run only
    when the condition of a loop holds.
    """

    def __init__(self, graph: Graph, policy: PrecisionPolicy, body: frozenset[str]) -> None:
        self.graph, self.policy, self.body = graph, policy, body
        self.changes = 0
        self.reduced: dict[Value, str] = {}
        self.replaced: dict[Value, Value] = {}
        self.lowered: dict[Value, Value] = {}
        self.converted: dict[tuple[object, ...], Value] = {}
        self.before: dict[str, list[Node]] = {}
        self.after: dict[str, list[Node]] = {}
        self.made: dict[str, Node] = {}

    def visit(self, node: Node) -> None:
        """Choose the type of one node whose producers have theirs."""
        node.inputs = [self.replaced.get(value, value) for value in node.inputs]
        row = tensorflow_ops().get(node.op)
        if row is None or self._touches_state(node) or node.op in ("Cast", "Bitcast"):
            self._read_lowered(node)
        elif row.device_op:
            self._choose(node, row)
        else:
            self._read_lowered(node)
            if row.keeps_grid:
                self._pass_on(node)

    def _touches_state(self, node: Node) -> bool:
        if node.ref_inputs or node.ref_outputs:
            return True
        return any(self._spec(value).dtype in HANDLES for value in node.inputs)

    def _choose(self, node: Node, row: OpOnDevice) -> None:
        given = [i for i, value in enumerate(node.inputs) if _takes(row.inputs, i) and self._spec(value).dtype in dt.FLOATS]
        made = [i for i, spec in enumerate(node.outputs) if _takes(row.outputs, i) and spec.dtype in dt.FLOATS]
        if not given and not made:
            return
        origin = node.outputs[made[0]].dtype if not given else self._origin(node.inputs[given[0]])
        producer = self._produced(node.inputs[given[0]]) if given else ""
        types = self.policy.types(node.name, row, origin, producer, bool(node.attrs.get(KEEP)))
        if types != (origin, origin):
            self.changes += 1
        node.attrs = {**node.attrs, DEVICE_TYPE: types.given}
        if origin in HALVES and types.given == "float32" and self._can_raise(node, origin):
            self._raise(node, origin)
            return
        self._read_lowered(node)
        for position in given:
            self._round_input(node, position, types.given)
        for position in made:
            self._round_output(node, position, types, row.keeps_grid)

    def _spec(self, value: Value) -> Spec:
        made = self.made.get(value.node)
        return made.outputs[value.output] if made else self.graph.spec(value)

    def _origin(self, value: Value) -> str:
        """The type that the graph gives a value."""
        lowered = self.lowered.get(value)
        return self._spec(lowered).dtype if lowered else self._spec(value).dtype

    def _produced(self, value: Value) -> str:
        """The type that a value has on the device.

        Source: the engine looks through a Cast from 16 bits to fp32 that is not on the black list.
        """
        node = self.graph.nodes.get(value.node)
        if node is not None and node.op == "Cast" and self._spec(value).dtype == "float32":
            row = tensorflow_ops()["Cast"]
            source = self._spec(node.inputs[0]).dtype
            if source in HALVES and self.policy.lists.get(row.device_op) != BLACK:
                return source
        return self.reduced.get(value) or self._spec(value).dtype

    def _pass_on(self, node: Node) -> None:
        """Gives a node that only hands its inputs on the 16-bit types that these have."""
        for index in range(len(node.outputs)):
            source = node.inputs[index if len(node.inputs) == len(node.outputs) else 0]
            if source in self.reduced:
                self.reduced[Value(node.name, index)] = self.reduced[source]
                node.attrs = {**node.attrs, DEVICE_TYPE: self.reduced[source]}

    def _round_input(self, node: Node, position: int, dtype: str) -> None:
        value = node.inputs[position]
        if dtype not in HALVES or self._spec(value).dtype != "float32" or self.reduced.get(value) == dtype:
            return
        node.inputs[position] = self._converted(node, value, dtype)

    def _converted(self, reader: Node, value: Value, dtype: str) -> Value:
        """The rounded value, shared by readers that run under the same conditions."""
        waits = tuple(reader.controls) if self._shows_variable(value) else ()
        key = value, dtype, waits, reader.name in self.body
        if key not in self.converted:
            made = self._rounding(f"{ROUNDED_INPUT}{len(self.made)}", value, dtype)
            made.controls = list(waits)
            self.before.setdefault(reader.name, []).append(made)
            self.converted[key] = Value(made.name)
        return self.converted[key]

    def _shows_variable(self, value: Value) -> bool:
        """Whether a value is the memory of a variable, which is to be read when the reader may read it."""
        producer = self.graph.nodes.get(value.node)
        if producer is None:
            return False
        is_view = producer.op == "Identity" and self._shows_variable(producer.inputs[0])
        return value.output in producer.ref_outputs or producer.op in VARIABLES or is_view

    def _round_output(self, node: Node, position: int, types: Types, keeps_grid: bool) -> None:
        value = Value(node.name, position)
        if types.made not in HALVES or node.outputs[position].dtype != "float32":
            return
        self.reduced[value] = types.made
        if not keeps_grid:
            made = self._rounding(f"{value}^{types.made}", value, types.made)
            self.after.setdefault(node.name, []).append(made)
            self.replaced[value] = Value(made.name)

    def _rounding(self, name: str, value: Value, dtype: str) -> Node:
        attrs = {"dtype": dtype, "source": value.node, DEVICE_TYPE: dtype}
        origins = {0: None if name.startswith(ROUNDED_INPUT) else value}
        outputs = [Spec(self._spec(value).shape, "float32")]
        made = self._add(Node(name, ROUND, [value], attrs=attrs, outputs=outputs, members=(), origins=origins))
        self.reduced[Value(made.name)] = dtype
        return made

    def _add(self, node: Node) -> Node:
        while node.name in self.graph or node.name in self.made:
            node.name += "_"
        self.made[node.name] = node
        return node

    def _can_raise(self, node: Node, origin: str) -> bool:
        """Whether every type that the node has from its inputs can be fp32."""
        made = all_kernels().get(node.op)
        named = [attr for attr, value in node.attrs.items() if value == origin and attr != DEVICE_TYPE]
        return made is not None and all("float32" in made.dtypes.get(attr, dt.FLOATS) for attr in named)

    def _raise(self, node: Node, origin: str) -> None:
        node.attrs = {attr: "float32" if value == origin else value for attr, value in node.attrs.items()}
        for position, value in enumerate(node.inputs):
            if self._spec(value).dtype == origin:
                node.inputs[position] = self._cast(node, value, "float32", self.before)
        for position, spec in enumerate(node.outputs):
            if spec.dtype == origin:
                node.outputs[position] = Spec(spec.shape, "float32")
                value = Value(node.name, position)
                self.lowered[value] = self._cast(node, value, origin, self.after)

    def _cast(self, node: Node, value: Value, dtype: str, where: dict[str, list[Node]]) -> Value:
        key = value, dtype, "cast", node.name in self.body
        if key not in self.converted:
            spec = self._spec(value)
            attrs = {"SrcT": spec.dtype, "DstT": dtype, "Truncate": False}
            name = f"{ROUNDED_INPUT}{len(self.made)}"
            made = self._add(Node(name, "Cast", [value], attrs=attrs, outputs=[Spec(spec.shape, dtype)], members=()))
            where.setdefault(node.name, []).append(made)
            self.converted[key] = Value(made.name)
        return self.converted[key]

    def _read_lowered(self, node: Node) -> None:
        node.inputs = [self.lowered.get(value, value) for value in node.inputs]

    def finish(self) -> None:
        """Put the new nodes beside those they were made for, so that reads stay before writes, and redirect who is left."""
        for node in self.graph:
            if node.host_reason is not None:
                node.inputs = [self._final(value) for value in node.inputs]
        self.graph.fetches = [self._final(value) for value in self.graph.fetches]
        nodes = list(self.graph)
        self.graph.nodes = {}
        for node in nodes:
            for one in (*self.before.get(node.name, ()), node, *self.after.get(node.name, ())):
                self.graph.add(one)

    def beside(self, name: str) -> list[Node]:
        """The nodes made for one node."""
        return [*self.before.get(name, ()), *self.after.get(name, ())]

    def _final(self, value: Value) -> Value:
        value = self.replaced.get(value, value)
        return self.lowered.get(value, value)


def _takes(positions: frozenset[int] | None, index: int) -> bool:
    return positions is None or index in positions
