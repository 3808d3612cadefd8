"""The order of the passes over one specialised program."""

from __future__ import annotations

from collections.abc import Sequence

from npu_runtime.passes.base import Pass, check_order
from npu_runtime.passes.fold_constants import fold_constants
from npu_runtime.passes.fuse_bias_activation import fuse_bias_activation
from npu_runtime.passes.remove_unused import remove_unused

SIMPLIFY: Sequence[Pass] = (fold_constants, remove_unused)
FUSE: Sequence[Pass] = (fuse_bias_activation,)


def pipeline(fusion: bool) -> Sequence[Pass]:
    """All passes in order.  fusion: whether neighbours may be fused.  Raises: ValueError when an order is impossible."""
    passes = [*SIMPLIFY, *(FUSE if fusion else ())]
    check_order(passes)
    return passes
