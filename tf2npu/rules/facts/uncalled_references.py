"""Functions and classes that are named without being called: passed on, chosen or extended."""

from __future__ import annotations

import libcst as cst

from tf2npu.scanner.sites import Site

_ASKING = ("isinstance", "issubclass", "super", "hasattr", "getattr")


def passed_on(site: Site) -> cst.CSTNode | None:
    """The statement that passes a function or class on, chooses or extends it, so that it is called somewhere else.

    Returns: None where it only gets another name, is asked about, stands in an annotation, or one of its attributes is meant.
    """
    parent = site.script.walked.parents.get(id(site.node))
    if site.is_alias() or isinstance(parent, (cst.Attribute, cst.AssignTarget)):
        return None
    for ancestor in site.script.walked.ancestors(site.node):
        if isinstance(ancestor, (cst.Annotation, cst.ExceptHandler, cst.Decorator, cst.Comparison)) or _only_asks(ancestor):
            return None
        if isinstance(ancestor, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return ancestor
    return None


def _only_asks(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in _ASKING
