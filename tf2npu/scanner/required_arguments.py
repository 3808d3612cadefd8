"""Arguments that a script cannot be started without, as its parser says: argparse, flags as absl has them, and click.

The words are those to type, with a name in capitals where a value has to be put, as argparse's own usage line has it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tf2npu.scanner.syntax import last_name

_MARKS = ("add_argument", "mark_flag", "DEFINE_", "click")
"""Texts without one of which a file has no parser that is looked at."""
_DECLARING = ("add_argument", "DEFINE_", "option", "argument")
"""Beginnings of the names of functions that declare an argument."""
_FLAGLIKE = frozenset({"store_true", "store_false", "store_const", "append_const", "count"})
"""Actions of argparse that take no value."""


def required_arguments(text: str, nodes: Sequence[ast.AST]) -> tuple[str, ...] | None:
    """The words, options first; None where the file declares no argument.  nodes: all nodes of the file."""
    if not any(mark in text for mark in _MARKS):
        return None
    calls = [node for node in nodes if type(node) is ast.Call]
    if not any(last_name(call.func).startswith(_DECLARING) for call in calls):
        return None
    partial = _partial_parsers(nodes)
    found = sorted(
        (words for call in calls for words in _arguments(call, partial)), key=lambda words: not words[0].startswith("-")
    )
    return tuple(word for words in found for word in words)


def _partial_parsers(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """Names of parsers of a sub-command and of groups that exclude each other: not all of their arguments are needed."""
    made = ((node.targets, node.value) for node in nodes if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call))
    return frozenset(
        target.id
        for targets, value in made
        for target in targets
        if isinstance(target, ast.Name) and last_name(value.func) in ("add_parser", "add_mutually_exclusive_group")
    )


def _arguments(call: ast.Call, partial: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """The words of each argument that a call declares and that is needed."""
    name = last_name(call.func)
    if name == "add_argument" and not _is_of(call.func, partial):
        yield from _of_argparse(call)
    elif name == "mark_flag_as_required":
        yield from _flags(call.args[:1])
    elif name == "mark_flags_as_required" and call.args and isinstance(call.args[0], (ast.List, ast.Tuple)):
        yield from _flags(call.args[0].elts)
    elif name.startswith("DEFINE_") and _is_true(_keyword(call, "required")):
        yield from _flags(call.args[:1])
    elif name == "argument" and _is_of(call.func, frozenset({"click"})):
        yield from _of_click_argument(call)
    elif name == "option" and _is_of(call.func, frozenset({"click"})) and _is_true(_keyword(call, "required")):
        yield from _option(_texts(call.args), call)


def _flags(nodes: Sequence[ast.expr]) -> Iterator[tuple[str, ...]]:
    return ((f"--{flag}={flag.upper()}",) for flag in _texts(nodes))


def _of_argparse(call: ast.Call) -> Iterator[tuple[str, ...]]:
    names = _texts(call.args)
    if not names or len(names) != len(call.args) or any(keyword.arg is None for keyword in call.keywords):
        return
    if names[0].startswith("-"):
        if _is_true(_keyword(call, "required")):
            yield from _option(names, call)
    elif _constant(call, "nargs") not in ("?", "*") and _constant(call, "action") not in _FLAGLIKE:
        yield (_value(names[0], call),)


def _option(names: Sequence[str], call: ast.Call) -> Iterator[tuple[str, ...]]:
    options = [name for name in names if name.startswith("-")]
    if not options:
        return
    long = next((name for name in options if name.startswith("--")), options[0])
    takes_none = _constant(call, "action") in _FLAGLIKE or _is_true(_keyword(call, "is_flag"))
    value = "" if takes_none else _value(long.lstrip("-"), call)
    yield (long,) if takes_none else (f"{long}={value}",) if long.startswith("--") else (long, value)


def _of_click_argument(call: ast.Call) -> Iterator[tuple[str, ...]]:
    is_free = _keyword(call, "default") is not None or _keyword(call, "required") is not None or _constant(call, "nargs") == -1
    yield from () if is_free else ((_value(name, call),) for name in _texts(call.args[:1]))


def _value(name: str, call: ast.Call) -> str:
    """The value to type: the first of those that may be chosen, else the name of what it means."""
    choices = _keyword(call, "choices")
    texts = _texts(choices.elts) if isinstance(choices, (ast.List, ast.Tuple)) else []
    if texts:
        return "train" if "train" in texts else texts[0]
    named = _constant(call, "metavar")
    return named if isinstance(named, str) else name.replace("-", "_").upper()


def _texts(nodes: Sequence[ast.expr]) -> list[str]:
    """The texts among constants."""
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value]


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _constant(call: ast.Call, name: str) -> object:
    """The value of a keyword that is a constant, also one with a minus; None for all else."""
    value = _keyword(call, name)
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub) and isinstance(value.operand, ast.Constant):
        number = value.operand.value
        return -number if isinstance(number, int) else None
    return value.value if isinstance(value, ast.Constant) else None


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _is_of(node: ast.expr, names: frozenset[str]) -> bool:
    """Whether a function is an attribute of one of these names."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names
