"""Scopes, bindings and uses of one file, read from Python's own syntax tree: what `config_flow` makes a value-flow graph of."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tf2npu.scanner.input_roles import Target
from tf2npu.scanner.names import root_of
from tf2npu.scanner.syntax import children

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Assigned:
    """One assignment of a name: where it begins and ends, and the value, or None where that is not one expression."""

    line: int
    end_line: int
    value: ast.expr | None
    scope: FlowScope


@dataclass(frozen=True)
class Restart:
    """A line from which on older values of a name do not count, as a statement that is always run gives it a new one.

    is_default: the older values count but for None: `if c is None: c = ...`, `c = c or ...`.
    """

    line: int
    end_line: int
    is_default: bool


@dataclass(eq=False)
class FlowScope:
    """A module, class, function or lambda.  path: names of the scopes from the module down to it, "" for the module.

    kinds: for each name how it is bound, once a binding: import, function, class, param, value or other.
    """

    path: str
    kind: str
    node: ast.AST
    parent: FlowScope | None = None
    kinds: dict[str, list[str]] = field(default_factory=dict)
    imports: dict[str, set[Target]] = field(default_factory=dict)
    inner: dict[str, FlowScope] = field(default_factory=dict)
    globals: set[str] = field(default_factory=set)
    assigned: dict[str, list[Assigned]] = field(default_factory=dict)
    restarts: dict[str, list[Restart]] = field(default_factory=dict)
    given: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # first and last lines where a name is not None

    def owner(self, name: str) -> FlowScope | None:
        """The scope in which a name that is used here is bound."""
        scope: FlowScope | None = self
        if name in self.globals:
            while scope is not None and scope.parent is not None:
                scope = scope.parent
            return scope
        while scope is not None:
            if name in scope.kinds and (scope is self or scope.kind != "class"):
                return scope
            scope = scope.parent
        return None

    @property
    def receiver(self) -> tuple[str, FlowScope] | None:
        """The name of `self` (or `cls`) in this scope or the method around it, and the class."""
        scope: FlowScope | None = self
        while scope is not None:
            if scope.parent is not None and scope.parent.kind == "class" and isinstance(scope.node, Function):
                first = [*scope.node.args.posonlyargs, *scope.node.args.args][:1]
                return (first[0].arg, scope.parent) if first and "staticmethod" not in decorators(scope.node) else None
            scope = scope.parent
        return None


class ScopeReader:
    """Reads one module. Every list is in the order of the text."""

    def __init__(self, module: ast.Module) -> None:
        self.module = FlowScope("", "module", module)
        self.scopes = [self.module]
        self.calls: list[tuple[ast.Call, FlowScope]] = []
        self.returns: list[tuple[ast.Return, FlowScope]] = []
        self.attribute_stores: list[tuple[ast.Attribute, ast.expr | None, FlowScope]] = []
        self.key_stores: list[tuple[ast.Subscript, ast.expr | None, FlowScope]] = []
        self.loads: list[tuple[ast.Name | ast.Attribute, FlowScope]] = []
        self.generators: set[str] = set()  # paths of functions that yield or wait
        self.nonlocals: set[str] = set()
        self.taken: set[int] = set()  # ids of expressions that are called, or only looked into
        self._paths: Counter[str] = Counter()
        self._block(module.body, self.module)

    def release(self) -> None:
        """Let go of the scopes, which refer to each other and to the tree: the garbage collector is slow at so many."""
        for scope in self.scopes:
            scope.inner.clear()
            scope.assigned.clear()

    def _block(self, body: list[ast.stmt], scope: FlowScope) -> None:
        for statement in body:
            self._restart(statement, scope)
            self._visit(statement, scope)

    def _restart(self, statement: ast.stmt, scope: FlowScope) -> None:
        """Note a statement of the block of a function or module that gives a name a value whichever way the block is run."""
        name, is_default = "", False
        if isinstance(statement, ast.Assign):
            name, value = _assigned_name(statement), statement.value
            first = value.values[:-1] if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or) else []
            is_default = any(isinstance(one, ast.Name) and one.id == name for one in first)
        elif isinstance(statement, ast.If):
            both = _names_of(statement.body) & _names_of(statement.orelse)
            missing = _missing_name(statement.test)
            is_default = missing in _names_of(statement.body) and missing not in both
            for name in [missing] if is_default else sorted(both):
                self._note_restart(name, is_default, statement, scope)
            return
        if name:
            self._note_restart(name, is_default, statement, scope)

    def _note_restart(self, name: str, is_default: bool, statement: ast.stmt, scope: FlowScope) -> None:
        if scope.kind != "class" and name not in scope.globals:
            end = statement.end_lineno or statement.lineno
            scope.restarts.setdefault(name, []).append(Restart(statement.lineno, end, is_default))

    def _if(self, node: ast.If, scope: FlowScope) -> None:
        """Notes that a name which is not bound again in the arm that a test for None does not lead to is not None there."""
        name = _missing_name(node.test)
        if name and node.orelse:
            scope.given.setdefault(name, []).append((node.orelse[0].lineno, node.orelse[-1].end_lineno or 0))
        self._below(node, scope)

    def _visit(self, node: ast.AST, scope: FlowScope) -> None:
        handler = _HANDLERS.get(type(node), ScopeReader._below)
        handler(self, node, scope)

    def _below(self, node: ast.AST, scope: FlowScope) -> None:
        for child in children(node):
            self._visit(child, scope)

    def _bind(self, name: str, kind: str, scope: FlowScope) -> None:
        self._owner(name, scope).kinds.setdefault(name, []).append(kind)

    @staticmethod
    def _owner(name: str, scope: FlowScope) -> FlowScope:
        """The scope in which a statement of `scope` binds a name."""
        return (scope.owner(name) or scope) if name in scope.globals else scope

    def _open(self, name: str, kind: str, node: ast.AST, outer: FlowScope) -> FlowScope:
        path = f"{outer.path}.{name}" if outer.path else name
        self._paths[path] += 1
        scope = FlowScope(path if self._paths[path] == 1 else f"{path}#{self._paths[path]}", kind, node, outer)
        self.scopes.append(scope)
        return scope

    def _functiondef(self, node: Function, scope: FlowScope) -> None:
        for outside in [*node.decorator_list, *node.args.defaults, *[d for d in node.args.kw_defaults if d is not None]]:
            self._visit(outside, scope)
        self._bind(node.name, "function", scope)
        own = scope.inner[node.name] = self._open(node.name, "function", node, scope)
        self._parameters(node.args, own, "param")
        self._block(node.body, own)

    _asyncfunctiondef = _functiondef

    def _lambda(self, node: ast.Lambda, scope: FlowScope) -> None:
        for outside in [*node.args.defaults, *[d for d in node.args.kw_defaults if d is not None]]:
            self._visit(outside, scope)
        own = self._open("<lambda>", "lambda", node, scope)
        self._parameters(node.args, own, "other")
        self._visit(node.body, own)

    def _parameters(self, arguments: ast.arguments, scope: FlowScope, kind: str) -> None:
        for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            self._bind(one.arg, kind, scope)
        for star in (arguments.vararg, arguments.kwarg):
            if star is not None:
                self._bind(star.arg, "other", scope)

    def _classdef(self, node: ast.ClassDef, scope: FlowScope) -> None:
        for outside in [*node.decorator_list, *node.bases, *node.keywords]:
            self._visit(outside, scope)
        self.taken.update(id(base) for base in node.bases)
        self._bind(node.name, "class", scope)
        own = scope.inner[node.name] = self._open(node.name, "class", node, scope)
        self._block(node.body, own)

    def _import(self, node: ast.Import, scope: FlowScope) -> None:
        for alias in node.names:
            local = alias.asname or root_of(alias.name)
            self._imported(local, (0, alias.name if alias.asname else root_of(alias.name)), scope)

    def _importfrom(self, node: ast.ImportFrom, scope: FlowScope) -> None:
        for alias in node.names:
            if alias.name != "*":
                dotted = f"{node.module}.{alias.name}" if node.module else alias.name
                self._imported(alias.asname or alias.name, (node.level, dotted), scope)

    def _imported(self, local: str, target: Target, scope: FlowScope) -> None:
        self._bind(local, "import", scope)
        self._owner(local, scope).imports.setdefault(local, set()).add(target)

    def _assign(self, node: ast.Assign, scope: FlowScope) -> None:
        self._visit(node.value, scope)
        for target in node.targets:
            self._store(target, node.value, scope, node)

    def _annassign(self, node: ast.AnnAssign, scope: FlowScope) -> None:
        if node.value is not None:
            self._visit(node.value, scope)
            self._store(node.target, node.value, scope, node)

    def _namedexpr(self, node: ast.NamedExpr, scope: FlowScope) -> None:
        self._visit(node.value, scope)
        self._store(node.target, node.value, scope, node)

    def _store(self, target: ast.AST, value: ast.expr | None, scope: FlowScope, place: ast.stmt | ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._bind(target.id, "value", scope)
            owner = scope.owner(target.id) or scope
            end = place.end_lineno or place.lineno
            owner.assigned.setdefault(target.id, []).append(Assigned(place.lineno, end, value, scope))
        elif isinstance(target, ast.Attribute):
            self.attribute_stores.append((target, value, scope))
            self._visit(target.value, scope)
        elif isinstance(target, ast.Subscript):
            self.key_stores.append((target, value, scope))
            self.taken.add(id(target.value))
            self._below(target, scope)
        else:  # the parts of a tuple or list
            for part in children(target):
                self._store(part, None, scope, place)

    def _name(self, node: ast.Name, scope: FlowScope) -> None:
        if isinstance(node.ctx, ast.Load):
            self.loads.append((node, scope))
        else:  # a loop, `with`, an augmented assignment or a deletion
            self._store_unknown(node.id, node, scope)

    def _store_unknown(self, name: str, node: ast.expr, scope: FlowScope) -> None:
        self._bind(name, "value", scope)
        (scope.owner(name) or scope).assigned.setdefault(name, []).append(Assigned(node.lineno, node.lineno, None, scope))

    def _attribute(self, node: ast.Attribute, scope: FlowScope) -> None:
        if isinstance(node.ctx, ast.Load):
            self.loads.append((node, scope))
            if node.attr == "get":
                self.taken.add(id(node.value))
        else:
            self.attribute_stores.append((node, None, scope))
        self._visit(node.value, scope)

    def _subscript(self, node: ast.Subscript, scope: FlowScope) -> None:
        if isinstance(node.ctx, ast.Load):
            self.taken.add(id(node.value))
        else:
            self.key_stores.append((node, None, scope))
        self._below(node, scope)

    def _call(self, node: ast.Call, scope: FlowScope) -> None:
        self.calls.append((node, scope))
        self.taken.add(id(node.func))
        self.taken.update(id(keyword.value) for keyword in node.keywords if keyword.arg is None)
        self._below(node, scope)

    def _return(self, node: ast.Return, scope: FlowScope) -> None:
        self.returns.append((node, scope))
        if node.value is not None:
            self.taken.add(id(node.value))
            self._visit(node.value, scope)

    def _yield(self, node: ast.Yield | ast.YieldFrom | ast.Await, scope: FlowScope) -> None:
        self.generators.add(scope.path)
        self._below(node, scope)

    _yieldfrom = _await = _yield

    def _global(self, node: ast.Global, scope: FlowScope) -> None:
        scope.globals.update(node.names)
        for name in node.names:
            self.module.kinds.setdefault(name, [])

    def _nonlocal(self, node: ast.Nonlocal, scope: FlowScope) -> None:
        self.nonlocals.update(node.names)

    def _excepthandler(self, node: ast.ExceptHandler, scope: FlowScope) -> None:
        if node.name:
            self._bind(node.name, "other", scope)
        self._below(node, scope)

    def _matchas(self, node: ast.MatchAs | ast.MatchStar, scope: FlowScope) -> None:
        if node.name:
            self._bind(node.name, "other", scope)
        self._below(node, scope)

    _matchstar = _matchas


_HANDLERS: dict[type, Callable[[ScopeReader, Any, FlowScope], None]] = {
    kind: vars(ScopeReader)[f"_{kind.__name__.lower()}"]
    for kind in (
        ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign,
        ast.NamedExpr, ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Return, ast.Yield, ast.YieldFrom, ast.Await,
        ast.Global, ast.Nonlocal, ast.If, ast.ExceptHandler, ast.MatchAs, ast.MatchStar,
    )
}  # fmt: skip


def decorators(node: Function) -> list[str]:
    """Names of the decorators of a function; "" for one that is more than a name."""
    return [one.id if isinstance(one, ast.Name) else "" for one in node.decorator_list]


def _assigned_name(statement: ast.stmt) -> str:
    """The one name that a statement gives a value, or ""."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def _names_of(block: list[ast.stmt]) -> set[str]:
    """Names that a block gives values, whichever way it is run."""
    return {name for statement in block if (name := _assigned_name(statement))}


def _missing_name(test: ast.expr) -> str:
    """The name that `x is None` or `not x` finds missing, or ""."""
    name = None
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Is):
        is_none = isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value is None
        name = test.left if is_none else None
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        name = test.operand
    return name.id if isinstance(name, ast.Name) else ""


def always_leaves(body: list[ast.stmt]) -> bool:
    """Whether a block never comes to its end."""
    last = body[-1]
    if isinstance(last, (ast.Return, ast.Raise)):
        return True
    if isinstance(last, ast.If):
        return bool(last.orelse) and always_leaves(last.body) and always_leaves(last.orelse)
    if isinstance(last, (ast.With, ast.AsyncWith)):
        return always_leaves(last.body)
    if isinstance(last, ast.Try):
        return always_leaves(last.orelse or last.body) and all(always_leaves(handler.body) for handler in last.handlers)
    return False
