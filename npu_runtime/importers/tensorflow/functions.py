"""Calls of functions become the nodes of the functions' bodies, so that the passes and the device see through them.

y = PartitionedCall(x; f)   becomes   y/inlined/mul = Mul(x, x);  y/inlined/lowered/output_0 = Identity(y/inlined/mul);  y = NoOp

If and Case become Switch and Merge (`lower_if`), While becomes a loop frame (`lower_while`), as TensorFlow itself lowers them;
the gradient of a function of TensorFlow 1 becomes nodes too (`symbolic_gradients`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tensorflow.core.framework import node_def_pb2
from tensorflow.python.framework import function_def_to_graph, tensor_shape

from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import HANDLES, NOT_LOWERED
from npu_runtime.graph.spec import Spec
from npu_runtime.importers.tensorflow import lower_if, lower_while, symbolic_gradients
from npu_runtime.importers.tensorflow.inline_call import MARK, Expansion, inner_name
from npu_runtime.importers.tensorflow.traced_graph import TracedGraph, refine_shapes, traced_by
from npu_runtime.kernels.base import all_kernels
from npu_runtime.passes.place.placement import reason_for_host

CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
MAX_DEPTH = 32
"""The most calls of functions inside of each other that are inlined. Deeper ones are recursive functions, and run on the host.
"""

ImportOperation = Callable[[Any], Node]
_LOWERINGS: dict[str, Callable[[Expansion], None]] = {
    **dict.fromkeys(("If", "StatelessIf"), lower_if.lower_if),
    **dict.fromkeys(("Case", "StatelessCase"), lower_if.lower_case),
    **dict.fromkeys(("While", "StatelessWhile"), lower_while.lower_while),
    symbolic_gradients.GRADIENT: symbolic_gradients.lower_gradient,
}


def device_op(node: Node) -> str | None:
    """The device's own op that a call stands for, if there is a kernel: the body is its meaning in plain TensorFlow."""
    name = node.attrs.get("_npu_op")
    made = f"_Npu{name}"
    return made if name and node.op in CALLS and made in all_kernels() else None


class Inliner:
    """Expands calls of one user graph.

    graph: ours, as imported so far.  traced_graph: the graph that a function was traced into, by its name, None where the
    function alone counts.  definitions: NodeDefs of the nodes made, for those that run on the host.  origins: the operations
    of traced graphs that nodes were made of, which know their lines.  aliases: what stands for each output of an expanded
    call.  has_control_flow: whether the graph has loops or conditionals of TensorFlow 1, in which a call may lie.
    """

    def __init__(
        self, tf_graph: Any, graph: Graph, import_operation: ImportOperation, traced_graph: TracedGraph = lambda name: None
    ) -> None:  # fmt: skip
        self._tf_graph, self._graph, self._import, self._traced_graph = tf_graph, graph, import_operation, traced_graph
        self.definitions: dict[str, node_def_pb2.NodeDef] = {}
        self.origins: dict[str, Any] = {}
        self.aliases: dict[Value, Value] = {}
        self.has_control_flow = False
        self._made: dict[str, Node] = {}
        self._reasons: dict[str, list[tuple[Node, str]]] = {}

    def resolve(self, value: Value) -> Value:
        """The value itself, or what stands for it."""
        return self.aliases.get(value, value)

    def expand(self, operation: Any, node: Node, depth: int = 0) -> list[Node]:
        """The nodes that replace a call, the one with the call's name last; [node] when it is no call to be expanded."""
        names = self._functions_of(node)
        if not names or depth > MAX_DEPTH:
            return [node]
        refusal = self._refusal(node, names)
        if refusal is not None:
            node.attrs[NOT_LOWERED] = refusal
            return [node]
        expansion = Expansion(self, operation, node, names, depth)
        _LOWERINGS.get(node.op, _call)(expansion)
        return expansion.nodes

    def _functions_of(self, node: Node) -> list[str]:
        """Names of the functions that a node calls; none when it is no call, or one of a function we do not know."""
        if node.op in CALLS:
            names = [node.attrs["f"]]
        elif node.op in lower_if.IFS:
            names = [node.attrs["then_branch"], node.attrs["else_branch"]]
        elif node.op in lower_if.CASES:
            names = list(node.attrs["branches"])
        elif node.op in lower_while.WHILES:
            names = [node.attrs["cond"], node.attrs["body"]]
        elif node.op == symbolic_gradients.GRADIENT:
            names = [symbolic_gradients.function_of(self._tf_graph, node.attrs["f"])]
        else:
            names = [node.op]  # a function of TensorFlow 1 is called by an op of its name
        return names if all(self._tf_graph._get_function(name) is not None for name in names) else []

    def _refusal(self, node: Node, names: Sequence[str]) -> str | None:
        """The reason for which a conditional or a loop stays one node, on the host; None where it does not.

        A loop cannot be parted, and lists that the host makes must not go through Switches that the device steers.
        """
        if node.op not in _LOWERINGS:
            return None
        for inner, reason in (found for name in names for found in self._host_reasons(name)):
            if node.op in lower_while.WHILES or "variant" in [spec.dtype for spec in inner.outputs]:
                return f"its body holds {inner.name}: {reason}"
        if node.op in lower_while.WHILES and not lower_while.variables(self.load(names[1])):
            return "no variable of the loop ever changes"
        return None

    def _host_reasons(self, name: str) -> list[tuple[Node, str]]:
        """The nodes of a function, and of those it calls, that cannot run on the device, with the reason."""
        if name not in self._reasons:
            self._reasons[name] = []  # a recursive function has those of its other nodes
            body, local = self.load(name), Graph()
            for operation in body.get_operations():
                local.add(self._import(operation))
            for node in local:
                called = [] if device_op(node) else self._functions_of(node)
                inner = [found for one in called for found in self._host_reasons(one)]
                reason = None if called or device_op(node) else reason_for_host(node, local)
                self._reasons[name] += inner if reason is None else [(node, reason)]
        return self._reasons[name]

    def load(self, name: str, specs: Sequence[Spec] | None = None) -> Any:
        """A function's body as a graph with `inputs` and `outputs`.  specs: of its arguments, when more is known."""
        definition = self._tf_graph._get_function(name).definition
        shapes = None if specs is None else [tensor_shape.TensorShape(_shape_for_tensorflow(spec)) for spec in specs]
        with self._tf_graph.as_default():
            body = function_def_to_graph.function_def_to_graph(definition, input_shapes=shapes)
        traced = self._traced_graph(name)
        if traced is not None:
            refine_shapes(body, traced)
        return body

    def inline(self, body: Any, call: Node, prefix: str, arguments: Sequence[Value], waits: Sequence[str], depth: int) -> Inlined:
        """The nodes of a body under long names.  waits: what sources, effects and calls inside wait for.

        Source: of what nobody reads, TensorFlow runs what the function lists as control outputs and nothing else.
        """
        inside = _Names(
            call, prefix, {t.op.name: value for t, value in zip(body.inputs, arguments, strict=True)}, traced_by(body)
        )
        made: list[Node] = []
        for operation in body.get_operations():
            if operation.name not in inside.arguments:
                made += self.expand(operation, self._inside(operation, inside, waits), depth + 1)
        results = [self.resolve(inside.value(Value(t.op.name, t.value_index))) for t in body.outputs]
        effects = [inside.name(op.name) for op in body.control_outputs if op.name not in inside.arguments]
        return made, results, effects

    def _inside(self, operation: Any, inside: _Names, waits: Sequence[str]) -> Node:
        node = self._import(operation)
        name = inside.name(node.name)
        self.register(replace(node, name=name), operation.node_def)
        if operation.name in inside.traced:
            self.origins[name] = inside.traced[operation.name]
        node = self._made[name]
        node.op = device_op(node) or node.op
        node.inputs = [self.resolve(inside.value(value)) for value in node.inputs]
        node.controls = [inside.name(control) for control in node.controls if control not in inside.arguments]
        if node.is_stateful or (not node.inputs and not node.controls) or self._functions_of(node):
            node.controls += waits
        return node

    def register(self, node: Node, definition: node_def_pb2.NodeDef) -> None:
        """Note a node that is made, before it is in the graph."""
        self._made[node.name] = node
        self.definitions[node.name] = definition

    def spec(self, value: Value, otherwise: Spec) -> Spec:
        node = self._maker(value)
        return otherwise if node is None else node.outputs[value.output]

    def op(self, value: Value) -> str | None:
        """The op that makes a value, None when it is not made yet."""
        node = self._maker(value)
        return None if node is None else node.op

    def _maker(self, value: Value) -> Node | None:
        return self._made.get(value.node) or self._graph.nodes.get(value.node)


Inlined = tuple[list[Node], list[Value], list[str]]
"""Nodes, results and the names of the nodes that are run for their effects."""


def _call(expansion: Expansion) -> None:
    """The body in the place of the call."""
    call = expansion.call
    specs = [expansion.spec_of_input(position) for position in range(len(call.inputs))]
    results, effects = expansion.inline(expansion.load(0, specs), "", call.inputs, expansion.waits)
    expansion.finish(results, [*call.controls, *effects])


class _Names:
    """The names in the outer graph for those inside a body.  traced: operations that the body was made of, by its names."""

    def __init__(self, call: Node, prefix: str, arguments: dict[str, Value], traced: Mapping[str, Any]) -> None:
        self._call, self._prefix, self.arguments, self.traced = call, prefix, arguments, traced

    def name(self, name: str) -> str:
        return inner_name(self._call, f"{self._prefix}{name}")

    def value(self, value: Value) -> Value:
        return self.arguments.get(value.node) or Value(self.name(value.node), value.output)


def _shape_for_tensorflow(spec: Spec) -> Any:
    """Our specs of handles carry the shape of what they lead to; TensorFlow's are scalars."""
    return () if spec.dtype in HANDLES else spec.shape


__all__ = ["CALLS", "MARK", "Inliner", "device_op"]
