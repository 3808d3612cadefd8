"""The files that a graph reads: those that are missing are made, and constants that name them say where they are."""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from npu_bridge._smoke.contents import Contents
from npu_bridge._smoke.examples import features
from npu_bridge._smoke.graph_nodes import Nodes, bodies
from npu_bridge._smoke.made_files import MadeFiles, is_path
from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.framework import dtypes, tensor_util

_FORMS: Mapping[str, str] = {
    "TFRecordDataset": "records", "TFRecordDatasetV2": "records", "TFRecordReader": "records", "TFRecordReaderV2": "records",
    "TextLineDataset": "text", "TextLineReader": "text", "TextLineReaderV2": "text", "CSVDataset": "text",
    "CSVDatasetV2": "text", "FixedLengthRecordDataset": "fixed", "FixedLengthRecordDatasetV2": "fixed",
    "FixedLengthRecordReader": "fixed", "FixedLengthRecordReaderV2": "fixed", "InitializeTableFromTextFile": "words",
    "InitializeTableFromTextFileV2": "words", "ReadFile": "whole", "WholeFileReader": "whole", "WholeFileReaderV2": "whole",
}  # fmt: skip
"""The form in which an operation reads a file."""
_IMAGES = frozenset(("DecodeJpeg", "DecodePng", "DecodeImage", "DecodeBmp", "DecodeGif", "DecodeAndCropJpeg"))
_NO_READERS = (
    "Save",
    "Restore",
    "Merge",
    "Assert",
    "Print",
    "Parse",
    "LookupTable",
    "Sharded",
    "ScalarSum",
    "Histogram",
    "Image",
)
"""Beginnings of operations whose texts are no files that are read."""
_SUFFIX = re.compile(r"\.[A-Za-z]\w{0,11}(?:[-.][\w-]+)?$")
"""The end of a file's name."""


class GraphFiles:
    """files: of the process."""

    def __init__(self, files: MadeFiles) -> None:
        self._files = files
        self._known: dict[int, int] = {}
        self._forms: dict[int, list[str]] = {}
        self._graphs: list[Any] = []
        self._n_facts = 0

    def prepare(self, graph: Any) -> None:
        """Make what is missing of a tf.Graph, and name the places; nothing to do where the graph has not grown."""
        if self._known.get(id(graph)) == graph.version:
            return
        self._graphs.append(graph)
        self._known[id(graph)] = graph.version
        found = list(bodies(graph))
        forms = self._forms[id(graph)] = _forms(found)
        self._learn(found)
        if not forms and not any(node.op == "MatchingFiles" for nodes in found for node in nodes.by_name.values()):
            return
        for nodes in found:
            for node in list(nodes.by_name.values()):
                if node.op == "Const" and node.attr["dtype"].type == dtypes.string.as_datatype_enum:
                    self._meet(graph, nodes, node, forms)
        self._known[id(graph)] = graph.version

    def fed(self, graph: Any, value: Any) -> Any:
        """A value that is fed, with the places of the files that it names."""
        array = np.asarray(value)
        forms = self._forms.get(id(graph), [])
        if array.dtype.kind not in "OSU" or not forms:
            return value
        given = array.ravel().tolist()
        moved = [self._place(one.decode("utf-8", "replace") if isinstance(one, bytes) else one, forms) for one in given]
        if all(new is None for new in moved):
            return value
        texts = [old if new is None else new.encode() for old, new in zip(given, moved, strict=True)]
        return np.array(texts, dtype=object).reshape(array.shape)

    def _learn(self, found: Sequence[Nodes]) -> None:
        facts = self._files.facts
        for nodes in found:
            for feature in features(nodes):
                facts.meet(feature)
            for node in nodes.by_name.values():
                _learn_lines(facts, nodes, node)
        n_facts = len(facts.features) + len(facts.columns)
        if n_facts > self._n_facts:
            self._n_facts = n_facts
            self._files.make_again()

    def _meet(self, graph: Any, nodes: Nodes, node: Any, forms: list[str]) -> None:
        readers = [consumer.op for _, consumer in nodes.consumers[node.name]]
        if readers and all(op.startswith(_NO_READERS) or op.endswith("Summary") for op in readers):
            return
        array = tensor_util.MakeNdarray(node.attr["value"].tensor)
        given = array.ravel().tolist()
        own = [_FORMS[op] for op in readers if op in _FORMS]
        likely = [*own, *(form for form in forms if form not in own)] if own else forms
        texts = [one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one) for one in given]
        if not own and "MatchingFiles" not in readers:
            texts = [one if _names_a_file(one, nodes) else "" for one in texts]
            if not any(texts):
                return
        is_pattern = "MatchingFiles" in readers
        moved = [self._pattern(one, likely) if is_pattern else self._place(one, likely) for one in texts]
        if any(moved):
            new = np.array([g if m is None else m.encode() for g, m in zip(given, moved, strict=True)], dtype=object)
            new = new.reshape(array.shape)
            _set_constant(graph, node.name, new)

    def _pattern(self, pattern: str, forms: list[str]) -> str | None:
        """The place of what a pattern finds; None where that is where it says."""
        read = self._files.places.read(pattern)
        if glob.glob(read):
            return read if read != pattern else None
        return self._files.make_matching(pattern, _whole(forms))

    def _place(self, text: Any, forms: list[str]) -> str | None:
        """The place of a file elsewhere, made where it is missing; None where the text is to stay."""
        if not isinstance(text, str) or not is_path(text):
            return None
        places = self._files.places
        if not places.is_missing(text):
            place: str | None = places.read(text)
        else:
            place = self._files.make(text, _whole(forms))
        return place if place is not None and place != text else None


def _names_a_file(text: str, nodes: Nodes) -> bool:
    """Whether a text that no reader takes directly is more likely a file than a name in the graph, as savers have them."""
    name = text.rpartition("/")[2]
    return (
        text not in nodes.by_name
        and ".ckpt" not in name
        and (text.startswith("/") or "record" in name or bool(_SUFFIX.search(name)))
    )


def _whole(forms: Sequence[str]) -> list[str]:
    """The forms that the maker of files knows."""
    return [form for form in forms if form != "whole"]


def _forms(found: Sequence[Nodes]) -> list[str]:
    """The forms of all files that these bodies read."""
    ops = {node.op for nodes in found for node in nodes.by_name.values()}
    forms = dict.fromkeys(_FORMS[op] for op in sorted(ops) if op in _FORMS)
    if "whole" in forms:
        forms |= dict.fromkeys(["image"] if ops & _IMAGES else ["sound"] if "DecodeWav" in ops else ["text"])
    return list(forms)


def _learn_lines(facts: Contents, nodes: Nodes, node: Any) -> None:
    """Add what an operation tells of the lines, or of the records of a fixed length, that it takes."""
    if node.op == "DecodeCSV":
        _meet_columns(facts, node, [dtypes.as_dtype(one) for one in node.attr["OUT_TYPE"].list.type], node.attr["select_cols"])
        facts.delimiter = node.attr["field_delim"].s.decode() or ","
    elif node.op.startswith("CSVDataset"):
        _meet_columns(facts, node, [dtypes.as_dtype(one) for one in node.attr["output_types"].list.type], None)
    elif node.op.startswith("FixedLengthRecordReader"):
        facts.n_bytes = node.attr["record_bytes"].i or facts.n_bytes
    elif node.op.startswith("FixedLengthRecordDataset"):
        size = nodes.constant(nodes.inputs(node)[2])
        facts.n_bytes = int(size) if size is not None else facts.n_bytes
    elif node.op == "StringToNumber":
        facts.has_numbers = True
        given = (nodes.constant(one) for one in nodes.by_name.values() if one.op == "Const" and "value" in one.attr)
        facts.has_pairs |= any(one is not None and one.dtype == object and one.size == 1 and one.item() == b":" for one in given)


def _meet_columns(facts: Contents, node: Any, types: Sequence[Any], selected: Any) -> None:
    kinds = [one.as_numpy_dtype.__name__ for one in types]
    places = list(selected.list.i) if selected is not None and selected.list.i else []
    if places:
        all_kinds = ["float32"] * (max(places) + 1)
        for place, kind in zip(places, kinds, strict=True):
            all_kinds[place] = kind
        kinds = all_kinds
    if len(kinds) > len(facts.columns):
        facts.columns = kinds


def _set_constant(graph: Any, name: str, value: np.ndarray) -> None:
    """Give a constant of a graph another value; one of a function's body stays."""
    try:
        operation = graph.get_operation_by_name(name)
    except (KeyError, ValueError):
        return
    operation._set_attr("value", attr_value_pb2.AttrValue(tensor=tensor_util.make_tensor_proto(value)))
