"""Before: FusedBatchNormV3 -> AddV2 -> Relu.  After: _BatchNormActivation(activation=Relu): the result is written once.

The sum may be missing. The fused node keeps the name of the normalisation, whose other outputs have readers of their own;
readers of the activation read its first output.
"""

from __future__ import annotations

from npu_runtime.analysis.aliasing import may_alias
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.kernels.fused.normalized_activation import MODES, NORMALIZED_ACTIVATION
from npu_runtime.passes.base import graph_pass

SUMS = ("Add", "AddV2")


@graph_pass
def fuse_normalization(graph: Graph) -> int:
    """Merge normalisations with the sum and activation behind them; returns the number of chains."""
    fusion = _Fusion(graph)
    return sum(fusion.fuse(node) for node in list(graph) if node.op == "FusedBatchNormV3" and node.name in graph)


class _Fusion:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.readers = graph.consumers()
        self.kept = graph.kept()
        self.waiting: dict[str, list[Node]] = {}
        for node in graph:
            for name in node.controls:
                self.waiting.setdefault(name, []).append(node)

    def fuse(self, norm: Node) -> bool:
        """Make `norm` the fused node and remove the others, where its result has one reader of the kind."""
        result = Value(norm.name)
        spec = self.graph.spec(result)
        channels_last = norm.attrs.get("data_format", "NHWC") in ("NHWC", "NDHWC")
        if norm.host_reason is not None or result in self.graph.fetches or not channels_last or spec.dtype != "float32":
            return False
        last = self._only_reader(result)
        chain: list[Node] = []
        side: list[Value] = []
        if last is not None and last.op in SUMS:
            side = [value for value in last.inputs if value != result]
            if len(side) != 1 or not self._may_be_added(side[0], norm):
                return False
            chain, last = [last], self._only_reader(Value(last.name)) if last.name not in self.kept else None
        if last is None or last.op not in MODES or last.name in self.kept:
            return False
        norm.compute([norm, *chain, last])
        norm.origins = {0: last.origin(0)}
        norm.op, norm.inputs = NORMALIZED_ACTIVATION, [*norm.inputs, *side]
        norm.attrs = {**norm.attrs, "activation": last.op, "alpha": last.attrs.get("alpha", 0.2)}
        self._replace([*chain, last], result, side, norm)
        return True

    def _only_reader(self, value: Value) -> Node | None:
        """The one node that reads a value, when it waits for nothing."""
        readers = self.readers.get(value, [])
        if len(readers) != 1 or readers[0].controls or readers[0].host_reason is not None:
            return None
        return readers[0]

    def _may_be_added(self, side: Value, norm: Node) -> bool:
        """Whether a value has the shape, is no view of what may change before, and does not come from `norm`."""
        node, spec = self.graph[side.node], self.graph.spec(side)
        if not spec.is_complete or spec.shape != norm.outputs[0].shape or may_alias(node) or node.ref_outputs:
            return False
        waiting, seen = [node], {node.name}
        while waiting:
            current = waiting.pop()
            if current is norm:
                return False
            new = {value.node for value in current.inputs} | set(current.controls)
            waiting += [self.graph[name] for name in sorted(new - seen)]
            seen |= new
        return True

    def _replace(self, removed: list[Node], result: Value, side: list[Value], norm: Node) -> None:
        """Readers of the last removed node read `result`; who waits for a removed one, as shapes folded do, waits for `norm`."""
        old = Value(removed[-1].name)
        readers = self.readers.pop(old, [])
        for reader in readers:
            reader.inputs = [result if value == old else value for value in reader.inputs]
        self.readers[result] = readers
        for value in side:
            self.readers[value] = [norm if reader is removed[0] else reader for reader in self.readers[value]]
        for node in removed:
            del self.graph.nodes[node.name]
            for waiter in self.waiting.pop(node.name, []):
                waiter.controls = list(dict.fromkeys(norm.name if name == node.name else name for name in waiter.controls))
                self.waiting.setdefault(norm.name, []).append(waiter)
