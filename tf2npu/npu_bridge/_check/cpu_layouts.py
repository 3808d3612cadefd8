"""Images with the channels first on TensorFlow's CPU, most of whose kernels take them last.

TensorFlow's layout optimizer puts transposes around such nodes when it is asked to.  It leaves alone what is fetched, and a check
fetches all, so a copy is fetched in the place of a tensor of such a node.
Source: generic_layout_optimizer and `cpu_layout_conversion` of TensorFlow 2.15.
"""

from __future__ import annotations

from typing import Any

from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops


def is_channels_first(operation: Any) -> bool:
    """Whether a node works on images whose second axis are the channels."""
    try:
        layout = operation.get_attr("data_format")
    except ValueError:  # most operators have none
        return False
    return bytes(layout).startswith(b"NC")


def with_transposes(config: config_pb2.ConfigProto, graph: Any) -> config_pb2.ConfigProto:
    """The config for a session of the graph: no optimizer but that of layouts, and that one only where a node needs it."""
    graph = graph if graph is not None else ops.get_default_graph()
    if any(map(is_channels_first, graph.get_operations())):
        rewrite = config.graph_options.rewrite_options
        rewrite.disable_meta_optimizer = False
        rewrite.optimizers[:] = ["layout"]
        rewrite.cpu_layout_conversion = rewriter_config_pb2.RewriterConfig.NCHW_TO_NHWC
        rewrite.min_graph_nodes = -1  # small graphs too
    return config


def fetched(tensor: Any) -> Any:
    """The tensor, or a copy of it where it is made with the channels first."""
    if not is_channels_first(tensor.op):
        return tensor
    name = f"tf2npu_check/{tensor.op.name}/{tensor.value_index}"
    try:
        return tensor.graph.get_tensor_by_name(f"{name}:0")
    except KeyError:
        return _copy(tensor, name)


def _copy(tensor: Any, name: str) -> Any:
    """Made in a graph that may be finalized, as a MonitoredSession's is; no node of the script's reads it."""
    graph = tensor.graph
    was_finalized = graph.finalized
    graph._unsafe_unfinalize()
    try:
        with graph.as_default(), ops.control_dependencies(None), ops.device(None):
            return array_ops.identity(tensor, name=f"{name}/")  # the stroke: whatever scope is open
    finally:
        if was_finalized:
            graph.finalize()
