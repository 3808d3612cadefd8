"""Before: Conv2D -> BiasAdd -> Relu.  After: _FusedConv2D(fused_ops=[BiasAdd, Relu]): the result is touched once.

The fused node takes the name of the last node of the chain. Only values that nobody else reads disappear.
"""

from __future__ import annotations

from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.kernels.base import all_kernels
from npu_runtime.passes.base import graph_pass

HEADS = {"Conv2D": "_FusedConv2D", "MatMul": "_FusedMatMul"}
ACTIVATIONS = ("Relu", "Relu6", "Elu", "LeakyRelu")


@graph_pass
def fuse_bias_activation(graph: Graph) -> int:
    """Merge a matrix product or convolution with the bias and activation behind it; returns the number of chains."""
    readers = graph.consumers()
    kept = set(graph.fetches) | {Value(name) for name in graph.targets}
    controlled = {name for node in graph for name in node.controls}
    fused = 0
    for bias in [node for node in graph if node.op == "BiasAdd" and node.host_reason is None]:
        head = graph[bias.inputs[0].node]
        if not _may_fuse(head, bias) or not _is_private(head, readers, kept, controlled):
            continue
        activation = _activation_behind(bias, readers, kept, controlled)
        _fuse(graph, head, bias, activation)
        fused += 1
    return fused


def _may_fuse(head: Node, bias: Node) -> bool:
    fused = HEADS.get(head.op)
    if fused not in all_kernels() or head.host_reason is not None or head.controls or bias.controls:
        return False
    same_layout = bias.attrs.get("data_format", "NHWC") == "NHWC" == head.attrs.get("data_format", "NHWC")
    return same_layout and head.outputs[0].dtype == "float32"


def _is_private(node: Node, readers: dict[Value, list[Node]], kept: set[Value], controlled: set[str]) -> bool:
    """Nobody but one reader sees the node's value or waits for it."""
    return len(readers.get(Value(node.name), ())) == 1 and Value(node.name) not in kept and node.name not in controlled


def _activation_behind(bias: Node, readers: dict[Value, list[Node]], kept: set[Value], controlled: set[str]) -> Node | None:
    if not _is_private(bias, readers, kept, controlled):
        return None
    reader = readers[Value(bias.name)][0]
    return reader if reader.op in ACTIVATIONS and reader.host_reason is None and not reader.controls else None


def _fuse(graph: Graph, head: Node, bias: Node, activation: Node | None) -> None:
    last = activation or bias
    last.compute([head, bias, activation] if activation else [head, bias])
    last.inputs = [*head.inputs, bias.inputs[1]]
    names = ["BiasAdd"] + ([activation.op] if activation else [])
    slope = 0.2 if activation is None else activation.attrs.get("alpha", 0.2)
    last.attrs = {**head.attrs, "fused_ops": names, "num_args": 1, "epsilon": 0.0, "leakyrelu_alpha": slope}
    last.op = HEADS[head.op]
    del graph.nodes[head.name]
    if activation is not None:
        del graph.nodes[bias.name]
