"""The order of the passes over one specialised program."""

from __future__ import annotations

from collections.abc import Sequence

from npu_runtime.graph.ir import Graph
from npu_runtime.graph.ops import WHILE
from npu_runtime.passes.base import Pass, check_order, run_passes
from npu_runtime.passes.fuse.fold_normalization import fold_normalization
from npu_runtime.passes.fuse.fuse_bias_activation import fuse_bias_activation
from npu_runtime.passes.fuse.fuse_elementwise import fuse_elementwise
from npu_runtime.passes.fuse.fuse_normalization import fuse_normalization
from npu_runtime.passes.fuse.fuse_normalization_gradients import fuse_normalization_gradients
from npu_runtime.passes.fuse.fuse_optimizer_gradients import fuse_optimizer_gradients
from npu_runtime.passes.fuse.fuse_optimizer_products import fuse_optimizer_products
from npu_runtime.passes.fuse.fuse_pool_gradients import fuse_pool_gradients
from npu_runtime.passes.fuse.fuse_product_sums import fuse_product_sums
from npu_runtime.passes.fuse.fuse_random_masks import fuse_random_masks
from npu_runtime.passes.fuse.lay_out_weights import lay_out_weights
from npu_runtime.passes.simplify.drop_unread import drop_unread
from npu_runtime.passes.simplify.eliminate_noops import eliminate_noops
from npu_runtime.passes.simplify.fold_constants import fold_constants
from npu_runtime.passes.simplify.forward_identities import forward_identities
from npu_runtime.passes.simplify.leaky_relu_grad_from_output import leaky_relu_grad_from_output
from npu_runtime.passes.simplify.merge_duplicates import merge_duplicates
from npu_runtime.passes.simplify.prune_control_edges import prune_control_edges
from npu_runtime.passes.simplify.remove_unused import remove_unused

SIMPLIFY: Sequence[Pass] = (fold_constants, eliminate_noops, drop_unread, remove_unused)
FUSE: Sequence[Pass] = (
    prune_control_edges,
    forward_identities,
    merge_duplicates,
    remove_unused,
    fuse_random_masks,
    leaky_relu_grad_from_output,
    fuse_normalization,
    fuse_bias_activation,
    fuse_pool_gradients,
    fuse_normalization_gradients,
    fold_normalization,
    fuse_product_sums,
    fuse_elementwise,
    fuse_optimizer_gradients,
    fuse_optimizer_products,
)


def pipeline(fusion: bool) -> Sequence[Pass]:
    """All passes in order.  fusion: whether neighbours may be fused.  Raises: ValueError when an order is impossible."""
    passes = [*SIMPLIFY, *(FUSE if fusion else ())]
    check_order(passes)
    return passes


def optimise(graph: Graph, fusion: bool) -> None:
    """Run the pipeline over a graph and the bodies of its loops, then what looks at both."""
    run_passes(graph, pipeline(fusion))
    for node in graph:
        if node.op == WHILE:
            optimise(node.attrs["loop"].graph, fusion)
    if fusion:
        lay_out_weights.run(graph)
