"""Before: MaxPoolGrad -> ReluGrad -> BiasAddGrad.  After: _MaxPoolReluGrad: the Relu's gradient is taken of what is pooled.

The input that a window chose is positive where the window's result is, so that a quarter of the numbers is looked at behind
a 2x2 pool. The gradient of a bias adds the pooled ones up instead of the same numbers among zeros.
"""

from __future__ import annotations

from dataclasses import replace

from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.kernels.fused.pooled_relu_gradient import POOLED_RELU_GRADIENT
from npu_runtime.passes.base import graph_pass


@graph_pass
def fuse_pool_gradients(graph: Graph) -> int:
    """Merge the gradients of a Relu and of the pool behind it where nothing lies between; returns the number of pairs."""
    readers = graph.consumers()
    kept, waited_for = graph.kept(), graph.waited_for()

    def may_go(pool: Node) -> bool:
        return len(readers[Value(pool.name)]) == 1 and pool.name not in kept and pool.name not in waited_for

    fused = 0
    for relu in [node for node in graph if node.op == "ReluGrad" and node.host_reason is None]:
        pool = graph[relu.inputs[0].node]
        if _is_gradient_of_pool(graph, pool, relu.inputs[1]) and may_go(pool):
            _fuse(graph, pool, relu, readers.get(Value(relu.name), []))
            fused += 1
    return fused


def _is_gradient_of_pool(graph: Graph, node: Node, features: Value) -> bool:
    """Whether a node is the gradient of a pool over `features`, channels last, in fp32."""
    if node.op != "MaxPoolGrad" or node.host_reason is not None or node.inputs[0] != features:
        return False
    is_plain = node.attrs.get("data_format", "NHWC") == "NHWC" and node.outputs[0].dtype == "float32"
    return is_plain and graph.spec(node.inputs[2]).is_complete


def _fuse(graph: Graph, pool: Node, relu: Node, readers: list[Node]) -> None:
    relu.compute([pool, relu])
    relu.origins = {1: None}
    relu.op, relu.inputs, relu.attrs = POOLED_RELU_GRADIENT, pool.inputs, pool.attrs
    relu.controls = list(dict.fromkeys([*pool.controls, *relu.controls]))
    relu.outputs = [*relu.outputs, replace(graph.spec(pool.inputs[2]), value=None)]
    del graph.nodes[pool.name]
    for reader in readers:
        if reader.op == "BiasAddGrad" and reader.attrs.get("data_format", "NHWC") == "NHWC" and reader.host_reason is None:
            reader.inputs = [Value(relu.name, 1)]
