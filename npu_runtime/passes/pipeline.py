"""The order of the passes over one specialised program."""

from __future__ import annotations

from collections.abc import Sequence

from npu_runtime.graph.ir import Graph
from npu_runtime.graph.ops import WHILE
from npu_runtime.passes.base import Pass, check_order, run_passes
from npu_runtime.passes.drop_neutral import drop_neutral
from npu_runtime.passes.drop_unread import drop_unread
from npu_runtime.passes.fold_constants import fold_constants
from npu_runtime.passes.fold_normalization import fold_normalization
from npu_runtime.passes.forward_identities import forward_identities
from npu_runtime.passes.fuse_bias_activation import fuse_bias_activation
from npu_runtime.passes.fuse_elementwise import fuse_elementwise
from npu_runtime.passes.fuse_normalization import fuse_normalization
from npu_runtime.passes.fuse_normalization_gradients import fuse_normalization_gradients
from npu_runtime.passes.fuse_optimizer_gradients import fuse_optimizer_gradients
from npu_runtime.passes.fuse_optimizer_products import fuse_optimizer_products
from npu_runtime.passes.fuse_pool_gradients import fuse_pool_gradients
from npu_runtime.passes.fuse_product_sums import fuse_product_sums
from npu_runtime.passes.fuse_random_masks import fuse_random_masks
from npu_runtime.passes.lay_out_weights import lay_out_weights
from npu_runtime.passes.loosen_controls import loosen_controls
from npu_runtime.passes.merge_duplicates import merge_duplicates
from npu_runtime.passes.read_activated import read_activated
from npu_runtime.passes.remove_unused import remove_unused

SIMPLIFY: Sequence[Pass] = (fold_constants, drop_neutral, drop_unread, remove_unused)
FUSE: Sequence[Pass] = (
    loosen_controls,
    forward_identities,
    merge_duplicates,
    remove_unused,
    fuse_random_masks,
    read_activated,
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
