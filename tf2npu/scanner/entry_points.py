"""Files of a project that are run and not imported: told by a guard, by what installs them, or by what they do at top level."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tf2npu.frameworks.registry import known
from tf2npu.scanner.input_roles import BUILTINS, Target, target_of
from tf2npu.scanner.syntax import Nodes, children, walk

_EXITS = frozenset({"sys.exit", "exit", "quit"})
_BLOCKS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@dataclass
class _Body:
    """The effects of a piece of code that runs, and what it calls."""

    runs: bool = False
    starts: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    targets: set[Target] = field(default_factory=set)


class TopLevel:
    """The effects of running a file, through its own functions.

    dotted: qualified name of a chain whose root is a known import.  targets: other imported names and where they come from.
    nodes: all nodes of the file.  has_stars: names that it does not bind may come from star imports.  running: functions that do
    what the file is run for, beside those that always do.
    """

    def __init__(
        self,
        dotted: Callable[[ast.expr], str | None],
        targets: dict[str, Target],
        nodes: Nodes,
        has_stars: bool,
        *running: frozenset[str],
    ) -> None:
        self.frameworks = known()
        self.running = self.frameworks.running.union(*running)
        self.dotted = dotted
        self.targets = targets
        self.has_stars = has_stars
        stored = {node.id for node in nodes.of(ast.Name) if type(node.ctx) is ast.Store}
        self.rebound = stored - {name for node in nodes.of(ast.Assign) for name in self._set_to_none(node)}
        self.made: dict[str, ast.expr] = {}  # what the names of the module are made of

    def gather(self, module: ast.Module) -> tuple[bool, frozenset[str], tuple[Target, ...]]:
        """Whether running the file does what it is for, the frameworks whose jobs it joins, and what else it calls then."""
        own = {node.name: node for node in module.body if isinstance(node, _BLOCKS) and not isinstance(node, ast.Lambda)}
        start = self._read(list(_executed(module.body)), set(own), at_top=True)
        todo, seen = sorted(start.own), set(start.own)
        while todo:
            called = own[todo.pop()]
            body = self._read(walk(called), set(own), at_top=False)
            start.runs = start.runs or body.runs or any(self.dotted(one) in self.running for one in called.decorator_list)
            start.starts |= body.starts
            start.targets |= body.targets
            todo += sorted(body.own - seen)
            seen |= body.own
        return start.runs, frozenset(start.starts), () if start.runs else tuple(sorted(start.targets))

    def _set_to_none(self, node: ast.Assign) -> list[str]:
        """Names that get nothing: such as a failed import leaves, or a call that returns nothing."""
        given = self.dotted(node.value.func) if isinstance(node.value, ast.Call) else None
        is_none = isinstance(node.value, ast.Constant) and node.value.value is None
        is_none = is_none or (given is not None and self.frameworks.returned(given) == "None")
        return [target.id for target in node.targets if is_none and isinstance(target, ast.Name)]

    def _read(self, nodes: list[ast.AST], own: set[str], at_top: bool) -> _Body:
        body = _Body()
        if at_top:
            self.made = {n.targets[0].id: n.value for n in nodes
                         if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)}  # fmt: skip
        statements = {id(n.value) for n in nodes if isinstance(n, ast.Expr)}
        names, started_by = self.frameworks.added_names, self.frameworks.started_by
        ours = {id(n.value) for n in nodes if isinstance(n, ast.Assign) and names & {_written(t) for t in n.targets}}
        for node in nodes:
            if isinstance(node, ast.Call):
                if (framework := started_by.get(self._name(node.func) or "")) is not None:
                    body.starts.add(framework)
                body.runs = body.runs or (id(node) not in ours and self._runs(node, own if at_top else None))
                self._called(node, own, body, not at_top or id(node) in statements)
        return body

    def _runs(self, call: ast.Call, own: set[str] | None) -> bool:
        """Whether a call trains or does other work; at top level (`own` given) only an object of a framework is known to."""
        if self._name(call.func) in self.running:
            return True
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if method not in self.frameworks.work_methods and not (method == "train" and has_arguments(call)):
            return False
        return own is None or self._is_known(call.func, own)

    def _is_known(self, node: ast.expr, own: set[str]) -> bool:
        """Whether an object comes from a framework or from a function of this file."""
        root = _root(node)
        made = self.made.get(root.id) if root is not None else None
        start = made if isinstance(made, ast.Call) else node
        first = _root(start)
        return self.dotted(_plain_chain(start)) is not None or (first is not None and first.id in own)

    def _name(self, func: ast.expr) -> str | None:
        root = _root(func)
        if root is not None and root.id in self.rebound:
            return None
        target = self._target(func)
        imported = target[1] if target is not None and target[0] == 0 else None
        return self.dotted(func) or imported or (func.id if isinstance(func, ast.Name) else None)

    def _called(self, call: ast.Call, own: set[str], body: _Body, is_for_its_effect: bool) -> None:
        """Notes the own function or class behind a call, own functions that are handed over, and what is called elsewhere."""
        made = self.made.get(root.id) if (root := _root(call.func)) is not None else None
        start = made if isinstance(made, ast.Call) else call
        roots = [_root(start), *(_root(node) for node in [*call.args, *(k.value for k in call.keywords)])]
        body.own |= {root.id for root in roots if root is not None and root.id in own}
        is_exit = isinstance(call.func, (ast.Name, ast.Attribute)) and self._name(call.func) in _EXITS
        for node in [start, *(call.args if is_exit else ())] if is_for_its_effect else ():
            target = self._target(node) if isinstance(node, ast.Call) else None
            body.targets |= {target} if target is not None else set()

    def _target(self, node: ast.expr) -> Target | None:
        """The imported thing that a chain of attributes and calls starts with."""
        return target_of(_plain_chain(node), self.targets, self._may_be_starred)

    def _may_be_starred(self, name: str) -> bool:
        """Whether a name may come from a star import."""
        return self.has_stars and name not in BUILTINS and name not in self.rebound


def _plain_chain(node: ast.expr) -> ast.expr:
    """`a.b` of `a.b(1).c(2)`: the attributes before the first call."""
    chain = node
    while isinstance(node, (ast.Attribute, ast.Call)):
        if isinstance(node, ast.Call):
            chain = node.func
        node = node.func if isinstance(node, ast.Call) else node.value
    return chain


def _root(node: ast.expr) -> ast.Name | None:
    """The name that a chain of attributes and calls starts with."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node if isinstance(node, ast.Name) else None


def _executed(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Nodes of the code that runs when a module is loaded."""
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        if not isinstance(node, _BLOCKS):
            yield node
            todo.extend(children(node))


def _written(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def has_arguments(call: ast.Call) -> bool:
    """Whether a call has arguments beside those that a conversion adds, as it must mean the same afterwards."""
    return bool(call.args) or any(keyword.arg not in known().added_arguments for keyword in call.keywords)
