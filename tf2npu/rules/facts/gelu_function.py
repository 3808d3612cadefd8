"""The formula of a function that may compute GELU: assignments and one return."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.facts.gelu_formula import Formula
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.sites import Site


def formula_of(site: Site, node: cst.FunctionDef, own: Scope) -> Formula | None:
    """The formula a function returns, when it is assignments and one return, perhaps inside a name scope."""
    argument = _argument(node, own)
    statements = _statements(site, node)
    if argument is None or not statements:
        return None
    values: dict[str, cst.BaseExpression] = {}
    for statement in statements[:-1]:
        if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
            return None
        target = statement.targets[0].target
        if not isinstance(target, cst.Name) or target.value == argument or target.value in values:
            return None
        values[target.value] = statement.value
    last = statements[-1]
    if not isinstance(last, cst.Return) or last.value is None:
        return None
    return Formula(site, own, argument, last.value, values)


def _argument(node: cst.FunctionDef, own: Scope) -> str | None:
    params = node.params
    names = [p.name.value for p in (*params.posonly_params, *params.params)]
    is_static = any(isinstance(d.decorator, cst.Name) and d.decorator.value == "staticmethod" for d in node.decorators)
    if own.parent is not None and own.parent.kind == "class" and not is_static:
        names = names[1:]
    if params.star_kwarg is not None or isinstance(params.star_arg, cst.Param):
        return None
    return names[0] if names else None


def _statements(site: Site, node: cst.FunctionDef) -> list[Any]:
    body: Any = node.body
    lines = list(body.body)
    if lines and is_docstring(lines[0]):
        lines = lines[1:]
    if len(lines) == 1 and isinstance(lines[0], cst.With) and isinstance(lines[0].body, cst.IndentedBlock):
        items = lines[0].items
        scopes = {site.script.name_of(i.item.func, site.scope) for i in items if isinstance(i.item, cst.Call)}
        if len(items) == 1 and scopes <= {"tensorflow.name_scope", "tensorflow.keras.backend.name_scope"}:
            lines = list(lines[0].body.body)
    if isinstance(body, cst.SimpleStatementSuite):
        return lines
    flat: list[Any] = []
    for line in lines:
        if not isinstance(line, cst.SimpleStatementLine):
            return []
        flat.extend(line.body)
    return flat


def is_docstring(line: Any) -> bool:
    """Whether a line of a body is a string by itself."""
    if not isinstance(line, cst.SimpleStatementLine) or not isinstance(line.body[0], cst.Expr):
        return False
    return isinstance(line.body[0].value, (cst.SimpleString, cst.ConcatenatedString))
