"""The block that an entry script runs, with lines put before it and lines that run whatever happens."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import libcst as cst

from tf2npu.frameworks.tensorflow1.framework import FRAMEWORK
from tf2npu.scanner.imports import import_statements
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site
from tf2npu.scanner.tree_walk import dotted_name


def entry_guard(script: Script) -> cst.If | None:
    """The first `if __name__ == "__main__":` of a file whose body does something and may be indented."""
    guards = [node for node, scope in script.walked.ifs if scope is script.module_scope and is_guard(node.test)]
    real = [node for node in guards if not _only_passes(node) and not _is_before_backslash(script, node)]
    return real[0] if real else None


def is_guard(test: cst.BaseExpression) -> bool:
    """Whether a condition holds in the entry script only: the comparison in either order, or as a term of `and`."""
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        return is_guard(test.left) or is_guard(test.right)
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return False
    comparison = test.comparisons[0]
    sides = [test.left, comparison.comparator]
    names = [s.value for s in sides if isinstance(s, cst.Name)]
    texts = [s.evaluated_value for s in sides if isinstance(s, cst.SimpleString)]
    return isinstance(comparison.operator, cst.Equal) and names == ["__name__"] and texts == ["__main__"]


def _only_passes(node: cst.If) -> bool:
    statements: list[Any] = []
    for line in node.body.body:
        statements.extend(line.body if isinstance(line, cst.SimpleStatementLine) else [line])
    return all(isinstance(s, cst.Pass) for s in statements)


def _is_before_backslash(script: Script, guard: cst.If) -> bool:
    """Whether a line of nothing but a backslash follows: behind an indented block LibCST does not take it."""
    below = script.text[script.lines.line_end(_last_offset(script, guard.body)) :].lstrip("\r\n \t\f")
    return re.match(r"\\(\r|\n|$)", below) is not None


def bracket_guard(site: Site, guard: cst.If, before: list[str], closing: list[str]) -> None:
    """Put `before` and a try around the body of a guard, and `closing` into its finally."""
    if isinstance(guard.body, cst.SimpleStatementSuite):
        _bracket_suite(site, guard, before, closing)
    else:
        _bracket_block(site, guard.body, before, closing)


def _bracket_suite(site: Site, guard: cst.If, before: list[str], closing: list[str]) -> None:
    """`if ...: main()` becomes a block."""
    script = site.script
    body: Any = guard.body
    first = script.tree.span(body.body[0])[0]
    colon = script.text.rindex(":", 0, first)
    outer = _indentation(script, script.tree.span(guard)[0])
    step = script.tree.module.default_indent
    newline = script.newline_at(first)
    lines = [*before, "try:"]
    opening = "".join(f"{newline}{outer}{step}{line}" for line in lines) + f"{newline}{outer}{step}{step}"
    site.replace_range(colon + 1, first, opening)
    site.insert(script.lines.line_end(_last_offset(script, body)), _finally(newline, outer + step, step, closing))


def _bracket_block(site: Site, body: Any, before: list[str], closing: list[str]) -> None:
    script = site.script
    first, last = script.tree.span(body.body[0])[0], _last_offset(script, body)
    indent = _indentation(script, first)
    step = indent or script.tree.module.default_indent  # a guard stands at the left
    newline = script.newline_at(first)
    start = script.lines.line_start(_first_comment(script, body, first))
    site.insert(start, "".join(f"{indent}{line}{newline}" for line in [*before, "try:"]))
    for line_start in _code_lines(script, start, last):
        site.indent(line_start + _length_of_form_feeds(script, line_start), step)
    site.insert(script.lines.line_end(last), _finally(newline, indent, step, closing))


def start_in_guard(site: Site, guard: cst.If, lines: list[str]) -> None:
    """Put lines before the first statement of a guard's body."""
    if isinstance(guard.body, cst.SimpleStatementSuite):
        site.insert(site.script.tree.span(guard.body.body[0])[0], "".join(f"{line}; " for line in lines))
        return
    first = site.script.tree.span(guard.body.body[0])[0]
    indent, newline = _indentation(site.script, first), site.script.newline_at(first)
    start = site.script.lines.line_start(_first_comment(site.script, guard.body, first))
    site.insert(start, "".join(f"{indent}{line}{newline}" for line in lines))


def insert_behind(site: Site, statement: cst.CSTNode, lines: list[str]) -> None:
    """Put lines behind the line that a statement ends on, in its indentation."""
    script = site.script
    start, end = script.tree.span(statement)
    newline, line_end = script.newline_at(start), script.lines.line_end(end)
    text = "".join(f"{_indentation(script, start)}{line}{newline}" for line in lines)
    offset = min(line_end + len(newline), len(script.text))
    site.insert(offset, text if script.text[line_end:offset] else newline + text)


def _finally(newline: str, indent: str, step: str, closing: list[str]) -> str:
    return f"{newline}{indent}finally:" + "".join(f"{newline}{indent}{step}{line}" for line in closing)


def _first_comment(script: Script, body: Any, first: int) -> int:
    """Offset of the first line of a block, a comment above its first statement included."""
    position = script.lines.line_start(first)
    header = script.tree.span(body)[0]
    while position > header:
        previous = script.lines.line_start(position - 1)
        text = script.text[previous:position].strip()
        if not text.startswith("#") or previous < header:
            break
        position = previous
    return position


def _last_offset(script: Script, body: Any) -> int:
    start, end = script.tree.span(body.body[-1])
    last = start + len(script.text[start:end].rstrip()) - 1
    line_end = script.lines.line_end(last)
    if "\\" not in (script.text[last], script.text[last + 1 : line_end].strip()):
        return last
    return min(line_end + len(script.newline_at(last)), len(script.text))  # the line below belongs to the statement


def _code_lines(script: Script, start: int, last: int) -> list[int]:
    """Starts of the lines up to `last` that may be indented: not blank, not inside a string.

    Behind a backslash alone at the left, Python takes the indentation of the next line, so that one is left where it is.
    """
    inside = [script.tree.span(s) for s in script.walked.strings]
    long = [(a, b) for a, b in inside if "\n" in script.text[a:b] or "\r" in script.text[a:b]]
    found = []
    for line_start in script.lines.starts:
        if start <= line_start <= last:
            line = script.text[line_start : script.lines.line_end(line_start)].rstrip()
            if line.lstrip("\f") not in ("", "\\") and not any(a < line_start < b for a, b in long):
                found.append(line_start)
    return found


def _indentation(script: Script, offset: int) -> str:
    start = script.lines.line_start(offset)
    line = script.text[start + _length_of_form_feeds(script, start) : offset]
    return line[: len(line) - len(line.lstrip())]


def _length_of_form_feeds(script: Script, line_start: int) -> int:
    """Characters of a line up to its last form feed before the code: Python counts the indentation from there."""
    line = script.text[line_start : script.lines.line_end(line_start)]
    return line[: len(line) - len(line.lstrip())].rfind("\f") + 1


def insert_after_imports(site: Site, lines: list[str], works: Callable[[Any], bool] = lambda statement: False) -> None:
    """Put lines before the first statement of a module that does something, and behind the import of what they use.

    works: whether a statement that looks like one of imports does something.
    """
    script = site.script
    body: list[Any] = list(script.tree.module.body)
    for place in [*import_statements(script, FRAMEWORK), None]:
        behind = next((n + 1 for n, statement in enumerate(body) if statement is place), 0)
        first = next((one for one in body[behind:] if works(one) or not _is_prelude(one)), None)
        if first is not None:
            offset = _above_comments(script, script.lines.line_start(script.tree.span(first)[0]))
            newline = script.newline_at(offset)
            apart = newline * 2 if isinstance(first, (cst.FunctionDef, cst.ClassDef)) else ""
            site.insert(offset, "".join(f"{line}{newline}" for line in lines) + apart)
            return


def last_work(script: Script) -> int:
    """Offset of the last statement of a module that does something; 0 where none does."""
    return max((script.tree.span(s)[0] for s in script.tree.module.body if not _is_prelude(s)), default=0)


def command_functions(script: Script) -> list[cst.FunctionDef]:
    """Functions of a file that installed commands run and that call no other of these."""
    names = script.project.commands.get(script.path, frozenset())
    body = script.tree.module.body
    found = [n for n in body if isinstance(n, cst.FunctionDef) and n.name.value in names and n.asynchronous is None]
    others = {id(n): {o.name.value for o in found} - {n.name.value} for n in found}
    return [n for n in found if not mentions(script, n.body, others[id(n)])]


def mentions(script: Script, node: cst.CSTNode, names: set[str]) -> bool:
    """Whether one of some module-level names is used inside a node."""
    start, end = script.tree.span(node)
    spans = [script.tree.span(r) for r, _ in script.walked.references if dotted_name(r).partition(".")[0] in names]
    return any(start <= a and b <= end for a, b in spans)


def start_in_function(site: Site, function: cst.FunctionDef, lines: list[str]) -> None:
    """Put lines before the first statement of a function that is no docstring."""
    script, body = site.script, list[Any](function.body.body)
    is_block = isinstance(function.body, cst.IndentedBlock)
    first = body[1] if len(body) > 1 and _is_docstring(body[0]) else body[0]
    start = script.tree.span(first)[0]
    if not is_block:
        site.insert(start, "".join(f"{line}; " for line in lines))
        return
    indent = _indentation(script, start)
    offset = script.lines.line_start(_first_comment(script, function.body, start) if first is body[0] else start)
    site.insert(offset, "".join(f"{indent}{line}{script.newline_at(start)}" for line in lines))


def _is_docstring(statement: Any) -> bool:
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement
    return isinstance(small, cst.Expr) and isinstance(small.value, (cst.SimpleString, cst.ConcatenatedString))


def _above_comments(script: Script, offset: int) -> int:
    """Start of the first of the comment lines that stand directly above a line."""
    while offset > 0:
        previous = script.lines.line_start(offset - 1)
        continues = script.text[:previous].rstrip("\r\n").endswith("\\")  # the comment belongs to the line above it
        if continues or not script.text[previous:offset].startswith("#"):
            break
        offset = previous
    return offset


def _is_prelude(statement: Any) -> bool:
    if isinstance(statement, cst.Try):
        return all(_is_prelude(s) or isinstance(s, cst.SimpleStatementLine) for s in statement.body.body)
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    return _is_docstring(statement) or isinstance(statement.body[0], (cst.Import, cst.ImportFrom, cst.Pass))
