"""Marks for the statements of converted files that a run reaches: each is compiled with a mark before it, which costs one call.

Only a run that goes into a report is compiled so. The files stay as they are, and lines in tracebacks too. What is known is
whether a statement was begun: not which part of it was computed, and nothing of other processes that the script starts.
"""

from __future__ import annotations

import ast
import builtins
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

_MARK = "__tf2npu_reached__"
"""Name of the marks' function, among the built-in ones since every module finds it there."""


@dataclass
class StatementMarks:
    """Marks of the files of a project.

    path_of: path of a file in the project by its real path, None for one that is not to be marked.  statements: first and
    last line of each, by path; of one with a body these are the lines before the body.
    """

    path_of: Callable[[str], str | None]
    statements: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    _reached: set[int] = field(default_factory=set)
    _places: list[tuple[str, int, int]] = field(default_factory=list)

    def install(self) -> None:
        """Compile files of the report with marks from here on."""
        setattr(builtins, _MARK, self._reached.add)
        sys.meta_path.insert(0, _Finder(self))

    def document(self) -> list[dict[str, Any]]:
        """The statements of each file that was loaded, those that the run came to and the others."""
        reached: dict[str, set[tuple[int, int]]] = {path: set() for path in self.statements}
        for number in tuple(self._reached):
            path, *lines = self._places[number]
            reached.setdefault(path, set()).add((lines[0], lines[1]))
        return [
            {
                "path": path,
                "reached": sorted(map(list, reached[path])),
                "not_reached": sorted(map(list, {*statements} - reached[path])),
            }
            for path, statements in sorted(self.statements.items())
        ]

    def compiled(self, data: bytes, file: str) -> CodeType:
        """The code of a file; without marks where it is none of the report's or Python cannot take them."""
        path = self.path_of(os.path.realpath(file))
        if path is None:
            return _plain(data, file)
        n_places = len(self._places)
        try:
            tree = ast.parse(data, file)
            self._mark(tree, path)
            code: CodeType = compile(tree, file, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            del self._places[n_places:]
            return _plain(data, file)  # says itself what is wrong with it
        self.statements[path] = [place[1:] for place in self._places[n_places:]]
        return code

    def _mark(self, tree: ast.Module, path: str) -> None:
        for node in list(ast.walk(tree)):
            for name in ("body", "orelse", "finalbody"):
                body = getattr(node, name, None)
                if isinstance(body, list) and body:
                    setattr(node, name, list(self._marked(body, path, _has_docstring(node, name))))
        ast.fix_missing_locations(tree)

    def _marked(self, body: Sequence[ast.stmt], path: str, has_docstring: bool) -> Iterator[ast.stmt]:
        for number, statement in enumerate(body):
            is_first = (has_docstring and not number) or (
                isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
            )
            if not is_first:
                yield self._mark_of(statement, path)
            yield statement

    def _mark_of(self, statement: ast.stmt, path: str) -> ast.stmt:
        self._places.append((path, *_lines_of(statement)))
        call = ast.Call(ast.Name(_MARK, ast.Load()), [ast.Constant(len(self._places) - 1)], [])
        mark = ast.copy_location(ast.Expr(call), statement)
        mark.end_lineno, mark.end_col_offset = statement.lineno, statement.col_offset
        return mark


def _plain(data: bytes, file: str) -> CodeType:
    code: CodeType = compile(data, file, "exec", dont_inherit=True)
    return code


def _has_docstring(node: ast.AST, name: str) -> bool:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return name == "body" and isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None


def _lines_of(statement: ast.stmt) -> tuple[int, int]:
    first = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", ()))])
    body = getattr(statement, "body", None) or getattr(statement, "cases", None)
    if not body:
        return first, statement.end_lineno or first
    inner = body[0] if isinstance(body[0], ast.stmt) else body[0].pattern
    return first, max(statement.lineno, inner.lineno - 1)


class _Loader(SourceFileLoader):
    """Compiles anew each time: Python's cache keeps the code without marks."""

    marks: StatementMarks

    def get_code(self, fullname: str) -> CodeType:
        file = self.get_filename(fullname)
        return self.marks.compiled(self.get_data(file), file)


class _Finder(MetaPathFinder):
    def __init__(self, marks: StatementMarks) -> None:
        self._marks = marks

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:  # fmt: skip
        """The module's own, with our loader, where it is a file of the report; else whatever others find."""
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader:
            return None
        if self._marks.path_of(os.path.realpath(spec.origin or "")) is None:
            return None
        spec.loader = _Loader(spec.loader.name, spec.loader.path)
        spec.loader.marks = self._marks
        return spec
