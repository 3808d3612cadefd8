"""The float type that each node runs in, once a precision mode has been applied."""

from __future__ import annotations

from collections import Counter

from npu_formats.device.op_table import tensorflow_ops
from npu_runtime import dtypes as dt
from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.ops import WHILE
from npu_runtime.kernels.elementwise.rounding import ROUND

DEVICE_TYPE = "_device_type"
"""Attribute of a node: the float type that it runs in."""
STORED_TYPE = "_stored_type"
"""Attribute of a node that a pass has made of several: the type of the numbers in its result, where that is one of 16 bits."""


ROUNDED_INPUT = "trans_Cast_"
"""The beginning of the name of a Cast that a reader asked for; other roundings belong to the operator before them."""


def device_type(graph: Graph, node: Node) -> str:
    """The float type that a node runs in: assigned, else of its first float value, "" for a node without any."""
    if DEVICE_TYPE in node.attrs:
        return str(node.attrs[DEVICE_TYPE])
    specs = [graph.spec(value) for value in node.inputs] + node.outputs
    return next((spec.dtype for spec in specs if spec.dtype in dt.FLOATS), "")


def stored_type(node: Node, output: int) -> str:
    """The type that an output has in the device's memory: results of 16 bits lie in fp32 here, rounded."""
    dtype = node.outputs[output].dtype
    if dtype != "float32":
        return dtype
    if node.op == ROUND:
        return str(node.attrs["dtype"])
    row = tensorflow_ops().get(node.op)
    keeps_type = row is not None and row.keeps_grid and DEVICE_TYPE in node.attrs
    return str(node.attrs[DEVICE_TYPE] if keeps_type else node.attrs.get(STORED_TYPE, dtype))


def type_remark(node: Node) -> str:
    """The float type of a node for a graph dump: the one that it runs in, else that of its first floating result, else ""."""
    made = [spec.dtype for spec in node.outputs if spec.dtype in dt.FLOATS]
    return str(node.attrs.get(DEVICE_TYPE, "")) or (made[0] if made else "")


def count_types(graph: Graph) -> Counter[str]:
    """The number of device nodes by the float type that they run in, also in loops; roundings are no nodes of the device."""
    found: Counter[str] = Counter()
    for node in graph:
        if node.op == WHILE:
            found += count_types(node.attrs["loop"].graph)
        elif node.host_reason is None and node.op != ROUND and (name := device_type(graph, node)):
            found[name] += 1
    return found


def stores_float16(graph: Graph) -> bool:
    """Whether a device node, also of a loop, makes fp16 values in 16 bits of storage: what the graph itself has in fp16."""
    for node in graph:
        if node.op == WHILE and stores_float16(node.attrs["loop"].graph):
            return True
        if node.host_reason is None and any(spec.dtype == "float16" for spec in node.outputs):
            return True
    return False
