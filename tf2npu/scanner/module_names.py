"""The names that a module binds when it is loaded, and whether it may have others that only running it tells."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import PurePosixPath

from tf2npu.scanner.syntax import Nodes, children

_OPEN = frozenset(("exec", "eval", "globals", "vars", "setattr", "execfile", "__import__", "import_module"))
"""Functions by which a module may get names that its text does not bind."""
_OPEN_ATTRIBUTES = ("__dict__", "modules", "import_module")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@lru_cache(maxsize=4096)
def folder_parts(path: str) -> tuple[str, ...]:
    """The names of the folders that a file is in, from the root of its tree."""
    return PurePosixPath(path).parent.parts


def bound_names(module: ast.Module, nodes: Nodes) -> frozenset[str]:
    """Names that statements bind at module level, also in branches and loops, and those that functions declare global.

    nodes: all nodes of the module.
    """
    return frozenset((*_bound(module.body), *(name for node in nodes.of(ast.Global) for name in node.names)))


def is_open(nodes: Nodes) -> bool:
    """Whether a module may have names that its text does not bind."""
    return (
        any(node.id in _OPEN for node in nodes.of(ast.Name))
        or any(node.attr in _OPEN_ATTRIBUTES for node in nodes.of(ast.Attribute))
        or any(node.name == "__getattr__" for node in nodes.of(ast.FunctionDef))
    )


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
