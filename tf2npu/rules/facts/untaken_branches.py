"""Branches that a program does not take unless somebody asks for them: conditions on options that their defaults decide."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import libcst as cst

from tf2npu.rules.facts.constant_values import bound_value, literal_text
from tf2npu.scanner.options.defaults import HOLDERS
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script

_NOTHING = object()
"""The value of what the text does not tell."""
_COMPARISONS: dict[type[cst.BaseCompOp], Callable[[Any, Any], bool]] = {
    cst.Equal: operator.eq, cst.NotEqual: operator.ne, cst.LessThan: operator.lt, cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt, cst.GreaterThanEqual: operator.ge, cst.Is: operator.is_, cst.IsNot: operator.is_not,
}  # fmt: skip
_WORDS = {"True": True, "False": False, "None": None}
_DEEPEST = 5
_OF_PROGRAM = frozenset(
    (
        "train", "training", "trainable", "mode", "phase", "stage", "eval", "evaluate", "evaluation", "test", "testing", "infer",
        "inference", "predict", "prediction", "command", "cmd", "action", "restore", "resume", "finetune",
        "pretrain", "pretrained",
    )
)  # fmt: skip
"""Parts of the names of options that say what a program is asked to do, which is as usual as what it does by default."""


def condition_of_place(script: Script, start: int, end: int, depth: int = 0) -> str:
    """The condition, as written, under which a range of the text runs and that does not hold by default; "" where it runs."""
    for node, scope in script.walked.ifs:
        if condition := _of_branch(script, node, scope, start, end):
            return condition
    return _of_function(script, start, end, depth)


def _of_branch(script: Script, node: cst.If, scope: Scope, start: int, end: int) -> str:
    """The condition where the range is in a branch of `node` that is not taken, or behind one that ends the function."""
    first, last = script.tree.span(node)
    written = script.tree.source(node.test)
    if not first <= start < last:
        return _denied(script, node.test) if start >= last and _is_left_before(script, node, scope, start) else ""
    body = script.tree.span(node.body)
    is_in_body = body[0] <= start and end <= body[1]
    rest = script.tree.span(node.orelse) if node.orelse is not None else (0, 0)
    is_in_rest = rest[0] <= start and end <= rest[1]
    if not is_in_body and not is_in_rest:
        return ""
    value = value_of(script, node.test, scope)
    if value is _NOTHING or bool(value) == is_in_body:
        return ""
    return written if is_in_body else _denied(script, node.test)


def _denied(script: Script, test: cst.BaseExpression) -> str:
    """The contrary of a condition, as a person writes it."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return script.tree.source(test.expression)
    return f"not ({script.tree.source(test)})"


def _is_left_before(script: Script, node: cst.If, scope: Scope, start: int) -> bool:
    """Whether a branch that is taken leaves the block of `node` before the place."""
    block: Any = script.walked.parents.get(id(node))
    if not isinstance(block, cst.IndentedBlock) or start >= script.tree.span(block)[1]:
        return False
    lines = node.body.body
    last = lines[-1] if lines else None
    small: Any = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
    if not isinstance(small, (cst.Return, cst.Raise)):
        return False
    value = value_of(script, node.test, scope)
    return value is not _NOTHING and bool(value)


def _of_function(script: Script, start: int, end: int, depth: int) -> str:
    """The condition where the range is in a function of a script that nobody imports, and all its uses are under it."""
    if depth >= _DEEPEST or script.path in script.project.imported:
        return ""
    for node, outer, _ in script.walked.functions:
        first, last = script.tree.span(node)
        if not first <= start < last or outer is not script.module_scope:
            continue
        uses = [script.tree.span(use) for use, scope in script.references_to(node.name.value)]
        outside = [use for use in uses if not first <= use[0] < last]
        conditions = {condition_of_place(script, *use, depth + 1) for use in outside}
        if len(conditions) == 1 and not node.decorators:
            return conditions.pop()
    return ""


def value_of(script: Script, node: Any, scope: Scope, depth: int = 0) -> Any:
    """The value of an expression by the defaults of the options in it; an object of its own where these do not tell."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        value = value_of(script, node.expression, scope, depth)
        return value if value is _NOTHING else not value
    if isinstance(node, cst.BooleanOperation):
        return _of_both(node, list(_sides(script, node, scope, depth)))
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        return _compared(script, node, scope, depth)
    if isinstance(node, (cst.Integer, cst.Float)):
        return node.evaluated_value
    if isinstance(node, cst.SimpleString):
        text = literal_text(node)
        return _NOTHING if text is None else text
    if isinstance(node, cst.Name) and node.value in _WORDS:
        return _WORDS[node.value]
    if option := _option(node):
        return _default(script, option)
    bound = bound_value(node, scope) if depth < _DEEPEST else None
    return _NOTHING if bound is None else value_of(script, bound, scope, depth + 1)


def _sides(script: Script, node: cst.BooleanOperation, scope: Scope, depth: int) -> Iterator[Any]:
    yield value_of(script, node.left, scope, depth)
    yield value_of(script, node.right, scope, depth)


def _of_both(node: cst.BooleanOperation, sides: list[Any]) -> Any:
    """`and` is false where one side is, whatever the other is, and `or` true; else both are to be known."""
    decides = isinstance(node.operator, cst.Or)
    if any(side is not _NOTHING and bool(side) == decides for side in sides):
        return decides
    return _NOTHING if _NOTHING in sides else not decides


def _compared(script: Script, node: cst.Comparison, scope: Scope, depth: int) -> Any:
    (target,) = node.comparisons
    compare = _COMPARISONS.get(type(target.operator))
    left, right = value_of(script, node.left, scope, depth), value_of(script, target.comparator, scope, depth)
    if compare is None or left is _NOTHING or right is _NOTHING:
        return _NOTHING
    with suppress(TypeError):
        return compare(left, right)
    return _NOTHING


def _option(node: Any) -> str:
    """The option that `FLAGS.name` or `config['name']` stands for; "" for another expression."""
    if isinstance(node, cst.Attribute) and _last_name(node.value) in HOLDERS:
        return node.attr.value
    if isinstance(node, cst.Subscript) and _last_name(node.value) in HOLDERS and len(node.slice) == 1:
        index = node.slice[0].slice
        return (literal_text(index.value) or "") if isinstance(index, cst.Index) else ""
    return ""


def _last_name(node: Any) -> str:
    while isinstance(node, cst.Subscript):
        node = node.value
    return node.attr.value if isinstance(node, cst.Attribute) else node.value if isinstance(node, cst.Name) else ""


def _default(script: Script, option: str) -> Any:
    """The one value that an option has in the project; _NOTHING where there are several, or one that is not known.

    Nor are options told that say what a program does, and those that choose one of several texts: each is meant to be asked for.
    """
    values = script.project.options.get(option, frozenset())
    if len(values) != 1:
        return _NOTHING
    (text,) = values
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return _NOTHING
    is_choice = isinstance(value, str) and value != ""
    return _NOTHING if is_choice or not _OF_PROGRAM.isdisjoint(option.lower().split("_")) else value
