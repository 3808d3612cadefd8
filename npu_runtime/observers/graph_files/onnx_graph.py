"""A graph file's model as ONNX's, which viewers of graphs open: who reads whom, with types and shapes as attributes."""

from __future__ import annotations

from typing import Any

from npu_formats.vendor.graph_messages import ONNX_INTEGER, ONNX_INTEGERS, ONNX_TEXT, ONNX_TEXTS, OnnxModel, type_name

_IR_VERSION = 3
"""The version of ONNX's format whose fields these are."""


def onnx_model(model: Any, with_attributes: bool) -> Any:
    """The ONNX ModelProto of a ModelDef.  with_attributes: without them, only who reads whom."""
    made = OnnxModel(ir_version=_IR_VERSION, producer_name="tf2npu")
    made.graph.name = model.graph[0].name
    for op in model.graph[0].op:
        node = made.graph.node.add(name=op.name, op_type=f"ge:{op.type}", input=op.input)
        node.output.extend(f"{op.name}:{index}" for index in range(len(op.output_desc)))
        if with_attributes:
            _add(node, "id", ONNX_INTEGER, i=op.id)
            _add(node, "stream_id", ONNX_INTEGER, i=op.stream_id)
            names = op.attr["_datadump_original_op_names"].list.s if "_datadump_original_op_names" in op.attr else ()
            _add(node, "_datadump_original_op_names", ONNX_TEXTS, strings=names)
            for side, described in (("input", op.input_desc), ("output", op.output_desc)):
                for index, tensor in enumerate(described):
                    _add_tensor(node, f"{side}_desc", index, tensor)
    return made


def _add_tensor(node: Any, side: str, index: int, tensor: Any) -> None:
    _add(node, f"{side}_dtype:{index}", ONNX_TEXT, s=type_name(tensor.dtype).encode())
    _add(node, f"{side}_layout:{index}", ONNX_TEXT, s=tensor.layout.encode())
    _add(node, f"{side}_shape:{index}", ONNX_INTEGERS, ints=tensor.shape.dim)


def _add(node: Any, name: str, kind: int, **value: Any) -> None:
    node.attribute.add(name=name, type=kind, **value)
