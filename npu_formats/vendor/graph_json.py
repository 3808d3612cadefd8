"""The JSON that comparison programs read in the place of a graph file, as the vendor's ATC makes of it.

A list for each map, with `key` and `value` in each entry; integers as numbers, texts and bytes as texts, and nothing for what a
message does not have.  Source: what the vendor's comparison program reads (msprobe, folder msaccucmp), and its documents of ATC.
"""

from __future__ import annotations

import json
import math
from typing import Any

from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor

from npu_formats.vendor.graph_messages import ModelDef

MOST_TEXT_BYTES = 1 << 26
"""Bytes that a graph file may have: 64 MB hold graphs of 20,000 nodes, and ten times as much memory is needed to read them."""
_SHOWN = 120
"""Characters of what the parser says that a message shows."""


class GraphFormatError(ValueError):
    """A text that is no graph file, or a damaged one."""


def graph_document(data: bytes) -> dict[str, Any]:
    """The text of a graph file as lists, dictionaries, texts and numbers; fields that are not known are skipped.

    Raises: GraphFormatError.
    """
    if len(data) > MOST_TEXT_BYTES:
        raise GraphFormatError(f"it has more than {MOST_TEXT_BYTES >> 20} MB: write it without weights (DUMP_GE_GRAPH=2)")
    try:
        model = text_format.Parse(data, ModelDef(), allow_unknown_field=True)
        document = _plain(model)
    except RecursionError:
        raise GraphFormatError("its messages stand too deep inside one another") from None
    except (text_format.Error, ValueError) as error:
        raise GraphFormatError(f"it is no text of a graph: {_short(error) or 'it is not UTF-8'}") from None
    if not model.graph:
        raise GraphFormatError("it has no graph: name a file ge_proto_*.txt")
    for made, graph in zip(document["graph"], model.graph, strict=True):
        operators = zip(made.get("op", []), graph.op, strict=True)
        made["op"] = [{**operator, "id": op.id} for operator, op in operators]  # 0 is the first, and is written too
    return document


def graph_json(document: dict[str, Any]) -> str:
    """The document as JSON."""
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _short(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _plain(message: Any) -> dict[str, Any]:
    return {field.name: _value(field, value) for field, value in message.ListFields()}


def _value(field: FieldDescriptor, value: Any) -> Any:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        of_value = field.message_type.fields_by_name["value"]
        return [{"key": key, "value": _single(of_value, value[key])} for key in sorted(value)]
    if field.label == FieldDescriptor.LABEL_REPEATED:
        return [_single(field, element) for element in value]
    return _single(field, value)


def _single(field: FieldDescriptor, value: Any) -> Any:
    if field.message_type is not None:
        return _plain(value)
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known is not None else value
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if not isinstance(value, float) or math.isfinite(value) else str(value)
