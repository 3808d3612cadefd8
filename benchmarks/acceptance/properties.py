"""Properties of one converted file, each looked at with tools that are not the converter's: ast, tokenize, pyflakes."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from pyflakes import checker, messages

_UNDEFINED = (messages.UndefinedName, messages.UndefinedExport)
_ENTRY = re.compile(rb"""__name__\s*[!=]=|['"]__main__['"]""")

# This import is an edit in itself: it gives the file's dropout layers their form on the NPU.
_PATCHES_LAYERS = re.compile(rb"import npu_convert_dropout\b")


@dataclass
class FileFacts:
    """Violations in one file, as short texts."""

    path: str
    unparsable: list[str] = field(default_factory=list)
    undefined: list[str] = field(default_factory=list)
    undefined_by_star: list[str] = field(default_factory=list)  # in files with star imports, where pyflakes cannot know
    comments_lost: list[str] = field(default_factory=list)
    lone_imports: list[str] = field(default_factory=list)
    modes: list[str] = field(default_factory=list)


KINDS = ("unparsable", "undefined", "undefined_by_star", "comments_lost", "lone_imports", "modes")


def check(source: Path, output: Path, path: str, fixed_rules: frozenset[str], is_imported: bool) -> FileFacts:
    """Compare a source file with its output. fixed_rules: ids of the rules that changed it."""
    facts = FileFacts(path)
    facts.modes = mode_differences(source / path, output / path)
    before, after = (source / path).read_bytes(), (output / path).read_bytes()
    if before == after or path.lower().endswith(".ipynb"):
        return facts
    facts.comments_lost = comments_lost(before, after)
    if fixed_rules == {"NPU100"} and is_imported and not _ENTRY.search(before) and not _PATCHES_LAYERS.search(after):
        facts.lone_imports = [f"{path}: imported by others, no main guard, and nothing but the import changed"]
    old = parsed(before)
    if old is None:
        return facts
    new = parsed(after)
    if new is None:
        facts.unparsable = [path]
        return facts
    facts.undefined, facts.undefined_by_star = undefined_names(old, new)
    return facts


def parsed(data: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return None


def compiles(data: bytes) -> bool:
    """Whether Python makes a program of it, which asks for more than parsing: scopes, `return` and `import *` in their places."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, "<source>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def undefined_names(old: ast.Module, new: ast.Module) -> tuple[list[str], list[str]]:
    """Names that became undefined: those pyflakes is sure of, and those that a star import may define."""
    before, after = (_messages(tree) for tree in (old, new))
    sure, by_star = [], []
    for (kind, name), count in sorted(after.items()):
        if count > before[(kind, name)] and not (kind == "local" and _is_as_before(name, old, new)):
            (by_star if kind == "star" else sure).append(name)
    return sure, by_star


def _is_as_before(name: str, old: ast.Module, new: ast.Module) -> bool:
    """Whether nothing new gives a name a value or reads it.

    pyflakes sees a local that is read before its assignment only where no inner scope, as that of a comprehension, is the last
    to have read a global of that name: when such a reader goes, it sees what was wrong already.
    """
    before, after = _uses(name, old), _uses(name, new)
    return before["given"] == after["given"] and before["read"] >= after["read"]


def _uses(name: str, tree: ast.Module) -> Counter[str]:
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == name:
            found["read" if isinstance(node.ctx, ast.Load) else "given"] += 1
        elif isinstance(node, ast.alias):
            found["given"] += (node.asname or node.name).partition(".")[0] == name
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)):
            found["given"] += node.name == name
        elif isinstance(node, ast.arg):
            found["given"] += node.arg == name
    return found


def _messages(tree: ast.Module) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for message in checker.Checker(tree).messages:
        if isinstance(message, _UNDEFINED):
            found["name", str(message.message_args[0])] += 1
        elif isinstance(message, messages.UndefinedLocal):
            found["local", str(message.message_args[0])] += 1
        elif isinstance(message, messages.ImportStarUsage):
            found["star", str(message.message_args[0])] += 1
    return found


def comments_lost(before: bytes, after: bytes) -> list[str]:
    """Comments of `before` that `after` does not hold, each as often as it is missing."""
    old, new = comments(before), comments(after)
    return [] if old is None or new is None else sorted((old - new).elements())


def comments(data: bytes) -> Counter[str] | None:
    """Comments by text; None for source that tokenize does not take."""
    found: Counter[str] = Counter()
    data = re.sub(rb"\r(?!\n)", b"\n", data)  # a line end that tokenize does not take for one
    try:
        for token in tokenize.tokenize(io.BytesIO(data).readline):
            if token.type == tokenize.COMMENT:
                found[token.string.strip()] += 1
    except (tokenize.TokenError, SyntaxError, UnicodeDecodeError, IndentationError):
        return None
    return found


def mode_differences(source: Path, output: Path) -> list[str]:
    """The faults of the output's mode or kind."""
    if source.is_symlink():
        return [] if output.is_symlink() else [f"{source.name}: was a symbolic link"]
    if not output.exists():
        return [f"{source.name}: missing"]
    modes = [path.stat().st_mode & 0o777 for path in (source, output)]
    return [] if modes[0] == modes[1] else [f"{source.name}: mode {modes[0]:o} became {modes[1]:o}"]
