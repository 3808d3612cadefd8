"""Names whose value is known where they are read: by the assignment before, or by a use that takes whole numbers alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tf2npu.python2.scopes import Bindings, Facts, FunctionNode, paired
from tf2npu.python2.whole_uses import whole_places

_MAY_NOT_RUN = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def note_settled_names(visited: list[tuple[ast.AST, Bindings]], module: Bindings, in_order: bool) -> None:
    """Note the places of names that have one value, and of those that were used as whole numbers before.

    in_order: whether the statements of the module run one after the other, which cells of a notebook need not do.
    """
    foreign = {name for node, _ in visited if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    for node, names in visited:
        if isinstance(node, ast.Module) and in_order:
            _Walk(module, foreign).block(node.body, {}, frozenset())
        elif isinstance(node, FunctionNode):
            _Walk(names.facts.inside[id(node)], foreign).block(node.body, {}, frozenset())


class _Walk:
    """The way through the statements of one scope, in the order in which they run."""

    def __init__(self, names: Bindings, foreign: set[str]) -> None:
        self.names = names
        self.facts: Facts = names.facts
        self.foreign = foreign  # names that other scopes may change

    def block(self, body: list[ast.stmt], values: dict[str, ast.expr], whole: frozenset[str]) -> dict[str, ast.expr]:
        """Note what holds in a block, and give what holds behind it. whole: names that were used as whole numbers."""
        for statement in body:
            own = list(_own_expressions(statement))
            whole |= {name for one in own for name in _used_as_whole(one)}
            for one in own:
                self._note(one, values, whole)
                self._note_comprehensions(one)
            values = self._after(statement, values, whole)
        return values

    def _note(self, expression: ast.expr, values: dict[str, ast.expr], whole: frozenset[str]) -> None:
        hidden = set() if isinstance(expression, ast.Name) else set(_bound_in(expression))
        for node in _seen_here(expression):
            if isinstance(node, ast.Name) and node.id not in hidden:
                if node.id in values:
                    self.facts.settled[id(node)] = (values[node.id], self.names)
                if node.id in whole:
                    self.facts.whole.add(id(node))

    def _note_comprehensions(self, expression: ast.expr) -> None:
        """Note what a comprehension computes of names in its own ranges: they were whole numbers before it did."""
        for node in _seen_here(expression):
            if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
                used = {name for loop in node.generators for name in _used_as_whole(loop.iter)} - set(_bound_in(node))
                made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
                parts = (part for one in made for part in _seen_here(one))
                self.facts.whole |= {id(part) for part in parts if isinstance(part, ast.Name) and part.id in used}

    def _after(self, statement: ast.stmt, values: dict[str, ast.expr], whole: frozenset[str]) -> dict[str, ast.expr]:
        """The values that names have behind a statement; what is in it is noted, too."""
        if isinstance(statement, ast.Assign):
            return self._assigned(statement, values)
        changed = set(_bound_in(statement))
        left = {name: value for name, value in values.items() if name not in changed}
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            bound = {name for item in statement.items for name in _bound_in(item)}
            return self.block(statement.body, {name: v for name, v in values.items() if name not in bound}, whole)
        starts = values if isinstance(statement, ast.If) else left
        for body in _blocks_of(statement):
            self.block(body, starts, whole)
        return left

    def _assigned(self, statement: ast.Assign, values: dict[str, ast.expr]) -> dict[str, ast.expr]:
        pairs = [pair for target in statement.targets for pair in paired(target, statement.value)]
        bound = set(_bound_in(statement))
        found = {name: value for name, value in values.items() if name not in bound}
        for target, value in pairs:
            if isinstance(target, ast.Name) and value is not None and target.id not in self.foreign:
                found[target.id] = value
        return found


def _own_expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement that run whenever it does, without those of the blocks in it."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.withitem):
            yield child.context_expr
        elif isinstance(child, ast.expr) and not isinstance(statement, ast.While):
            yield child


def _blocks_of(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for handler in getattr(statement, "handlers", []):
        yield handler.body


def _seen_here(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes of an expression that read the names of this scope: not those of functions in it."""
    if not isinstance(node, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from _seen_here(child)


def _used_as_whole(expression: ast.expr) -> Iterator[str]:
    """Names that must be whole numbers when the expression runs, whatever its tests give."""
    todo: list[ast.AST] = [expression]
    hidden = set(_bound_in(expression))
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            todo.append(node.generators[0].iter)
        elif not isinstance(node, _MAY_NOT_RUN):
            places = [] if isinstance(node, ast.Slice) else whole_places(node)  # labels of pandas are real, too
            yield from (place.id for place in places if isinstance(place, ast.Name) and place.id not in hidden)
            todo += ast.iter_child_nodes(node)


def _bound_in(node: ast.AST) -> Iterator[str]:
    """Names that a node gives a value, wherever in it."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            yield part.id
        elif isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield part.name
        elif isinstance(part, ast.alias):
            yield (part.asname or part.name).partition(".")[0]
        elif isinstance(part, ast.ExceptHandler) and part.name:
            yield part.name
