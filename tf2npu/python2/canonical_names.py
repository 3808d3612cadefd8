"""Functions of packages under one name each: `from numpy import linalg as la` makes `la.norm` one of `np.linalg.norm`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_SHORT = {"numpy": "np", "tensorflow.compat.v1": "tf", "tensorflow": "tf", "math": "math", "time": "time", "random": "random"}
"""Packages by the names that people write."""


def with_canonical_names(tree: ast.Module) -> ast.Module:
    """The tree with what imports bind written as parts of the packages, where a name is bound by such an import alone."""
    found: dict[str, set[str]] = {}
    for name, target in (pair for node in ast.walk(tree) for pair in _bound(node)):
        found.setdefault(name, set()).add(target)
    single = {name: next(iter(targets)) for name, targets in found.items() if len(targets) == 1}
    known = {name: short for name, target in single.items() if (short := _short(target)) and short != name}
    return _Renaming(known).visit(tree) if known else tree


def _bound(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Names that a node binds, with what an import gives them, an empty text for anything else."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0], alias.name.partition(".")[0])
    elif isinstance(node, ast.ImportFrom):
        package = "" if node.level else f"{node.module}."
        yield from ((alias.asname or alias.name, f"{package}{alias.name}" if package else "") for alias in node.names)
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id, ""
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name, ""
    elif isinstance(node, ast.arg):
        yield node.arg, ""
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name, ""


def _short(target: str) -> str:
    for long, short in _SHORT.items():
        if target == long or target.startswith(f"{long}."):
            return short + target[len(long) :]
    return ""


class _Renaming(ast.NodeTransformer):
    """Writes names as the parts of packages that they are, at the same places."""

    def __init__(self, known: dict[str, str]) -> None:
        self.known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """The part of a package that a name is, or the name itself."""
        if node.id not in self.known or not isinstance(node.ctx, ast.Load):
            return node
        made = ast.parse(self.known[node.id], mode="eval").body
        for part in ast.walk(made):
            if isinstance(part, ast.expr):
                ast.copy_location(part, node)
        return made
