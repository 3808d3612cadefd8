"""Arguments of functions by all calls of them, where no other file can call them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tf2npu.python2.scopes import UNKNOWN, Binding, Bindings, FunctionNode, Given

Visited = list[tuple[ast.AST, Bindings]]


def bind_arguments(visited: Visited, module: Bindings, is_own: Callable[[str], bool]) -> None:
    """Bind the arguments of functions to what all calls give them. is_own: whether no other file uses a name of the module."""
    calls, others = _uses(visited)
    for node, names in visited:
        function = _called_by_name(node)
        if function is None or names.is_class or not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        key = (id(names), node.name)
        is_hidden = names is not module or is_own(node.name)
        if not is_hidden or node.decorator_list or len(names.bound[node.name]) != 1 or key in others:
            continue
        inside = module.facts.inside[id(function)]
        given = _arguments_of(function, calls.get(key, []), names, int(function is not node))
        for name, values in given.items():
            inside.bound[name][:1] = values


def _called_by_name(node: ast.AST) -> ast.FunctionDef | None:
    """The function that runs when a function, or a class, is called."""
    if isinstance(node, ast.ClassDef):
        found = [s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"]
        return found[0] if len(found) == 1 else None
    return node if isinstance(node, ast.FunctionDef) else None


def _uses(visited: Visited) -> tuple[dict[tuple[int, str], list[tuple[ast.Call, Bindings]]], set[tuple[int, str]]]:
    """Calls by the name that is called and the scope that has it, and names that are read in any other way."""
    calls: dict[tuple[int, str], list[tuple[ast.Call, Bindings]]] = {}
    others: set[tuple[int, str]] = set()
    functions = {id(node.func) for node, _ in visited if isinstance(node, ast.Call)}
    for node, names in visited:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            owner = names.owner(node.func.id)
            calls.setdefault((id(owner), node.func.id), []).append((node, names))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in functions:
            others.add((id(names.owner(node.id)), node.id))
    return calls, others


def _arguments_of(
    node: FunctionNode, calls: list[tuple[ast.Call, Bindings]], names: Bindings, skipped: int
) -> dict[str, list[Binding]]:
    """Values of each argument; none where a call does not say it. skipped: arguments that no call gives, as self."""
    plain = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]
    defaults = dict(zip(reversed(plain), reversed(node.args.defaults), strict=False))
    found: dict[str, list[Binding]] = {name: [] for name in plain[skipped:]}
    for call, scope in calls:
        if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            return {}
        given = dict(_given(call, plain[skipped:]))
        for name, values in found.items():
            if name in given:
                values.append(Given(given[name], scope))
            else:
                values.append(Given(defaults[name], names) if name in defaults else UNKNOWN)
    return {name: values for name, values in found.items() if values}


def _given(call: ast.Call, plain: list[str]) -> Iterator[tuple[str, ast.expr]]:
    yield from zip(plain, call.args, strict=False)
    yield from ((k.arg, k.value) for k in call.keywords if k.arg is not None)
