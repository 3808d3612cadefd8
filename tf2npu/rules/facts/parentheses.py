"""Expressions that need no parentheses where they are put into another."""

from __future__ import annotations

import libcst as cst

_ATOMS = (
    cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Integer, cst.Float, cst.SimpleString, cst.FormattedString,
    cst.List, cst.Dict, cst.Set, cst.ListComp, cst.DictComp, cst.SetComp, cst.Ellipsis,
)  # fmt: skip


def is_atom(node: cst.BaseExpression) -> bool:
    """Whether an expression keeps its meaning behind a binary operator without parentheses."""
    return isinstance(node, _ATOMS) or bool(getattr(node, "lpar", ()))
