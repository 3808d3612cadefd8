"""The syntax of functions that are traced: statements and expressions that decide become calls, which take tensors as well.

`if test: a = x` becomes two functions of `a` and a call that chooses. A `return` in a branch takes the rest of the function into
the other branch. What cannot be rewritten, such as `break` under a test, asks that Python can decide the test.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

RUNTIME = "_mindspore_runtime"
"""The name under which rewritten functions find what they call."""
_AS_THEY_ARE = frozenset(
    {"super", "range", "len", "isinstance", "print", "enumerate", "zip", "int", "float", "tuple", "list", "str"}
)
"""Functions of Python that are no function of the program's."""
_MOST_STATEMENTS = 2000
"""Statements of a rewritten function; more come of many returns in a row, each of which doubles the rest: left as they are."""


def rewrite(tree: ast.FunctionDef, file: str) -> ast.FunctionDef:
    """The function with its decisions as calls.  file: for messages."""
    syntax = _Syntax(file, tree.args.args[0].arg if tree.args.args else "")
    tree.body = syntax.function_body(tree.body)
    return tree


class _Syntax(ast.NodeTransformer):
    """first: the name of the function's first argument."""

    def __init__(self, file: str, first: str) -> None:
        self.file, self.first, self.number, self.n_statements = file, first, 0, 0

    def function_body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a function, at whose end there is nothing more."""
        return self._block(body, True)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.body = self.function_body(node.body)
        return node

    def _block(self, body: Sequence[ast.stmt], is_end: bool) -> list[ast.stmt]:
        """Statements.  is_end: whether the function ends behind them, so that a `return` in a branch takes along what follows."""
        made: list[ast.stmt] = []
        for i, statement in enumerate(body):
            self.n_statements += 1
            if is_end and isinstance(statement, ast.If) and _returns(statement) and self.n_statements < _MOST_STATEMENTS:
                return [*made, *self._returning_if(statement, body[i + 1 :])]
            found = self.visit(statement)
            made += found if isinstance(found, list) else [found]
        return made

    def _returning_if(self, node: ast.If, rest: Sequence[ast.stmt]) -> list[ast.stmt]:
        """`if` with a `return` within: both branches go on to the end of the function."""
        then = self._ended(node.body, rest)
        otherwise = self._ended(node.orelse, rest)
        stored = sorted(_stored([*then, *otherwise]))
        test = self.visit(node.test)
        names = [name for name in stored if not name.startswith("_mindspore_")]
        bodies = [self._function(kind, names, block, node) for kind, block in (("then", then), ("else", otherwise))]
        call = self._call(
            "branch", node, [test, *map(_name_of, bodies), self._bound(names, node), ast.Tuple([], ast.Load()), self._line(node)]
        )
        return [*bodies, ast.copy_location(ast.Return(call), node)]

    def _ended(self, body: Sequence[ast.stmt], rest: Sequence[ast.stmt]) -> list[ast.stmt]:
        whole = list(body) if _always_returns(body) else [*_copied(body), *_copied(rest)]
        return self._block(whole, True)

    def visit_If(self, node: ast.If) -> Any:
        leaving = _leaves([*node.body, *node.orelse])
        if leaving:
            node.test = self._static(self.visit(node.test), leaving, node)
            node.body, node.orelse = self._block(node.body, False), self._block(node.orelse, False)
            return node
        names = sorted(_stored([*node.body, *node.orelse]))
        test = self.visit(node.test)
        parts = (("then", node.body), ("else", node.orelse))
        bodies = [self._function(kind, names, [*self._block(body, False), _tuple_return(names)], node) for kind, body in parts]
        given = [test, *map(_name_of, bodies), self._bound(names, node), _texts(names), self._line(node)]
        return [*bodies, self._assigned(names, self._call("branch", node, given), node)]

    def visit_While(self, node: ast.While) -> Any:
        leaving = _leaves(node.body) or ("else" if node.orelse else "")
        if leaving:
            node.test = self._static(self.visit(node.test), leaving, node)
            node.body, node.orelse = self._block(node.body, False), self._block(node.orelse, False)
            return node
        names = sorted(_stored(node.body))
        test = self._function("test", names, [ast.copy_location(ast.Return(self.visit(node.test)), node)], node)
        body = self._function("body", names, [*self._block(node.body, False), _tuple_return(names)], node)
        call = self._call(
            "loop", node, [_name_of(test), _name_of(body), self._bound(names, node), _texts(names), self._line(node)]
        )
        return [test, body, self._assigned(names, call, node)]

    def visit_For(self, node: ast.For) -> ast.For:
        node.iter = self.visit(node.iter)
        node.body, node.orelse = self._block(node.body, False), self._block(node.orelse, False)
        return node

    def visit_With(self, node: ast.With) -> ast.With:
        node.items = [self.visit(item) for item in node.items]
        node.body = self._block(node.body, False)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        parts = [_delayed(self.visit(part)) for part in (node.body, node.orelse)]
        return self._call("chosen", node, [self.visit(node.test), *parts, self._line(node)])

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        name = "both" if isinstance(node.op, ast.And) else "either"
        return self._call(name, node, [_delayed(self.visit(value)) for value in node.values])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        node.operand = self.visit(node.operand)
        return self._call("inverted", node, [node.operand]) if isinstance(node.op, ast.Not) else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in _AS_THEY_ARE:
            if node.func.id == "super" and not node.args and self.first:  # which in a function within would not know whose it is
                node.args = [ast.Name("__class__", ast.Load()), ast.Name(self.first, ast.Load())]
            return ast.fix_missing_locations(node)
        node.func = self._call("rewritten", node.func, [node.func])
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        node.body = self.visit(node.body)
        return node

    def _static(self, test: ast.expr, leaving: str, node: ast.stmt) -> ast.expr:
        return self._call("static", node, [test, ast.Constant(leaving), self._line(node)])

    def _call(self, name: str, node: ast.AST, given: list[Any]) -> ast.Call:
        function = ast.Attribute(ast.Name(RUNTIME, ast.Load()), name, ast.Load())
        return ast.fix_missing_locations(ast.copy_location(ast.Call(function, given, []), node))

    def _line(self, node: Any) -> ast.Constant:
        return ast.Constant(f"{self.file}:{node.lineno}")

    def _function(self, kind: str, names: Sequence[str], body: list[ast.stmt], node: ast.AST) -> ast.FunctionDef:
        self.number += 1
        arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
        made = ast.FunctionDef(f"_mindspore_{kind}_{self.number}", arguments, body, [], None)
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def _bound(self, names: Sequence[str], node: ast.AST) -> ast.Tuple:
        """The values of names, some of which may have none yet."""
        values = [self._call("bound", node, [_delayed(ast.Name(name, ast.Load())), ast.Constant(name)]) for name in names]
        return ast.Tuple(values, ast.Load())

    @staticmethod
    def _assigned(names: Sequence[str], call: ast.Call, node: ast.AST) -> ast.stmt:
        target = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
        made = ast.Assign([target], call) if names else ast.Expr(call)
        return ast.fix_missing_locations(ast.copy_location(made, node))


def _copied(body: Iterable[ast.stmt]) -> list[ast.stmt]:
    import copy

    return [copy.deepcopy(statement) for statement in body]


def _name_of(function: ast.FunctionDef) -> ast.Name:
    return ast.Name(function.name, ast.Load())


def _texts(names: Sequence[str]) -> ast.Tuple:
    return ast.Tuple([ast.Constant(name) for name in names], ast.Load())


def _tuple_return(names: Sequence[str]) -> ast.Return:
    return ast.Return(ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load()))


def _delayed(value: ast.expr) -> ast.Lambda:
    return ast.copy_location(ast.Lambda(ast.arguments([], [], None, [], [], None, []), value), value)


def _within(body: Iterable[ast.AST]) -> Iterable[ast.AST]:
    """All nodes but those in functions of their own."""
    for node in body:
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            yield from _within(ast.iter_child_nodes(node))


def _stored(body: Iterable[ast.AST]) -> set[str]:
    """The names that statements give a value to."""
    nodes = list(_within(body))
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return names | {node.name for node in nodes if isinstance(node, ast.FunctionDef) and not node.name.startswith("_mindspore_")}


def _returns(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Return) for node in _within([statement])) and not _has_loop_jump(statement)


def _has_loop_jump(statement: ast.stmt) -> bool:
    """Whether a `return` stands within a loop or a `with`, from which it cannot be taken out."""
    blocks = [node for node in _within([statement]) if isinstance(node, (ast.For, ast.While, ast.With, ast.Try))]
    return any(isinstance(node, ast.Return) for block in blocks for node in _within([block]))


def _always_returns(body: Sequence[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    if isinstance(last, (ast.Return, ast.Raise)):
        return True
    return isinstance(last, ast.If) and _always_returns(last.body) and _always_returns(last.orelse)


def _leaves(body: Iterable[ast.AST]) -> str:
    """The statement within that leaves it: return, break, continue, del or the like; "" for none."""
    words = {
        ast.Return: "return", ast.Break: "break", ast.Continue: "continue", ast.Delete: "del", ast.Nonlocal: "nonlocal",
        ast.Global: "global", ast.Yield: "yield", ast.Import: "import", ast.ImportFrom: "import",
    }  # fmt: skip
    for node in body:
        if isinstance(node, (ast.For, ast.While)):
            inner = [one for one in _within([*node.body, *node.orelse]) if not isinstance(one, (ast.Break, ast.Continue))]
            found = next((words[type(one)] for one in inner if type(one) in words), "")
        else:
            found = words.get(type(node), "")
            if not found and not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
                found = _leaves(ast.iter_child_nodes(node))
        if found:
            return found
    return ""
