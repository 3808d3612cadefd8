"""Constructs of Python 2 that a Python 3 parser refuses, by their names."""

from __future__ import annotations

import ast
import re

from tf2npu.scanner.syntax import walk

OLD_EXCEPT = re.compile(r"^[ \t]*except[ \t]+[^(:\n]+,[ \t]*\w+[ \t]*:", re.MULTILINE)
_CONSTRUCTS = (
    (re.compile(r"^\s*(?:.*[:;]\s*)?print\s+[^\s(=.,)\]]"), "print statement"),
    (re.compile(r"^\s*(?:.*[:;]\s*)?print\s*>>"), "print statement"),
    (re.compile(r"^\s*(?:.*[:;]\s*)?print\s+\("), "print statement"),
    (OLD_EXCEPT, "except clause with a comma"),
    (re.compile(r"^\s*raise\s+[\w.]+\s*,"), "raise statement with a comma"),
    (re.compile(r"^\s*exec\s+[^(=\s]"), "exec statement"),
    (re.compile(r"<>"), "<> operator"),
    (re.compile(r"`[^`]*`"), "backquotes for repr"),
    (re.compile(r"(?<![\w.])0[0-7]+(?![\w.])"), "octal number without 0o"),
    (re.compile(r"(?<![\w])[uU][rR]['\"]"), "ur'' string"),
    (re.compile(r"(?<![\w.])\d+[lL](?!\w)"), "long number with L"),
    (re.compile(r"^\s*def\s+\w+\(.*\(\s*\w+\s*,"), "tuple parameter"),
    (re.compile(r"\blambda\s*(?:\w+\s*,\s*)*\(\s*\w+\s*[,)][^:]*:"), "tuple parameter"),
)

GONE_BUILTINS = {  # what Python 3 calls the built-in names of Python 2 that the fixers of --python2 know
    "xrange": "range", "unicode": "str", "unichr": "chr", "basestring": "str", "long": "int", "raw_input": "input",
    "reduce": "functools.reduce", "execfile": "exec(open(path).read())", "StandardError": "Exception",
}  # fmt: skip
VERSION_TESTS = ("version_info", "PY2", "PY3", "py2", "py3", "python_version", "sys.version", "hexversion")


def explain_python2(line: str) -> str:
    """The Python 2 construct on this line, or an empty text."""
    return next((name for pattern, name in _CONSTRUCTS if pattern.search(line)), "")


def is_refused_python2(text: str, error: SyntaxError) -> bool:
    """Whether what Python 3 says against a source is a construct of Python 2."""
    lines = text.splitlines()
    return 0 < (error.lineno or 0) <= len(lines) and bool(explain_python2(lines[(error.lineno or 1) - 1]))


_ONLY_3 = (
    ast.JoinedStr, ast.AnnAssign, ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await, ast.Nonlocal, ast.NamedExpr,
    ast.YieldFrom, ast.MatMult, ast.Match,
)  # fmt: skip


def is_for_python3(tree: ast.Module) -> bool:
    """Whether a source has something that Python 2 does not read or run, so that it was never meant for it."""
    return any(isinstance(node, _ONLY_3) or _is_only_3(node) for node in walk(tree))


def _is_only_3(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef):
        given = [*node.args.args, *node.args.kwonlyargs]
        return bool(node.args.kwonlyargs) or node.returns is not None or any(arg.annotation is not None for arg in given)
    if isinstance(node, ast.Raise):
        return node.cause is not None
    if isinstance(node, ast.ClassDef):
        return bool(node.keywords)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args
