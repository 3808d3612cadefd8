"""Constant values in the source text: numbers and texts, through names that are bound once."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.scanner.scopes import Scope

_QUOTES = frozenset("'\"")
_TRIPLE = ("'''", '"""')
_OPERATIONS = {cst.Add: lambda a, b: a + b, cst.Subtract: lambda a, b: a - b, cst.Multiply: lambda a, b: a * b}


def integer_of(node: Any, scope: Scope, depth: int = 0) -> int | None:
    """A whole number, or None where the text does not tell."""
    if isinstance(node, cst.Integer):
        return int(node.value.replace("_", ""), 0)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        value = integer_of(node.expression, scope, depth)
        return None if value is None else -value
    if isinstance(node, cst.BinaryOperation) and type(node.operator) in _OPERATIONS:
        left, right = integer_of(node.left, scope, depth), integer_of(node.right, scope, depth)
        return None if left is None or right is None else _OPERATIONS[type(node.operator)](left, right)
    value_node = bound_value(node, scope)
    return integer_of(value_node, scope, depth + 1) if value_node is not None and depth < 5 else None


def literal_text(node: Any) -> str | None:
    """The text of a literal that stands in one piece, or None for anything else, bytes among it."""
    if not isinstance(node, cst.SimpleString):
        return None
    written = node.value
    if written[0] in _QUOTES and "\\" not in written and "\r" not in written:
        return written[3:-3] if written.startswith(_TRIPLE) else written[1:-1]
    value = node.evaluated_value
    return value if isinstance(value, str) else None


def text_of(node: Any, scope: Scope) -> str | None:
    """A text, or None where it is not written out."""
    if isinstance(node, cst.SimpleString):
        return literal_text(node)
    if isinstance(node, cst.ConcatenatedString):
        left, right = text_of(node.left, scope), text_of(node.right, scope)
        return None if left is None or right is None else left + right
    value_node = bound_value(node, scope)
    return text_of(value_node, scope) if isinstance(value_node, (cst.SimpleString, cst.ConcatenatedString)) else None


def bound_value(node: Any, scope: Scope) -> Any:
    """The one expression that a name is bound to, or None."""
    if not isinstance(node, cst.Name):
        return None
    bindings = scope.lookup(node.value)
    return bindings[0].node if len(bindings) == 1 and bindings[0].kind == "value" else None
