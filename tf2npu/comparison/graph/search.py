"""Finds the graph file of a model: beside its dump, above it, or in the working folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tf2npu.comparison.graph.operators import Graph, read_graph
from tf2npu.comparison.graph.text import read_graph_text
from tf2npu.comparison.unreadable import Unreadable

_HIGHEST = 8
"""Folders above a step that are looked into: those of the dump are five, those of precision_data three more."""
_LOOKED_AT_BYTES = 1 << 12
"""The beginning of a JSON file that shows whether it is a graph."""
_NUMBER = re.compile(r"_(\d+)$")


def graph_in(path: Path) -> Graph:
    """The graph of a file that the user named, text or JSON.  Raises: Unreadable."""
    return read_graph_text(path) if path.suffix == ".txt" else read_graph(path)


def find_graph(step: Path, model: str, working: Path) -> tuple[Graph | None, list[str]]:
    """The graph of a model and notes; None where no file is found."""
    notes: list[str] = []
    of_number = None
    for path in _candidates(step, working):
        try:
            graph = graph_in(path)
        except Unreadable as error:
            notes.append(f"{error}; it is not used.")
            continue
        if graph.name == model or not model:
            return graph, notes
        if of_number is None and _number(graph.name) and _number(graph.name) == _number(model):
            of_number = graph
    if of_number is not None:
        notes.append(f"The graph {of_number.name} in {of_number.path} has the number of {model}, and another time.")
    return of_number, notes


def _number(name: str) -> str:
    found = _NUMBER.search(name)
    return found[1] if found else ""


def _candidates(step: Path, working: Path) -> Iterator[Path]:
    """Graph files, JSON first as it is read faster; each once."""
    seen = set()
    for folder in dict.fromkeys((step, *step.parents[:_HIGHEST], working)):
        for place in (folder, folder / "graph"):
            for pattern in ("*.json", "ge_proto_*_Build.txt"):
                for path in sorted(place.glob(pattern)):
                    if path not in seen and path.is_file() and not path.is_symlink() and _is_graph(path):
                        seen.add(path)
                        yield path


def _is_graph(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            start = stream.read(_LOOKED_AT_BYTES)
    except OSError:
        return False
    return path.suffix == ".txt" or (start.lstrip().startswith(b"{") and b'"graph"' in start)
