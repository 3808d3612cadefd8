"""The import of an adapter: merged into one that is there, else at the first import of its framework or before an earlier use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import libcst as cst

from tf2npu.frameworks.base import Adapter, Framework
from tf2npu.scanner.import_names import imported_modules
from tf2npu.scanner.names import canonical, root_of
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.text.edits import Change
from tf2npu.scanner.tree_walk import dotted_name


def plan_import(
    script: Script, framework: Framework, symbols: Iterable[tuple[str, Any]], side_effect: bool, first_use: int
) -> list[Change]:
    """The changes that make symbols of a framework's adapter available; none when nothing is missing.

    symbols: names of the adapter, or `module:name` for what it does not export, with the scope each is used in.
    side_effect: the file is run and must import the adapter anyway.  first_use: offset of the first use at module level.
    """
    adapter = framework.adapter
    assert adapter is not None
    first_need = adapter.first_need(script)
    above = [node for node in _of_adapter(script, adapter) if script.tree.span(node)[0] < first_use]
    wanted = {symbol: scope for symbol, scope in symbols if not _is_imported(script, symbol, scope, first_use)}
    others = sorted(symbol for symbol in wanted if ":" in symbol)
    names = sorted(_spelling(script, symbol) for symbol in wanted if ":" not in symbol)
    lines: list[str] = []
    changes: list[Change] = []
    existing = next((node for node in above if not isinstance(node.names, cst.ImportStar)), None)
    if any(isinstance(node.names, cst.ImportStar) for node in above):
        names = [name for name in names if " as " in name]
    is_missing = side_effect and not _imports_adapter(script, framework, adapter)
    if _takes_star(script, adapter, names) and (names or is_missing):
        lines.append(f"from {adapter.spelled(adapter.module, script.config)} import *")
    elif names and existing is not None:
        changes.append(_merge(script, existing, names))
    elif names:
        lines.append(_line(script, adapter, names))
    elif is_missing:
        lines.append(adapter.side_effect(script.config))
    if side_effect and not lines and first_need is not None and not _is_above(script, adapter, first_need):
        lines.append(adapter.side_effect(script.config))
    lines.extend(_other_line(script, adapter, symbol) for symbol in others)
    if lines:
        scopes = list(wanted.values()) or [script.module_scope]
        changes.append(_insert(script, framework, lines, scopes, first_use, first_need))
    return changes


def _line(script: Script, adapter: Adapter, names: list[str]) -> str:
    """The import of names of an adapter, or of its module as a whole by the name that this file has for it."""
    if adapter.alias:
        return f"import {adapter.module} as {names[0].rpartition(' ')[2]}"
    return f"from {adapter.spelled(adapter.module, script.config)} import {', '.join(names)}"


def _is_above(script: Script, adapter: Adapter, place: cst.CSTNode) -> bool:
    """Whether a module imports the adapter, or a part of it, above a place."""
    start = script.tree.span(place)[0]
    above = [node for node, scope in script.walked.imports if scope is script.module_scope and script.tree.span(node)[0] < start]
    return any(root_of(canonical(module)) == adapter.root for node in above for module in imported_modules(node))


def _is_imported(script: Script, symbol: str, scope: Scope, first_use: int) -> bool:
    """Whether a statement above the first use, or in the function around it, imports a symbol already."""
    if any(script.tree.span(node)[0] < first_use for node in script.imports_of(symbol)):
        return True
    module, _, name = symbol.rpartition(":")
    if not module:
        return False
    own = [node for node, at in script.walked.imports if at.function is not None and scope.is_inside(at.function)]
    return any(_gives(node, module, name) for node in own)


def _gives(node: cst.Import | cst.ImportFrom, module: str, name: str) -> bool:
    if not isinstance(node, cst.ImportFrom) or node.module is None or isinstance(node.names, cst.ImportStar):
        return False
    return canonical(dotted_name(node.module)) == module and name in [dotted_name(alias.name) for alias in node.names]


def import_statements(script: Script, framework: Framework) -> list[cst.CSTNode]:
    """Top-level statements behind which what is imported from the adapter can be used, the best first."""
    own = next(_of_adapter(script, framework.adapter), None) if framework.adapter is not None else None
    nodes = [own, _anchor(script, framework, [script.module_scope])]
    return [_top_level(script, node) for node in nodes if node is not None]


def _other_line(script: Script, adapter: Adapter, symbol: str) -> str:
    module, name = symbol.split(":")
    reason = f"  # noqa: F401  {adapter.reasons[name]}" if name in adapter.reasons else ""
    return f"from {adapter.spelled(module, script.config)} import {name}{reason}"


def _spelling(script: Script, symbol: str) -> str:
    local = script.local_name(symbol)
    return symbol if local == symbol else f"{symbol} as {local}"


def _takes_star(script: Script, adapter: Adapter, names: list[str]) -> bool:
    """Whether a star import is asked for and changes the meaning of no name that the file uses."""
    if script.config.import_style != "star" or adapter.alias or _has_star(script, adapter) or any(" as " in n for n in names):
        return False
    free = {
        dotted_name(node).partition(".")[0]
        for node, scope in script.walked.references
        if isinstance(node, (cst.Name, cst.Attribute)) and scope.lookup_scope(dotted_name(node).partition(".")[0]) is None
    }
    return not (free | set(script.module_scope.names) - adapter.same) & adapter.names


def _has_star(script: Script, adapter: Adapter) -> bool:
    return any(canonical(star.target) == adapter.module and star.level == 0 for star in script.module_scope.stars)


def _imports_adapter(script: Script, framework: Framework, adapter: Adapter) -> bool:
    """Whether the adapter is imported at module level, or in the one function that imports the framework."""
    functions = {id(scope.function): scope.function for node, scope in script.walked.imports if reaches(script, framework, node)}
    only = next(iter(functions.values())) if len(functions) == 1 else None
    for node, scope in script.walked.imports:
        if scope is not script.module_scope and (only is None or scope.function is not only):
            continue
        if isinstance(node, cst.ImportFrom):
            if node.module is not None and not node.relative and canonical(dotted_name(node.module)).startswith(adapter.module):
                return True
        elif any(canonical(dotted_name(alias.name)).startswith(adapter.module) for alias in node.names):
            return True
    return False


def _of_adapter(script: Script, adapter: Adapter) -> Iterator[cst.ImportFrom]:
    """Every `from adapter import ...` at module level, in source order."""
    for node, scope in script.walked.imports:
        if not isinstance(node, cst.ImportFrom) or node.module is None or node.relative:
            continue
        if scope is script.module_scope and canonical(dotted_name(node.module)) == adapter.module:
            yield node


def _merge(script: Script, node: cst.ImportFrom, names: list[str]) -> Change:
    assert not isinstance(node.names, cst.ImportStar)
    first, last = node.names[0], node.names[-1]
    start, end = script.tree.span(first)[0], script.tree.span(last.asname or last.name)[1]
    old = script.text[start:end]
    if "\n" in old or "#" in old or "\\" in old:
        return Change(end, end, ", " + ", ".join(names))
    present = [part.strip() for part in old.split(",")]
    return Change(start, end, ", ".join(sorted({*present, *names})))


def _insert(
    script: Script, framework: Framework, lines: list[str], scopes: list[Scope], first_use: int, first_need: cst.CSTNode | None
) -> Change:
    """Lines of their own before or behind the right statement, in the indentation of that statement."""
    anchor = _anchor(script, framework, [script.module_scope] if any(line.endswith("*") for line in lines) else scopes)
    if first_need is not None and (anchor is None or script.tree.span(first_need)[0] < script.tree.span(anchor)[0]):
        anchor = _top_level(script, first_need)
    if anchor is not None and first_use < script.tree.span(anchor)[0]:
        anchor = next(s for s in script.tree.module.body if first_use < script.tree.span(s)[1])
    if isinstance(anchor, cst.SimpleStatementLine) and _is_preamble(anchor):
        return _insert_within(script, anchor, lines)
    is_behind = framework.adapter is not None and framework.adapter.comes_behind
    offset = _offset(script, anchor, is_behind and anchor is not None and script.tree.span(anchor)[1] <= first_use)
    indent = ""
    if anchor is not None:
        start = script.tree.span(anchor)[0]
        indent = script.text[script.lines.line_start(start) : start].replace("\f", "")
    newline = "\r\n" if "\r\n" in script.text[: offset + 2000] else "\n"
    if offset == len(script.text) and script.text and not script.text.endswith(("\n", "\r")):
        return Change(offset, offset, "".join(newline + line for line in lines))
    return Change(offset, offset, "".join(f"{indent}{line}{newline}" for line in lines))


def _offset(script: Script, anchor: cst.CSTNode | None, is_behind: bool) -> int:
    """The line of a statement or the one behind it; without a statement the line behind docstring and `__future__` imports."""
    if anchor is None:
        return _after_preamble(script)
    start, end = script.tree.span(anchor)
    if not is_behind:
        return script.lines.line_start(start)
    last = start + len(script.text[start:end].rstrip())  # a block ends where the next statement begins
    line_end = script.lines.line_end(last)
    return min(line_end + len(script.newline_at(last)), len(script.text))


def _insert_within(script: Script, anchor: cst.SimpleStatementLine, lines: list[str]) -> Change:
    """The same in a line that begins with what has to stay first: behind the docstring and the `__future__` imports in it."""
    first = next(part for n, part in enumerate(anchor.body) if not (is_future(part) or (n == 0 and _is_text(part))))
    offset = script.tree.span(first)[0]
    return Change(offset, offset, "".join(f"{line.partition('  #')[0]}; " for line in lines))


def _anchor(script: Script, framework: Framework, scopes: list[Scope]) -> cst.CSTNode | None:
    """Statement at which the import goes; None when nothing in the file imports the framework."""
    sites = [(node, scope) for node, scope in script.walked.imports if reaches(script, framework, node)]
    if not sites:
        return _first_import_statement(script)
    node, scope = sites[0]
    line = _statement_line(script, node)
    if scope.function is not None:
        if len(sites) == 1 and line is not None and all(s.is_inside(scope.function) for s in scopes):
            return line
        return _top_level(script, node)
    top = _top_level(script, node)
    if line is None or line is top or scope is not script.module_scope:
        return top
    others = [n for n, _ in sites[1:] if _top_level(script, n) is top]
    outside = [n for n, _ in sites[1:] if _top_level(script, n) is not top]
    return line if not others and not outside else top


def _first_import_statement(script: Script) -> cst.CSTNode | None:
    for node, scope in script.walked.imports:
        if scope is script.module_scope and not is_future(node):
            return _top_level(script, node)
    return None


def _after_preamble(script: Script) -> int:
    """Offset behind docstring and `__future__` imports."""
    for statement in script.tree.module.body:
        if not _is_preamble(statement):
            return script.lines.line_start(script.tree.span(statement)[0])
    return len(script.text)


def _is_preamble(statement: Any) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    return _is_text(statement.body[0]) or is_future(statement.body[0])


def _is_text(part: cst.BaseSmallStatement) -> bool:
    return isinstance(part, cst.Expr) and isinstance(part.value, (cst.SimpleString, cst.ConcatenatedString))


def is_future(part: cst.BaseSmallStatement) -> bool:
    """Whether a statement imports from `__future__`, which has to stay above other code."""
    return isinstance(part, cst.ImportFrom) and part.module is not None and dotted_name(part.module) == "__future__"


def reaches(script: Script, framework: Framework, node: cst.Import | cst.ImportFrom) -> bool:
    """Whether a statement imports a framework, itself or through a module of the project."""
    if isinstance(node, cst.Import):
        return any(_module_reaches(script, framework, 0, dotted_name(alias.name)) for alias in node.names)
    module = dotted_name(node.module) if node.module is not None else ""
    level = len(node.relative)
    if _module_reaches(script, framework, level, module):
        return True
    if isinstance(node.names, cst.ImportStar):
        return False
    names = [dotted_name(alias.name) for alias in node.names]
    return any(_module_reaches(script, framework, level, f"{module}.{name}" if module else name) for name in names)


def _module_reaches(script: Script, framework: Framework, level: int, module: str) -> bool:
    if framework.is_bound_by([(level, module)]):
        return True
    target = script.project.find_module(script.path, level, module)
    return target is not None and target != script.path and script.project.is_reaching(target, framework.name)


def _statement_line(script: Script, node: cst.CSTNode) -> cst.CSTNode | None:
    """The line that holds an import; None for one in a one-line suite."""
    parent = script.walked.parents.get(id(node))
    return parent if isinstance(parent, cst.SimpleStatementLine) else None


def _top_level(script: Script, node: cst.CSTNode) -> cst.CSTNode:
    chain = [node, *script.walked.ancestors(node)]
    return chain[-2] if len(chain) > 1 else node
