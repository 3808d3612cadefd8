"""Graph files in text: `ge_proto_*.txt`."""

from __future__ import annotations

from pathlib import Path

from npu_formats.files.bounded_read import read_at_most
from npu_formats.vendor.graph_json import MOST_TEXT_BYTES, GraphFormatError, graph_document
from tf2npu.comparison.graph.operators import Graph, graph_of
from tf2npu.comparison.unreadable import Unreadable


def read_graph_text(path: Path) -> Graph:
    """The graph of a ge_proto text.  Raises: Unreadable."""
    try:
        document = graph_document(read_at_most(path, MOST_TEXT_BYTES))
    except OSError as error:
        raise Unreadable(path, error.strerror or str(error)) from None
    except GraphFormatError as error:
        raise Unreadable(path, str(error)) from None
    return graph_of(document, path)
