"""The JSON of a graph file has what comparison programs read, and damaged files are named as such."""

from __future__ import annotations

import json
import random

import pytest

from npu_formats.vendor.graph_json import MOST_TEXT_BYTES, GraphFormatError, graph_document, graph_json

TEXT = rb"""
name: "ge_default_20260101000000_1"
version: 1
a_field_of_a_later_release { deep { er: 1 } }
graph {
  name: "ge_default_20260101000000_1"
  op { name: "x" type: "Data" output_desc { dtype: DT_FLOAT layout: "ND" } }
  op {
    name: "fc/Relu"
    type: "FusedMatMul"
    input: "x:0"
    input: "c:-1"
    attr { key: "_datadump_original_op_names" value { list { s: "fc/MatMul" s: "fc/Relu" val_type: VT_LIST_STRING } } }
    attr { key: "_datadump_is_multiop" value { b: false } }
    id: 1
    output_desc {
      dtype: DT_FLOAT16
      layout: "NHWC"
      attr { key: "_datadump_origin_name" value { s: "fc/Relu" } }
      attr { key: "_datadump_origin_output_index" value { i: 0 } }
      attr { key: "origin_shape" value { list { i: 2 i: 3 val_type: VT_LIST_INT } } }
    }
  }
  op {
    name: "trans_Cast"
    type: "Cast"
    attr { key: "_datadump_original_op_names" value { list { val_type: VT_LIST_STRING } } }
    attr { key: "scale" value { f: inf } }
    attr { key: "value" value { t { data: "\377<{{{" } } }
    id: 2
  }
}
"""


def test_it_has_what_comparison_programs_look_for():
    document = json.loads(graph_json(graph_document(TEXT)))
    (graph,) = document["graph"]
    data, fused, cast = graph["op"]
    assert graph["name"] == document["name"] == "ge_default_20260101000000_1"
    assert [op["id"] for op in graph["op"]] == [0, 1, 2]
    assert data["output_desc"] == [{"dtype": "DT_FLOAT", "layout": "ND"}]
    assert fused["input"] == ["x:0", "c:-1"]
    attributes = {entry["key"]: entry["value"] for entry in fused["attr"]}
    assert attributes["_datadump_original_op_names"]["list"]["s"] == ["fc/MatMul", "fc/Relu"]
    assert attributes["_datadump_is_multiop"] == {"b": False}
    described = {entry["key"]: entry["value"] for entry in fused["output_desc"][0]["attr"]}
    assert described["_datadump_origin_name"] == {"s": "fc/Relu"} and described["_datadump_origin_output_index"] == {"i": 0}
    assert described["origin_shape"]["list"]["i"] == [2, 3]
    inserted = {entry["key"]: entry["value"] for entry in cast["attr"]}
    assert "s" not in inserted["_datadump_original_op_names"]["list"]  # which makes it an operator that was inserted
    assert inserted["scale"] == {"f": "inf"} and inserted["value"]["t"]["data"] == "\\xff<{{{"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it has no graph"),
        (b'name: "only"', "it has no graph"),
        (TEXT[:-30], "no text of a graph"),
        (b"\xff\xfe\x00", "no text of a graph"),
        (b"PK\3\4" + bytes(1000), "no text of a graph"),
        (b"graph { op { id: 99999999999999999999999999 } }", "no text of a graph"),
        (b"graph { op " + b"{ attr { key: 'a' value { g { op " * 3000, "too deep"),
        (b"x { " * 100_000, ""),
    ],
)
def test_what_is_no_graph_file_is_said_to_be_none(data, said):
    with pytest.raises(GraphFormatError, match=said):
        graph_document(data)


def test_a_file_that_is_too_large_is_not_parsed():
    with pytest.raises(GraphFormatError, match="64 MB"):
        graph_document(b" " * (MOST_TEXT_BYTES + 1))


def test_damaged_files_are_read_or_refused():
    draw = random.Random(5)
    outcomes = set()
    for _ in range(400):
        data = bytearray(TEXT)
        for _ in range(draw.randint(1, 4)):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        try:
            graph_json(graph_document(bytes(data[: draw.choice([len(data), draw.randrange(len(data))])])))
            outcomes.add("read")
        except GraphFormatError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}
