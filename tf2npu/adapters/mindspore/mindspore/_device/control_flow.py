"""Functions of a program as they are traced: `if`, `while`, `and`, `or`, `not` and conditional expressions also take tensors.

A function is rewritten once, from its source. Nodes of Python's own syntax tree keep their lines, so that tracebacks name those
of the user's file. Functions that `construct` calls are rewritten when they are called.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from mindspore._device import branches, construct_syntax
from mindspore._device.trace import tracing

from npu_formats.user_frames import is_library

_known: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def rewritten(function: Any) -> Any:
    """The function that is traced in the place of one of the program's; all else, and all outside of a graph, as it is."""
    if not tracing():
        return function
    if isinstance(function, types.MethodType) and isinstance(function.__func__, types.FunctionType):
        made = _function(function.__func__)
        return function if made is function.__func__ else types.MethodType(made, function.__self__)
    return _function(function) if isinstance(function, types.FunctionType) else function


def _function(function: types.FunctionType) -> types.FunctionType:
    if function not in _known:
        _known[function] = _made(function)
    return _known[function]


def _made(function: types.FunctionType) -> types.FunctionType:
    code = function.__code__
    if is_library(code.co_filename) or code.co_name == "<lambda>" or hasattr(function, "__wrapped__"):
        return function
    tree = _tree(function)
    if tree is None:
        return function
    inner = _compiled(tree, code)
    if inner is None:
        return function
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=False))
    cells[construct_syntax.RUNTIME] = types.CellType(RUNTIME)
    closure = tuple(cells[name] for name in inner.co_freevars)
    made = types.FunctionType(inner, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    _known[made] = made
    return made


def _tree(function: types.FunctionType) -> ast.FunctionDef | None:
    """The syntax tree of a function, with the lines of its file; None where there is no source."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    except (OSError, TypeError, SyntaxError):
        return None
    if not isinstance(tree, ast.FunctionDef):
        return None
    tree.decorator_list = []
    ast.increment_lineno(tree, first - 1)
    _mangle(tree, function.__qualname__.split(".")[-2:-1])
    return construct_syntax.rewrite(tree, function.__code__.co_filename)


def _mangle(tree: ast.FunctionDef, owner: list[str]) -> None:
    """Gives private names of a class, such as `self.__scale`, the form that they have outside of it.  owner: [] or [class]."""
    for node in ast.walk(tree) if owner and owner[0] != "<locals>" else ():
        if isinstance(node, ast.Attribute) and node.attr.startswith("__") and not node.attr.endswith("__"):
            node.attr = f"_{owner[0].lstrip('_')}{node.attr}"


def _compiled(tree: ast.FunctionDef, code: types.CodeType) -> types.CodeType | None:
    """The code of the rewritten function, within a function that has the names of its closure."""
    names = [*code.co_freevars, construct_syntax.RUNTIME]
    arguments = ast.arguments(posonlyargs=[], args=[ast.arg(name) for name in names], kwonlyargs=[], kw_defaults=[], defaults=[])
    around = ast.FunctionDef("around", arguments, [tree], [], None)
    module = ast.fix_missing_locations(ast.Module([around], []))
    outer = compile(module, code.co_filename, "exec")
    around_code = next(one for one in outer.co_consts if isinstance(one, types.CodeType))
    return next((one for one in around_code.co_consts if isinstance(one, types.CodeType) and one.co_name == code.co_name), None)


class _Runtime:
    """The functions that rewritten ones call."""

    rewritten = staticmethod(rewritten)
    branch = staticmethod(branches.branch)
    loop = staticmethod(branches.loop)

    @staticmethod
    def bound(value: Callable[[], Any], name: str) -> Any:
        """The value of a name, or what stands for one without."""
        try:
            return value()
        except NameError:
            return branches.Unbound(name)

    @staticmethod
    def chosen(test: Any, then: Callable[[], Any], otherwise: Callable[[], Any], line: str) -> Any:
        """A conditional expression."""
        return branches.branch(test, then, otherwise, (), (), line)

    @staticmethod
    def both(*parts: Callable[[], Any]) -> Any:
        """`and`: of tensors their logical product; else as Python has it."""
        return _joined(parts, "LogicalAnd", False)

    @staticmethod
    def either(*parts: Callable[[], Any]) -> Any:
        """`or`: of tensors their logical sum; else as Python has it."""
        return _joined(parts, "LogicalOr", True)

    @staticmethod
    def inverted(value: Any) -> Any:
        """`not`."""
        from mindspore.ops.operations import LogicalNot

        return LogicalNot()(value) if branches.is_of_graph(value) else not value

    @staticmethod
    def static(test: Any, what: str, line: str) -> Any:
        """A test that Python has to decide.  Raises: NoValue for a tensor of the graph."""
        if branches.is_of_graph(test):
            from mindspore.common.tensor import NoValue

            raise NoValue(
                f"the test at {line} is on a tensor, and its `{what}` cannot be a part of the graph: give the value to a name in "
                f"both branches, and write `{what}` outside of them"
            )
        return test


RUNTIME = _Runtime()


def _joined(parts: tuple[Callable[[], Any], ...], operator: str, decides: bool) -> Any:
    from mindspore.ops import operations

    value = parts[0]()
    for part in parts[1:]:
        if branches.is_of_graph(value):
            value = getattr(operations, operator)()(value, part())
        elif bool(value) is decides:
            return value
        else:
            value = part()
    return value
