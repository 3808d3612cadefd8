"""The nodes of the reference's graph, as `tf2npu dump reference` notes them beside its steps."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npu_formats.files.bounded_read import MB, read_at_most
from tf2npu.comparison.unreadable import Unreadable

NODES = "nodes.json"
"""The file, in the folder that holds those of the steps."""
_MOST_BYTES = 256 * MB
"""Largest size of the file: a million nodes of 250 bytes."""
_TENSOR = re.compile(r"(.+):(\d{1,9})")
Tensor = tuple[str, int]
"""A node of TensorFlow's graph, and the number of its output."""


@dataclass(frozen=True)
class ReferenceNode:
    """op: TensorFlow's.  inputs: what it reads, without control edges."""

    op: str
    inputs: tuple[Tensor, ...]


def nodes_beside(step: Path) -> dict[str, ReferenceNode]:
    """The nodes by name, of the folder of a step; empty where they are not noted.  Raises: Unreadable."""
    path = step.parent / NODES
    if path.is_symlink() or not path.is_file():
        return {}
    try:
        document = json.loads(read_at_most(path, _MOST_BYTES))
        return {name: _node(about) for name, about in document["nodes"].items()}
    except OSError as error:
        raise Unreadable(path, error.strerror or str(error)) from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Unreadable(path, f"it is no list of nodes: {error}") from None


def _node(about: Any) -> ReferenceNode:
    """The node of `[op, [input, ...]]`.  Raises: ValueError, TypeError."""
    op, inputs = about
    found = [_TENSOR.fullmatch(text) for text in inputs]
    if not isinstance(op, str) or None in found:
        raise ValueError(f"{about!r:.80} is no node")
    return ReferenceNode(op, tuple((match[1], int(match[2])) for match in found if match))
