"""Graph files in text."""

from __future__ import annotations

from pathlib import Path

from tf2npu.comparison.graph_file import Graph
from tf2npu.comparison.unreadable import Unreadable


def read_graph_text(path: Path) -> Graph:
    """The graph of a ge_proto text.  Raises: Unreadable."""
    raise Unreadable(path, "graph files in text are not read yet: make JSON of it with `tf2npu dump graph FILE.txt OUT.json`")
