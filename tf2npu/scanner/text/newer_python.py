"""Whether source that this Python refuses is fit for a newer one, as LibCST's parser takes more than any Python does."""

from __future__ import annotations

import sys
from typing import Any

import libcst as cst

from tf2npu.scanner.tree import Tree, refused_by_python
from tf2npu.scanner.tree_walk import Walked


def refused_by_newer_python(tree: Tree, walked: Walked) -> SyntaxError | None:
    """The error of this Python's parser in a source without what only newer ones know; None where it finds none.

    Left out are strings with expressions that it does not take by themselves, type parameters and `type` statements.
    A source with `except*` is not checked before Python 3.11.
    """
    nodes = list({id(node): node for node in walked.parents.values()}.values())
    if sys.version_info < (3, 11) and any(isinstance(node, cst.TryStar) for node in nodes):
        return None
    typed = [node.type_parameters for node in nodes if isinstance(node, (cst.FunctionDef, cst.ClassDef)) and node.type_parameters]
    found = [(tree.span(node), _instead(tree, node)) for node in [*nodes, *walked.strings, *typed]]
    text, end = [], 0
    for (start, last), instead in sorted({(span, new) for span, new in found if new is not None}):
        if start >= end:
            text += [tree.text[end:start], instead]
            end = last
    return refused_by_python("".join([*text, tree.text[end:]]))


def _instead(tree: Tree, node: Any) -> str | None:
    """The text that an older Python takes in the place of a node that it may not know; None for any other node."""
    if isinstance(node, (cst.FormattedString, cst.TemplatedString)):
        source = tree.source(node)
        lines = "\n" * (source.count("\n") or source.count("\r"))
        return f"'''{lines}'''" if refused_by_python(f"({source})") is not None else None
    if isinstance(node, cst.TypeAlias):
        return "pass"
    return "" if isinstance(node, cst.TypeParameters) else None
