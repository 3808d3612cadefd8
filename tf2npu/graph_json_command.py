"""What `dump graph` does: the JSON of a graph file."""

from __future__ import annotations

from pathlib import Path

from tf2npu.refused_request import RefusedRequest


def graph_json(graph: Path, out: Path) -> int:
    """`tf2npu dump graph`; returns the exit code."""
    raise RefusedRequest(f"the JSON {out} of {graph} is not made yet")
