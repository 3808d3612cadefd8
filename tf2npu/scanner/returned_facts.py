"""The objects that the functions of a file return, where these are followed: told to the files that call them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator

from tf2npu.frameworks.registry import known
from tf2npu.scanner.input_roles import BUILTINS, Target, target_of
from tf2npu.scanner.syntax import chain, children

Given = str | Target  # qualified name of an instance, or the function of the project whose result is handed on
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_MOST = 12
"""The most values of one function, and the most open names, that are followed: project facts are to stay small."""


class ReturnGatherer:
    """Reads the return statements of module-level functions.

    dotted: qualified name of a chain whose root is a known import.  targets: other imported names and where they come from.
    has_stars: names that it does not bind may be functions of star imports.
    """

    def __init__(self, dotted: Callable[[ast.expr], str | None], targets: dict[str, Target], has_stars: bool = False) -> None:
        self.frameworks = known()
        self.dotted = dotted
        self.targets = targets
        self.has_stars = has_stars
        self.assigned: dict[str, list[ast.expr]] = {}
        self.local: set[str] = set()

    def gather(self, module: ast.Module) -> dict[str, Given]:
        """Functions that return one followed object, whichever way they are left."""
        functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
        self.local = {name for name, times in Counter(node.name for node in functions).items() if times == 1}
        found = {node.name: self._function(node) for node in functions if node.name in self.local}
        return {name: given for name, given in found.items() if given is not None}

    def _function(self, node: ast.FunctionDef) -> Given | None:
        values: list[ast.expr] = []
        arguments = node.args
        self.assigned = {a.arg: [] for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        for inner in _own_nodes(node):
            if isinstance(inner, ast.Return) and inner.value is not None:
                values.append(inner.value)
            elif isinstance(inner, ast.Assign) and len(inner.targets) == 1 and isinstance(inner.targets[0], ast.Name):
                self.assigned.setdefault(inner.targets[0].id, []).append(inner.value)
        if not values or len(values) > _MOST or not all(isinstance(v, (ast.Call, ast.Name)) for v in values):
            return None
        given = self._agreed(values, frozenset())
        return given if given is None or isinstance(given, tuple) or self.frameworks.is_followed(given) else None

    def _agreed(self, values: list[ast.expr], open_names: frozenset[str]) -> Given | None:
        rest = [v for v in values if not (isinstance(v, ast.Name) and v.id in open_names)]
        found = {self._value(value, open_names) for value in rest}
        return found.pop() if len(found) == 1 else None

    def _value(self, node: ast.expr, open_names: frozenset[str]) -> Given | None:
        if isinstance(node, ast.Name) and len(open_names) < _MOST:
            values = [v for v in self.assigned.get(node.id, []) if not _starts_with(v, open_names | {node.id})]
            module = self.dotted(node) if not values and node.id not in self.assigned else None
            if module is not None and self.frameworks.is_followed(module):
                return module  # imported by the function, for those that call it
            return self._agreed(values, open_names | {node.id}) if values else None
        if not isinstance(node, ast.Call):
            return None
        name = self.dotted(node.func)
        if name is not None:
            return self.frameworks.returned(name)
        if isinstance(node.func, ast.Attribute) and not self._is_imported(node.func):
            base = self._value(node.func.value, open_names)
            return self.frameworks.returned(f"{base}.{node.func.attr}") if isinstance(base, str) else None
        return self._target(node.func)

    def _is_imported(self, node: ast.expr) -> bool:
        return chain(node)[0] in self.targets

    def _target(self, node: ast.expr) -> Target | None:
        if chain(node)[0] in self.assigned:
            return None
        return target_of(node, self.targets, lambda name: name in self.local or (self.has_stars and name not in BUILTINS))


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Nodes of a function without those of what is defined in it."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (*_SCOPES, ast.expr)):
            todo.extend(children(node))


def _starts_with(node: ast.expr, names: frozenset[str]) -> bool:
    """Whether a chain of method calls starts at one of these names, as in `d = d.map(f)`."""
    while isinstance(node, (ast.Call, ast.Attribute)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id in names
