"""The operators of a graph file in JSON, as far as a comparison needs them.

Source: the attributes that msaccucmp reads of ATC's rendering of a graph (`atc --mode=5`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npu_formats.files.bounded_read import MB, read_at_most
from tf2npu.comparison.unreadable import Unreadable

MOST_GRAPH_BYTES = 512 * MB
"""Largest size of a graph file: 100,000 operators of 4 KB each."""
LINE = "_user_line"
"""The attribute with the line of the user's code, `file.py:12`, where a graph file has one."""


@dataclass
class OutputDesc:
    """An output: which tensor of the user's graph it is.  origin_name: "" where none is said."""

    origin_name: str
    origin_index: int
    origin_format: str
    origin_shape: tuple[int, ...]


@dataclass
class Operator:
    """An operator of the compiled graph.

    inputs: `producer:index` without control edges.  original_names: of the user's graph; [""] for an inserted one.
    order: of execution.  line: of the user's code, or "".
    """

    name: str
    op_type: str
    inputs: list[str]
    original_names: list[str]
    outputs: list[OutputDesc]
    is_part_of_several: bool
    l1_group: str
    order: int
    line: str

    @property
    def is_inner(self) -> bool:
        """Whether it is one of several that an original became, and none of its outputs is a tensor of the user's graph."""
        return self.is_part_of_several and all(not output.origin_name for output in self.outputs)


@dataclass
class Graph:
    """name: of the first graph in the file, which is also that of the model's folder."""

    path: Path
    name: str
    operators: list[Operator]


def read_graph(path: Path) -> Graph:
    """The graph of a JSON file.  Raises: Unreadable with the path and what is wrong."""
    try:
        document = json.loads(read_at_most(path, MOST_GRAPH_BYTES))
    except OSError as error:
        raise Unreadable(path, error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise Unreadable(path, f"this is no JSON: {error}") from None
    return graph_of(document, path)


def graph_of(document: Any, path: Path) -> Graph:
    """The graph of a document as ATC makes it.  Raises: Unreadable."""
    try:
        graphs = _list(_object(document), "graph")
        operators = [_operator(_object(item)) for graph in graphs for item in _list(_object(graph), "op")]
        names = [graph["name"] for graph in graphs if isinstance(graph.get("name"), str)]
    except _Malformed as error:
        raise Unreadable(path, f"this is no graph file: {error}") from None
    return Graph(path, names[0] if names else "", operators)


class _Malformed(Exception):
    """The error that a part of the document is not as it must be."""


def _operator(item: dict[str, Any]) -> Operator:
    name, op_type = _text(item, "name"), _text(item, "type")
    attributes = _attributes(item)
    outputs = list(_outputs(item))
    names = _strings(attributes.get("_datadump_original_op_names"))
    if names is None:
        _name_outputs(outputs, name)
    return Operator(
        name, op_type, list(_inputs(item)), [name] if names is None else names, outputs,
        _value(attributes, "_datadump_is_multiop", "b", bool) or False,
        _value(attributes, "_L1_fusion_sub_graph_no", "s", str) or "",
        item.get("id", 0) if isinstance(item.get("id", 0), int) else 0,
        _value(attributes, LINE, "s", str) or "",
    )  # fmt: skip


def _name_outputs(outputs: list[OutputDesc], name: str) -> None:
    """Outputs that name no tensor of the user's graph are those of the operator of this name."""
    if not outputs:
        outputs.append(OutputDesc(name, -1, "", ()))
    for output in outputs:
        output.origin_name = output.origin_name or name


def name_renamed(operator: Operator) -> None:
    """Name the outputs of an operator that is alone with its one original."""
    if len(operator.original_names) == 1 and operator.original_names[0] and not operator.l1_group:
        _name_outputs(operator.outputs, operator.original_names[0])


def _inputs(item: dict[str, Any]) -> Iterator[str]:
    for source in _list(item, "input") if "input" in item else []:
        if not isinstance(source, str):
            raise _Malformed('an entry of "input" is no text')
        if source and not source.endswith(":-1"):
            yield source


def _outputs(item: dict[str, Any]) -> Iterator[OutputDesc]:
    for index, output in enumerate(_list(item, "output_desc") if "output_desc" in item else []):
        if "attr" not in _object(output):
            continue
        attributes = _attributes(output)
        origin_index = _value(attributes, "_datadump_origin_output_index", "i", int)
        layout = _value(attributes, "_datadump_origin_format", "s", str) or _value(attributes, "origin_format", "s", str)
        shape = attributes.get("origin_shape", {}).get("list", {})
        extents = shape.get("i", []) if isinstance(shape, dict) else []
        if not isinstance(extents, list) or any(type(extent) is not int for extent in extents):
            raise _Malformed('"origin_shape" is no list of integers')
        name = _value(attributes, "_datadump_origin_name", "s", str) or ""
        yield OutputDesc(name, index if origin_index is None else origin_index, layout or "", tuple(extents))


def _attributes(item: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Values by key; of a key that occurs twice the first."""
    found: dict[str, dict[str, Any]] = {}
    for pair in _list(item, "attr") if "attr" in item else []:
        key, value = _text(_object(pair), "key"), pair.get("value")
        found.setdefault(key, value if isinstance(value, dict) else {})
    return found


def _strings(value: dict[str, Any] | None) -> list[str] | None:
    """The list of an attribute; [""] for an empty one, None where there is no such attribute."""
    if value is None:
        return None
    some = _object(value.get("list", {})).get("s", [])
    if not isinstance(some, list) or any(not isinstance(text, str) for text in some):
        raise _Malformed("a list of names holds something else")
    return some or [""]


def _value(attributes: dict[str, dict[str, Any]], key: str, kind: str, of_type: type) -> Any:
    if key not in attributes:
        return None
    value = attributes[key].get(kind)
    if not isinstance(value, of_type):
        raise _Malformed(f'the value of "{key}" is no {of_type.__name__}')
    return value


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Malformed("an entry is no object")
    return value


def _list(item: dict[str, Any], key: str) -> list[Any]:
    if not isinstance(item.get(key), list):
        raise _Malformed(f'there is no list "{key}"')
    found: list[Any] = item[key]
    return found


def _text(item: dict[str, Any], key: str) -> str:
    if not isinstance(item.get(key), str):
        raise _Malformed(f'there is no text "{key}"')
    text: str = item[key]
    return text
