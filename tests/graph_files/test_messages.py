"""Graph files have the fields of the graph compiler's and of ONNX's messages: bytes laid out by hand, and texts."""

from __future__ import annotations

from google.protobuf import text_format

from npu_formats.vendor.graph_messages import ModelDef, OnnxModel
from npu_runtime.observers.graph_files.onnx_graph import onnx_model

TEXT = """
name: "ge_default_20260101000000_1"
graph {
  name: "g"
  op {
    name: "a/b"
    type: "Relu"
    input: "x:0"
    input: "c:-1"
    attr { key: "k" value { i: 0 } }
    id: 7
    stream_id: 2
    output_desc { dtype: DT_BF16 shape { dim: 2 dim: -1 } layout: "NHWC" }
  }
}
"""


def field(number: int, payload: bytes) -> bytes:
    """A field with a length."""
    return bytes([*varint(number << 3 | 2), *varint(len(payload))]) + payload


def number(of: int, value: int) -> bytes:
    return bytes([*varint(of << 3), *varint(value)])


def varint(value: int) -> list[int]:
    value &= (1 << 64) - 1
    return [value] if value < 128 else [value & 127 | 128, *varint(value >> 7)]


def test_the_graph_compilers_numbers():
    attribute = field(10, field(1, b"k") + field(2, number(3, 0)))
    shape = field(1, bytes([2, *varint(-1)]))
    described = field(34, number(2, 27) + field(3, shape) + field(4, b"NHWC"))
    op = field(1, b"a/b") + field(2, b"Relu") + field(5, b"x:0") + field(5, b"c:-1") + attribute + number(21, 7)
    graph = field(1, b"g") + field(6, op + number(22, 2) + described)
    expected = field(1, b"ge_default_20260101000000_1") + field(7, graph)
    model = text_format.Parse(TEXT, ModelDef())
    assert model.SerializeToString(deterministic=True) == expected
    assert ModelDef.FromString(expected) == model


def test_lists_and_tensors_have_the_graph_compilers_numbers():
    text = 'attr { key: "v" value { list { s: "a" i: 3 b: true dt: 1 val_type: VT_LIST_INT } } }'
    text += ' attr { key: "w" value { t { desc { dtype: DT_INT8 } data: "xy" } } }'
    listed = field(1, field(2, b"a") + field(3, b"\3") + field(5, b"\1") + field(12, b"\1") + number(20, 2))
    tensor = field(12, field(1, number(2, 3)) + field(2, b"xy"))
    expected = field(11, field(1, b"v") + field(2, listed)) + field(11, field(1, b"w") + field(2, tensor))
    assert text_format.Parse(text, ModelDef()).SerializeToString(deterministic=True) == expected


def test_onnx_numbers():
    attribute = field(5, field(1, b"output_desc_shape:0") + field(8, bytes([2, 3])) + number(20, 7))
    node = field(1, b"x:0") + field(2, b"a:0") + field(3, b"a") + field(4, b"ge:Relu") + attribute
    expected = number(1, 3) + field(2, b"tf2npu") + field(7, field(1, node) + field(2, b"g"))
    model = OnnxModel.FromString(expected)
    assert model.graph.node[0].attribute[0].ints == [2, 3]
    assert model.SerializeToString(deterministic=True) == expected


def test_onnx_attributes_are_named_as_the_documents_say():
    model = text_format.Parse(TEXT, ModelDef())
    (node,) = onnx_model(model, with_attributes=True).graph.node
    found = {attribute.name: attribute for attribute in node.attribute}
    assert found["output_desc_dtype:0"].s == b"DT_BF16" and found["output_desc_layout:0"].s == b"NHWC"
    assert found["output_desc_shape:0"].ints == [2, -1]
    assert (node.name, node.input, node.output) == ("a/b", ["x:0", "c:-1"], ["a/b:0"])
    (bare,) = onnx_model(model, with_attributes=False).graph.node
    assert not bare.attribute and bare.input == node.input
