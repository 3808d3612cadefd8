"""The names of a file by scope, with what each is given, and the places at which a file may tell its dialect."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tf2npu.frameworks.tensorflow1.value_kinds import Scope, ValueKinds, is_model_class, name_given
from tf2npu.scanner.syntax import children, walk

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_PLACES = (*_LOOPS, ast.Call, ast.Attribute, ast.Name, ast.With, ast.ClassDef)
_VERSIONS = re.compile(r"version|eager|hasattr|tf_?[12]\b|is_v[12]|\bv[12]\b|PY[23]", re.IGNORECASE)
"""Words in a condition by which it asks for a release, or for what only one has."""
_ENDS = frozenset({"KeyboardInterrupt", "SystemExit"})
"""Exceptions that no release raises where another does not."""


@dataclass(frozen=True)
class Place:
    """A node with its scope.  is_guarded: it runs only where the file found out that it can."""

    node: Any
    scope: Scope
    is_guarded: bool


class FileScopes:
    """places: nodes that may tell a dialect.  functions: of the module, by name.  kinds: tells what a value is."""

    def __init__(self, tree: ast.Module, aliases: Mapping[str, str], canonical: Callable[[str], str]) -> None:
        self.module = Scope()
        self.places: list[Place] = []
        self.functions: dict[str, ast.FunctionDef] = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
        self.kinds = ValueKinds(aliases, canonical, frozenset())
        self.kinds.subclasses = frozenset(_model_classes(tree, self.kinds))
        self.has_keras = False
        self.has_py_function = False
        self.builds = False
        self._read(tree)

    def _read(self, tree: ast.Module) -> None:
        left: list[tuple[ast.AST, Scope, bool]] = [(tree, self.module, False)]
        while left:
            node, scope, is_guarded = left.pop()
            _bind(node, scope)
            if isinstance(node, _PLACES):
                self.places.append(Place(node, scope, is_guarded))
            if isinstance(node, (ast.Attribute, ast.Name)):
                self._note(node)
            if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                scope = self._inner(node, scope)
            if isinstance(node, ast.Return) and scope.function:
                self.kinds.returns.setdefault(scope.function, []).append((node.value, scope))
            is_guarded = is_guarded or _guards(node)
            left += [(child, scope, is_guarded) for child in children(node)]

    def _inner(self, node: ast.AST, outer: Scope) -> Scope:
        """The scope of a function or a class, with its arguments."""
        is_known = outer is self.module and isinstance(node, ast.FunctionDef) and not node.decorator_list
        scope = Scope(outer, function=node.name if is_known and isinstance(node, ast.FunctionDef) else "")
        _bind_arguments(node, scope)
        return scope

    def _note(self, node: ast.Attribute | ast.Name) -> None:
        name = node.attr if isinstance(node, ast.Attribute) else node.id
        self.has_py_function = self.has_py_function or name in ("py_function", "numpy_function", "py_func")
        self.builds = self.builds or (name == "build" and isinstance(node, ast.Attribute))
        self.has_keras = self.has_keras or self.kinds.dotted(node).startswith("tensorflow.keras")


def _model_classes(tree: ast.Module, kinds: ValueKinds) -> list[str]:
    """The classes of a module that derive from the Keras model, also through each other."""
    found: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            bases = [base.id if isinstance(base, ast.Name) and base.id in found else kinds.dotted(base) for base in node.bases]
            if any(base in found or is_model_class(base) for base in bases):
                found.append(node.name)
    return found


def _bind(node: ast.AST, scope: Scope) -> None:
    """Keep what a statement gives its names."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            _give(target, node.value, scope)
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
        _give(node.target, node.value, scope)
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        _give_items(node.target, node.iter, scope)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            _give(item.optional_vars, None, scope)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        scope.given.setdefault(node.name, []).append(None)


def _give(target: ast.expr | None, value: ast.expr | None, scope: Scope) -> None:
    if isinstance(target, (ast.Tuple, ast.List)):
        parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts) else None
        for number, one in enumerate(target.elts):
            _give(one, parts[number] if parts is not None else None, scope)
    elif isinstance(target, ast.Starred):
        _give(target.value, None, scope)
    elif target is not None and (name := name_given(target)):
        _holder(name, scope).given.setdefault(name, []).append(value)


def _holder(name: str, scope: Scope) -> Scope:
    """The scope that keeps a name: what belongs to an object is kept by its class."""
    return scope.parent if name.startswith("self.") and scope.parent is not None else scope


def _give_items(target: ast.expr, iterable: ast.expr, scope: Scope) -> None:
    counted = enumerated(iterable)
    if counted is not None and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        target, iterable = target.elts[1], counted
    for one in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
        if name := name_given(one):
            scope.items.setdefault(name, []).append(iterable)


def enumerated(iterable: ast.expr) -> ast.expr | None:
    """The iterable inside `enumerate(...)`, or None."""
    is_counted = isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.func.id == "enumerate"
    return iterable.args[0] if is_counted and isinstance(iterable, ast.Call) and iterable.args else None


def _bind_arguments(node: ast.AST, scope: Scope) -> None:
    if isinstance(node, _FUNCTIONS):
        args = node.args
        for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
            if arg is not None:
                scope.given.setdefault(arg.arg, []).append(None)


def _guards(node: ast.AST) -> bool:
    """Whether what stands below a node may be left out by a file that knows better."""
    if isinstance(node, (ast.If, ast.IfExp)):
        return any(_VERSIONS.search(word) for word in _words(node.test))
    if isinstance(node, ast.Try):
        return any(getattr(handler.type, "id", "") not in _ENDS for handler in node.handlers)
    return False


def _words(test: ast.expr) -> Iterator[str]:
    """The names and texts in a condition."""
    for node in walk(test):
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield node.id if isinstance(node, ast.Name) else node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
