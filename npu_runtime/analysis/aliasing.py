"""Alias analysis: whether a result may be a view of an input."""

from __future__ import annotations

from npu_runtime import dtypes as dt
from npu_runtime.graph.ir import Node
from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.base import all_kernels


def may_alias(node: Node) -> bool:
    """Whether an output may be a view of an input: everything but kernels that fill buffers given to them for all outputs."""
    return node.host_reason is None and not all(is_filled(node, spec) for spec in node.outputs)


def is_filled(node: Node, spec: Spec) -> bool:
    """Whether the plan can give an output a place that the kernel fills: not if its size is known in a step only."""
    made = all_kernels().get(node.op)
    takes_out = node.host_reason is None and made is not None and made.takes_out
    return takes_out and spec.is_complete and spec.value is None and bool(dt.itemsize_bytes(spec.dtype))
