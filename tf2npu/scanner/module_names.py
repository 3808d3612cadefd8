"""The names that a module binds when it is loaded, and whether it may have others that only running it tells."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tf2npu.scanner.syntax import children

_OPEN = frozenset(("exec", "eval", "globals", "vars", "setattr", "execfile", "__import__", "import_module"))
"""Functions by which a module may get names that its text does not bind."""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def bound_names(module: ast.Module, nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Names that statements bind at module level, also in branches and loops, and those that functions declare global.

    nodes: all nodes of the module.
    """
    return frozenset((*_bound(module.body), *(name for node in nodes if type(node) is ast.Global for name in node.names)))


def is_open(nodes: Iterable[ast.AST]) -> bool:
    """Whether a module may have names that its text does not bind."""
    for node in nodes:
        if type(node) is ast.Name:
            if node.id in _OPEN:
                return True
        elif type(node) is ast.Attribute:
            if node.attr in ("__dict__", "modules", "import_module"):
                return True
        elif type(node) is ast.FunctionDef and node.name == "__getattr__":
            return True
    return False


def _bound(body: Iterable[ast.AST]) -> Iterator[str]:
    todo = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, _SCOPES):
            if not isinstance(node, ast.Lambda):
                yield node.name
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                yield node.id
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name
        todo += children(node)
