"""The names that a module binds when it is loaded, and whether it may have others that only running it tells."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

_OPEN = frozenset(("exec", "eval", "globals", "vars", "setattr", "execfile", "__import__", "import_module"))
"""Functions by which a module may get names that its text does not bind."""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def bound_names(module: ast.Module) -> frozenset[str]:
    """Names that statements bind at module level, also in branches and loops, and those that functions declare global."""
    return frozenset((*_bound(module.body), *_declared_global(module)))


def is_open(nodes: Iterable[ast.AST]) -> bool:
    """Whether a module may have names that its text does not bind."""
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in _OPEN:
            return True
        if isinstance(node, ast.Attribute) and node.attr in ("__dict__", "modules", "import_module"):
            return True
        if isinstance(node, ast.FunctionDef) and node.name == "__getattr__":
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
        todo += ast.iter_child_nodes(node)


def _declared_global(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Global):
            yield from node.names
