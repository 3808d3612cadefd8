"""Scopes of a source and what binds their names: values, changes, arguments of calls, results of functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from tf2npu.python2.known_calls import fetched

WHOLE, REAL, UNKNOWN = "whole", "real", ""
"""Kinds of a number. WHOLE: an integer, or a Dimension of TensorFlow, which Python 2 divides in the same way."""
RANGES = frozenset(("range", "xrange"))
_FLAGS = {"DEFINE_integer": WHOLE, "DEFINE_float": REAL}
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Facts:
    """Facts that the scopes of one file have in common.

    settled: the one value that a name has at a place, by the id of the place.  whole: ids of names that were used as whole
    numbers for sure before they are read.  real: names that are given to a function that takes real numbers alone, each with the
    id of its scope.  shortened: names of lists that lose parts.  inside: scopes of functions and classes, by the id of the node.
    changing: scopes of changes of attributes, by the id of the node.  known: kinds that were found, by the id of the place.
    named: kinds of names, with the id of the scope.  opened: how many names are looked up at the moment.
    assumed: how many names are taken for real to look at them again.  steps: how many names were looked up.
    depth: how many assignments are followed at the moment.
    """

    settled: dict[int, tuple[ast.expr, Bindings]] = field(default_factory=dict)
    whole: set[int] = field(default_factory=set)
    real: set[tuple[int, str]] = field(default_factory=set)
    shortened: set[str] = field(default_factory=set)
    inside: dict[int, Bindings] = field(default_factory=dict)
    changing: dict[int, Bindings] = field(default_factory=dict)
    known: dict[int, str] = field(default_factory=dict)
    named: dict[tuple[int, str], str] = field(default_factory=dict)
    opened: int = 0
    assumed: int = 0
    steps: int = 0
    depth: int = 0


@dataclass
class Given:
    """A value that is read in another scope than the name that it binds: an argument of a call, or a default."""

    value: ast.expr
    names: Bindings = field(repr=False)


@dataclass
class Result:
    """The value of a property: what its function returns."""

    function: FunctionNode


Binding = ast.expr | ast.AugAssign | Given | Result | str


@dataclass
class Bindings:
    """The bindings of names in a scope: each a value, an augmented assignment, or a kind that is known at once."""

    outer: Bindings | None
    facts: Facts = field(repr=False)
    bound: dict[str, list[Binding]] = field(default_factory=dict)
    open: dict[str, str] = field(default_factory=dict)
    is_class: bool = False
    functions: dict[str, list[FunctionNode]] = field(default_factory=dict)
    arguments: frozenset[str] = frozenset()

    def owner(self, name: str) -> Bindings | None:
        """The scope that gives a name its value here; None for a name of nobody in the file."""
        names: Bindings | None = self
        while names is not None and name not in names.bound:
            names = names.outer
        return names

    def add(self, name: str, value: Binding) -> None:
        """Note a value that the name gets in this scope."""
        self.bound.setdefault(name, []).append(value)

    @property
    def module(self) -> Bindings:
        """The scope of the file."""
        return self if self.outer is None else self.outer.module


def attribute_key(node: ast.AST) -> str | None:
    """The name under which the module holds what an attribute of self gets; None for other expressions."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return f".{node.attr}"
    return None


def scopes_of(tree: ast.Module) -> tuple[Bindings, list[tuple[ast.AST, Bindings]]]:
    """The scope of a file, and each of its nodes with the names that it sees."""
    module = Bindings(None, Facts())
    for name, kind in _flags(tree):
        module.add(f"FLAGS.{name}", kind)
    return module, list(_visit(tree, module))


def _bind_attributes(node: ast.AST, names: Bindings) -> None:
    """Note what attributes get, whatever object has them: `.name` of the module is bound to all of it."""
    module = names.module
    pairs: list[tuple[ast.expr, ast.expr | None]] = []
    if isinstance(node, ast.Assign):
        pairs = [pair for target in node.targets for pair in paired(target, node.value)]
    elif isinstance(node, (ast.For, ast.comprehension)):
        pairs = list(paired(node.target, None))
    for target, value in pairs:
        if isinstance(target, ast.Attribute):
            module.add(f".{target.attr}", UNKNOWN if value is None else Given(value, names))
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
        module.facts.changing[id(node)] = names
        module.add(f".{node.target.attr}", node)
    if isinstance(node, ast.ClassDef):
        for own in (t.id for s in node.body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)):
            module.add(f".{own}", UNKNOWN)
        for function in (s for s in node.body if isinstance(s, FunctionNode)):
            module.add(f".{function.name}", Result(function) if _is_property(function) else UNKNOWN)


def _is_property(node: FunctionNode) -> bool:
    decorators = node.decorator_list
    return len(decorators) == 1 and isinstance(decorators[0], ast.Name) and decorators[0].id == "property"


def paired(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The single targets of an assignment, each with its value, None where no single expression is its value."""
    if isinstance(target, (ast.Tuple, ast.List)):
        values = _values(value, len(target.elts))
        for n, part in enumerate(target.elts):
            yield from paired(part, values[n] if values else None)
    elif isinstance(target, ast.Starred):
        yield from paired(target.value, None)
    else:
        yield target, value


def _values(value: ast.expr | None, count: int) -> list[ast.expr]:
    """The expressions that several targets get: those of a tuple, or those that a session is asked for at once."""
    value = fetched(value) or value
    return value.elts if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == count else []


def _flags(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Options of the command line that the file defines, with what they are."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        name = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
        given = {k.arg: k.value.id for k in node.keywords if isinstance(k.value, ast.Name)}
        kind = {"int": WHOLE, "float": REAL}.get(given.get("type", "")) if node.func.attr == "add_argument" else None
        kind = kind or _FLAGS.get(node.func.attr)
        if isinstance(name, str) and kind:
            yield name.lstrip("-").replace("-", "_"), kind


def _visit(node: ast.AST, names: Bindings) -> Iterator[tuple[ast.AST, Bindings]]:
    """Each node with the names that it sees; what binds a name is noted on the way."""
    yield node, names
    _bind(node, names)
    _bind_attributes(node, names)
    inner = names
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        inner = names.facts.inside[id(node)] = Bindings(names.outer if names.is_class else names, names.facts)
        inner.arguments = frozenset(arg.arg for arg in arguments(node))
        inner.bound.update({name: [UNKNOWN] for name in inner.arguments})
    elif isinstance(node, ast.ClassDef):
        inner = names.facts.inside[id(node)] = Bindings(names, names.facts, is_class=True)
    for child in ast.iter_child_nodes(node):
        yield from _visit(child, inner)


def arguments(node: FunctionNode | ast.Lambda) -> list[ast.arg]:
    """The arguments of a function, those that gather the rest last."""
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
    return [arg for arg in given if arg is not None]


def _bind(node: ast.AST, names: Bindings) -> None:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            _bind_target(target, node.value, names)
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        names.add(node.target.id, node)
    elif isinstance(node, (ast.For, ast.comprehension)):
        _bind_loop(node.target, node.iter, names)
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        for name in node.names:  # given a value from elsewhere
            names.add(name, UNKNOWN)
            names.module.add(name, UNKNOWN)
    elif isinstance(node, FunctionNode):
        names.add(node.name, UNKNOWN)
        names.functions.setdefault(node.name, []).append(node)
    elif isinstance(node, ast.ClassDef):
        names.add(node.name, UNKNOWN)
    elif isinstance(node, ast.alias):
        names.add((node.asname or node.name).partition(".")[0], UNKNOWN)
    elif isinstance(node, ast.ExceptHandler) and node.name:
        names.add(node.name, UNKNOWN)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        _bind_target(node.optional_vars, None, names)


def _bind_target(target: ast.expr, value: ast.expr | None, names: Bindings) -> None:
    for part, own in paired(target, value):
        if isinstance(part, ast.Name):
            names.add(part.id, UNKNOWN if own is None else own)


def _bind_loop(target: ast.expr, source: ast.expr, names: Bindings) -> None:
    called = source.func.id if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) else ""
    if isinstance(target, ast.Name) and called in RANGES:
        names.add(target.id, WHOLE)
    elif isinstance(target, ast.Tuple) and called == "enumerate" and isinstance(target.elts[0], ast.Name):
        names.add(target.elts[0].id, WHOLE)
        for part in target.elts[1:]:
            _bind_target(part, None, names)
    else:
        _bind_target(target, None, names)
