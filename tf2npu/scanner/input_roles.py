"""Functions that make the input of training, and those that make that of evaluation, followed through calls and files.

A function given to `train(input_fn=...)`, a lambda or partial around it, a factory called there, and every function these
call, get the role "train", together with the constants they are called with; likewise "eval" for evaluate and predict.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeGuard

from tf2npu.frameworks.registry import known
from tf2npu.scanner.syntax import LEAVES, chain, children

Target = tuple[int, str]  # level of a relative import, dotted name; level -1: a name of the same file
Constant = bool | int | float | str | None
Value = tuple[str, Constant]  # ("const", value), ("param", name) or ("other", None)
_MAX_USES = 40
"""The most uses of one function that are kept: what a batch feeds is told by the first ones, or by none."""
_INTEGER_BITS = 64
"""Bits of the integers that facts are stored with."""
_WITHOUT_BLOCKS = frozenset((ast.Expr, ast.Return, ast.AugAssign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.Pass, ast.Raise))
BUILTINS = frozenset(dir(builtins))
LIBRARIES = frozenset({
    "absl", "argparse", "collections", "copy", "cv2", "datetime", "functools", "glob", "itertools", "json", "logging", "math",
    "matplotlib", "numpy", "os", "pandas", "pickle", "PIL", "random", "re", "scipy", "shutil", "six", "sklearn", "subprocess",
    "sys", "threading", "time", "tqdm",
})  # fmt: skip


@dataclass(frozen=True)
class CallFact:
    """A call of a function: who calls, what is called, with which arguments; `role` when the result feeds a model."""

    caller: str
    target: Target
    arguments: tuple[tuple[str | int, Value], ...]
    role: str = ""


@dataclass(frozen=True)
class FunctionFact:
    """Parameters of a function and the constants they default to."""

    parameters: tuple[str, ...]
    defaults: tuple[tuple[str, Constant], ...]


@dataclass(frozen=True)
class InputUse:
    """One way a function is used as input: the role, and the constants of its parameters."""

    role: str
    constants: tuple[tuple[str, Constant], ...]

    def constant(self, name: str) -> Constant:
        """Value of a parameter, or None when it is not a constant."""
        return dict(self.constants).get(name)


class RoleGatherer:
    """Collects functions and calls of one file. has_stars: names that it does not bind may be functions of star imports."""

    def __init__(self, targets: dict[str, Target], has_stars: bool = False) -> None:
        self.fed_inputs = known().fed_inputs
        self.targets = targets
        self.has_stars = has_stars
        self.functions: dict[str, FunctionFact | None] = {}
        self.calls: list[CallFact] = []
        self.assigned: dict[tuple[str, str], list[ast.expr]] = {}

    def gather(self, module: ast.Module) -> None:
        """Walk a module; a function name that is defined twice is ambiguous and dropped."""
        self._block(module.body, "", ())
        self._visit_calls(module.body, "", ())

    def _block(self, body: Iterable[ast.AST], owner: str, params: tuple[str, ...]) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._function(node)
                self._block(node.body, node.name, ())
            elif isinstance(node, ast.Assign):
                if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                    self.assigned.setdefault((owner, node.targets[0].id), []).append(node.value)
            elif type(node) not in _WITHOUT_BLOCKS:
                self._block(_statements(node), owner, params)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        args = [*node.args.posonlyargs, *node.args.args]
        names = tuple(a.arg for a in [*args, *node.args.kwonlyargs])
        pairs = list(zip(args[len(args) - len(node.args.defaults) :], node.args.defaults, strict=True))
        pairs += [(a, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d is not None]
        defaults = tuple((a.arg, d.value) for a, d in pairs if isinstance(d, ast.Constant) and _is_followed(d.value))
        self.functions[node.name] = None if node.name in self.functions else FunctionFact(names, defaults)

    def _visit_calls(self, body: Iterable[ast.AST], owner: str, params: tuple[str, ...]) -> None:
        for node in body:
            if type(node) in LEAVES:
                continue
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                fact = self.functions.get(node.name)
                self._visit_calls(node.body, node.name, (*params, *(fact.parameters if fact else ())))
                continue
            if type(node) is ast.Call:
                self._call(node, owner, params)
            self._visit_calls(children(node), owner, params)

    def _call(self, node: ast.Call, owner: str, params: tuple[str, ...]) -> None:
        fact = self._fact(node, owner, params, "") if owner else None  # only a function can pass a role on
        if fact is not None and not _is_of_a_library(fact.target):
            self.calls.append(fact)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for fed_inputs in self.fed_inputs:
            for role, expression in fed_inputs(node, name):
                self.calls.extend(self._uses(expression, owner, params, role, 0))

    def _uses(self, node: ast.expr, owner: str, params: tuple[str, ...], role: str, depth: int) -> list[CallFact]:
        if depth > 8:
            return []
        if isinstance(node, ast.Lambda):
            return self._uses(node.body, owner, params, role, depth + 1)
        if isinstance(node, ast.Call):
            if _last_name(node.func) == "partial" and node.args:
                inner = ast.Call(node.args[0], node.args[1:], node.keywords)
                return [f for f in [self._fact(inner, owner, params, role)] if f]
            if isinstance(node.func, ast.Attribute) and self._is_value(node.func.value, owner):
                chained = self._uses(node.func.value, owner, params, role, depth + 1)
                if chained:
                    return chained
            return [f for f in [self._fact(node, owner, params, role)] if f]
        if isinstance(node, ast.Name):
            values = self.assigned.get((owner, node.id)) or self.assigned.get(("", node.id)) or []
            if values and node.id not in self.functions:
                return [use for value in values for use in self._uses(value, owner, params, role, depth + 1)]
        target = self._target(node)
        return [CallFact(owner, target, (), role)] if target else []

    def _is_value(self, node: ast.expr, owner: str) -> bool:
        """Whether a method is called on the result of a call, not on a module."""
        if isinstance(node, ast.Name):
            return (owner, node.id) in self.assigned or ("", node.id) in self.assigned
        return isinstance(node, ast.Call)

    def _fact(self, node: ast.Call, owner: str, params: tuple[str, ...], role: str) -> CallFact | None:
        target = self._target(node.func)
        if target is None:
            return None
        pairs: list[tuple[str | int, Value]] = []
        for position, arg in enumerate(node.args):
            if isinstance(arg, ast.Starred):
                break
            pairs.append((position, _value(arg, params)))
        pairs.extend((k.arg, _value(k.value, params)) for k in node.keywords if k.arg)
        return CallFact(owner, target, tuple(pairs), role)

    def _target(self, node: ast.expr) -> Target | None:
        return target_of(node, self.targets, lambda name: name in self.functions or (self.has_stars and name not in BUILTINS))


def target_of(node: ast.expr, targets: dict[str, Target], may_be_here: Callable[[str], bool]) -> Target | None:
    """The target of a chain of attributes: something imported, or a function that bears the bare name where that may be."""
    root, parts = chain(node)
    if root in targets:
        level, dotted = targets[root]
        return level, ".".join([dotted, *parts])
    return (-1, root) if root and not parts and may_be_here(root) else None


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements inside a compound one, and the parts of it that hold some."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        value = getattr(node, name, None)
        if type(value) is list:
            yield from value


def _is_of_a_library(target: Target) -> bool:
    """Most calls of a training script go to a handful of packages, which pass no role on."""
    level, dotted = target
    return level == 0 and dotted.partition(".")[0] in LIBRARIES


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_followed(value: object) -> TypeGuard[Constant]:
    """Whether a constant may tell something about a call: no role depends on bytes, complex numbers or very large ones."""
    return value is None or isinstance(value, (str, float)) or (isinstance(value, int) and value.bit_length() < _INTEGER_BITS)


def _value(node: ast.expr, params: tuple[str, ...]) -> Value:
    if isinstance(node, ast.Constant) and _is_followed(node.value):
        return "const", node.value
    if isinstance(node, ast.Name) and node.id in params:
        return "param", node.id
    if isinstance(node, ast.Attribute) and _last_name(node.value) == "ModeKeys":
        return "const", f"ModeKeys.{node.attr}"
    return "other", None


Finder = Callable[[str, Target], tuple[str, str] | None]


def spread_roles(
    functions: dict[tuple[str, str], FunctionFact], calls: list[tuple[str, CallFact]], find: Finder
) -> dict[tuple[str, str], frozenset[InputUse]]:
    """Roles of every function of a project, (file, name) -> its uses.

    find: (file, target) -> the function it refers to, or None.
    """
    uses: dict[tuple[str, str], set[InputUse]] = {}
    edges: dict[tuple[str, str], list[tuple[tuple[str, str], CallFact]]] = {}
    todo: list[tuple[str, str]] = []

    def add(key: tuple[str, str], use: InputUse) -> None:
        known = uses.setdefault(key, set())
        if use not in known and len(known) < _MAX_USES:
            known.add(use)
            todo.append(key)

    for path, call in calls:
        key = find(path, call.target)
        if key is None or key not in functions:
            continue
        if call.role:
            add(key, InputUse(call.role, _bind(functions[key], call, {})))
        else:
            edges.setdefault((path, call.caller), []).append((key, call))
    while todo:
        caller = todo.pop()
        for use in list(uses[caller]):
            for key, call in edges.get(caller, ()):
                add(key, InputUse(use.role, _bind(functions[key], call, dict(use.constants))))
    return {key: frozenset(found) for key, found in uses.items()}


def _bind(function: FunctionFact, call: CallFact, known: dict[str, Constant]) -> tuple[tuple[str, Constant], ...]:
    """Constants of the parameters of a called function."""
    bound = dict(function.defaults)
    for key, (kind, value) in call.arguments:
        if isinstance(key, int):
            if key >= len(function.parameters):
                continue
            name = function.parameters[key]
        else:
            name = key
        bound.pop(name, None)
        if kind == "const":
            bound[name] = value
        elif kind == "param" and value in known:
            bound[name] = known[str(value)]
    return tuple(sorted(bound.items(), key=lambda item: item[0]))
