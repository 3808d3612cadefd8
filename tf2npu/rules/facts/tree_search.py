"""Nodes of some kinds in a part of a tree.

LibCST's matchers do more, and their import alone takes as long as the rest of LibCST.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.scanner.tree_walk import NO_NODES, SEQUENCES, child_fields


def nodes_in(node: cst.CSTNode, *kinds: type[cst.CSTNode]) -> list[Any]:
    """The nodes of these very kinds among a node and those below it but layout, each before those that it holds."""
    found, todo = [], [node]
    while todo:
        one = todo.pop()
        if type(one) in kinds:
            found.append(one)
        below: list[Any] = []
        kind: Any = type(one)
        for name in child_fields(kind):
            value = getattr(one, name)
            if type(value) in SEQUENCES:
                below += value
            elif type(value) not in NO_NODES:
                below.append(value)
        todo += reversed(below)
    return found
