"""Texts of Python 2 as texts of Python 3, by fixers that keep the meaning of a program whatever its values are."""

from __future__ import annotations

import ast
import io
import logging
import warnings
from functools import lru_cache
from typing import Any

from tf2npu.python2.divisions import with_whole_divisions
from tf2npu.scanner.python2.constructs import GONE_BUILTINS, VERSION_TESTS, explain_python2
from tf2npu.scanner.text.source import decode

# Left out: `import` (it makes siblings relative in scripts that are started, too; tf2npu.python2.imports does not), `exec` (in
# Python 3 it sets no local names), `buffer`, and mere style.
FIXERS = (
    "apply", "basestring", "dict", "except", "execfile", "exitfunc", "filter", "funcattrs", "getcwdu", "has_key", "imports",
    "imports2", "input", "intern", "isinstance", "itertools", "itertools_imports", "long", "map", "metaclass", "methodattrs",
    "ne", "next", "nonzero", "numliterals", "operator", "paren", "print", "raise", "raw_input", "reduce", "reload", "renames",
    "repr", "standarderror", "sys_exc", "throw", "tuple_params", "types", "unicode", "urllib", "xrange", "xreadlines", "zip",
)  # fmt: skip
FIXERS_OF_BOTH = tuple(name for name in FIXERS if name not in ("print", "input"))
_TAB_WORDS = {"inconsistent", "tabs"}  # of Python's own message


class Refused(Exception):
    """The error for a source that is not brought to Python 3; its text is the reason."""


def python3_error(text: str) -> str | None:
    """The reason that Python 3 does not accept the text, or reads `print >>` in it as a shift; None for none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about odd escapes in the user's strings
            tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        return f"{getattr(error, 'msg', error)}{f' (line {line})' if line else ''}"
    except (RecursionError, MemoryError):
        return "nested too deeply"
    odd = next((node for node in ast.walk(tree) if _prints_to_a_file(node)), None)
    return None if odd is None else f"print >> means a shift (line {getattr(odd, 'lineno', 1)})"


def broken_for_both(data: bytes) -> str | None:
    """The error of Python 3 for a source that Python 2 does not read either; None where one of the two may."""
    text = decode(data).text
    try:
        _run_fixers(text if text.endswith("\n") else text + "\n", FIXERS)
        return None
    except Refused:
        pass
    is_old = any(map(explain_python2, text.split("\n")))
    return None if is_old else python3_error(text)


def has_gone_builtins(text: str) -> bool:
    """Whether a source uses a built-in name that Python 3 does not have, gives it no meaning, and has no other way."""
    if not any(name in text for name in GONE_BUILTINS):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    todo: list[ast.AST] = [] if "*" in bound else [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name) and node.id in GONE_BUILTINS.keys() - bound:
            return True
        todo += [] if _has_another_way(node) else ast.iter_child_nodes(node)
    return False


def _has_another_way(node: ast.AST) -> bool:
    """Whether what a node holds may never run: below a test of versions, or a try that catches what goes wrong."""
    if isinstance(node, (ast.If, ast.IfExp)):
        test = ast.unparse(node.test)
        return any(word in test for word in VERSION_TESTS)
    return isinstance(node, ast.Try) and bool(node.handlers)


def _prints_to_a_file(node: ast.AST) -> bool:
    """`print >>f, x` is an expression to Python 3, one that fails when it is run."""
    value = node.value if isinstance(node, ast.Expr) else None
    first = value.elts[0] if isinstance(value, ast.Tuple) and value.elts else value
    return (
        isinstance(first, ast.BinOp)
        and isinstance(first.op, ast.RShift)
        and isinstance(first.left, ast.Name)
        and first.left.id == "print"
    )


def refactored(text: str, fixers: tuple[str, ...] = FIXERS) -> str:
    """The text for Python 3.  Raises: Refused."""
    n_crlf, n_lf, n_cr = text.count("\r\n"), text.count("\n"), text.count("\r")
    if n_cr != n_crlf or n_crlf not in (0, n_lf):
        raise Refused("its lines end in different ways")
    plain = text.replace("\r\n", "\n")
    ended = plain if plain.endswith("\n") else plain + "\n"
    after = _run_fixers(ended, fixers)
    if set((python3_error(after) or "").split()) >= _TAB_WORDS:
        after = _with_blanks_for_tabs(after)
    error = python3_error(after)
    if error is not None:
        raise Refused(f"after all fixes Python 3 still says: {error}")
    after = after if divides_as_3(plain) else with_whole_divisions(after)
    after = after if plain.endswith("\n") else after.removesuffix("\n")
    return after.replace("\n", "\r\n") if n_crlf else after


def _with_blanks_for_tabs(text: str) -> str:
    """The text with blanks in front of its lines: to Python 2 a tab ends at the next multiple of eight columns.

    By the tokenizer of the fixers: Python's own, from 3.12 on, reads no line of such a file.
    """
    from fissix.pgen2 import tokenize

    inside: set[int] = set()  # lines that begin in a string
    try:
        for kind, _, (first, _), (last, _), _ in tokenize.generate_tokens(io.StringIO(text).readline):
            if kind == tokenize.STRING:
                inside.update(range(first + 1, last + 1))
    except (tokenize.TokenError, SyntaxError):
        return text
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        code = line.lstrip(" \t")
        if number not in inside:
            lines[number - 1] = line[: len(line) - len(code)].expandtabs(8) + code
    return "\n".join(lines)


def _run_fixers(text: str, fixers: tuple[str, ...]) -> str:
    try:
        return str(_tool(fixers).refactor_string(text, "<source>"))
    except Exception as error:  # not only parse errors: the fixers raise many kinds on odd code
        reason = " ".join(str(error).split())[:120]
        raise Refused(f"it is not read as Python 2 either ({reason or type(error).__name__})") from None


@lru_cache(maxsize=2)
def _tool(fixers: tuple[str, ...]) -> Any:
    from fissix.refactor import RefactoringTool

    logging.getLogger("RefactoringTool").setLevel(logging.CRITICAL)
    logging.getLogger("fissix").setLevel(logging.CRITICAL)
    return RefactoringTool([f"fissix.fixes.fix_{name}" for name in fixers])


def divides_as_3(text: str) -> bool:
    """Whether a source asks for the divisions of Python 3."""
    return any("division" in line for line in text.split("\n") if line.lstrip().startswith("from __future__ import"))
