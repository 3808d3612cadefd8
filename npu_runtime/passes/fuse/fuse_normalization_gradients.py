"""Before: Relu6Grad -> FusedBatchNormGradV3.  After: _BatchNormActivationGrad(activation=Relu6Grad).

What passes the activation is written by the normalisation's first pass over memory, which sums it: a trip and a task less.
"""

from __future__ import annotations

from npu_runtime.graph.ir import Graph, Node
from npu_runtime.kernels.fused.normalized_activation_gradient import ACTIVATION_GRADIENTS, NORMALIZED_ACTIVATION_GRADIENT
from npu_runtime.passes.base import graph_pass


@graph_pass
def fuse_normalization_gradients(graph: Graph) -> int:
    """Merge gradients of activations with those of the normalisations before them; returns the number of pairs."""
    readers = graph.consumers()
    kept, waited_for = graph.kept(), graph.waited_for()
    fused = 0
    for norm in [node for node in graph if node.op == "FusedBatchNormGradV3" and node.host_reason is None]:
        passed = graph[norm.inputs[0].node]
        is_seen = passed.name in kept or passed.name in waited_for or len(readers[norm.inputs[0]]) != 1
        if not is_seen and _fits(graph, passed, norm):
            norm.compute([passed, norm])
            norm.op = NORMALIZED_ACTIVATION_GRADIENT
            norm.attrs = {**norm.attrs, "activation": passed.op, "alpha": passed.attrs.get("alpha", 0.2)}
            norm.inputs = [*passed.inputs, *norm.inputs[1:]]
            norm.controls = list(dict.fromkeys([*passed.controls, *norm.controls]))
            del graph.nodes[passed.name]
            fused += 1
    return fused


def _fits(graph: Graph, passed: Node, norm: Node) -> bool:
    """Whether `passed` is an activation's gradient in fp32, and all tensors have one shape, channels last."""
    if passed.op not in ACTIVATION_GRADIENTS or passed.host_reason is not None:
        return False
    specs = [graph.spec(value) for value in (*passed.inputs, norm.inputs[1])]
    is_same = specs[0].is_complete and all((s.shape, s.dtype) == (specs[0].shape, "float32") for s in specs)
    return is_same and norm.attrs.get("data_format", "NHWC") in ("NHWC", "NDHWC")
