"""Imports of siblings, which Python 2 looks for in the file's own package first (PEP 328), as the relative imports they were."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from pathlib import PurePosixPath

from tf2npu.engine.convert_file import ProjectFacts
from tf2npu.scanner.syntax import parsed


def implicit_siblings(path: str, project: ProjectFacts) -> frozenset[str]:
    """Names that mean modules beside a file when Python 2 imports them there; none for what is run or loaded by its own path."""
    folder = PurePosixPath(path).parent.parts
    if folder not in project.modules:
        return frozenset()  # no package
    facts = project.files[path]
    names = {at[-1] for at, file in project.modules.items() if at[:-1] == folder and at and file != path}
    used = names & {module.partition(".")[0] for level, module in facts.imports if level == 0}
    return frozenset(used) if used and not (path in _run_by_path(project) and path not in _members(project)) else frozenset()


def _beside(path: str, module: str, project: ProjectFacts) -> str | None:
    """The file beside another one that a bare name of it means."""
    at = (*PurePosixPath(path).parent.parts, module.partition(".")[0])
    return project.modules.get(at)


def _run_by_path(project: ProjectFacts) -> set[str]:
    """Entry scripts, and what is loaded from beside them: to these their folder is no package."""
    found: set[str] = set()
    todo = [path for path in project.entries if all(level == 0 for level, _ in project.files[path].imports)]
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            targets = (_beside(path, module, project) for level, module in project.files[path].imports if level == 0)
            todo += [target for target in targets if target is not None and PurePosixPath(target).name != "__init__.py"]
    return found


def _members(project: ProjectFacts) -> set[str]:
    """Files that another one imports by the name of their package, and what these import from beside them."""
    found: set[str] = set()
    todo: list[str] = []
    for path, facts in project.files.items():
        for level, module in facts.imports:
            target = project.find_module(path, level, module)
            folder = PurePosixPath(target).parent if target is not None else None
            if target is not None and (level > 0 or (folder != PurePosixPath(path).parent and "." in module)):
                todo.append(target)
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            targets = (_beside(path, module, project) for level, module in project.files[path].imports if level == 0)
            todo += [target for target in targets if target is not None]
    return found


def with_relative_imports(text: str, siblings: frozenset[str]) -> str:
    """Source that Python 3 parses, with the imports of siblings as relative ones."""
    if not siblings:
        return text
    tree = parsed(text)
    lines = text.encode().split(b"\n")
    starts = [0, *itertools.accumulate(len(line) + 1 for line in lines)]
    data = text.encode()
    for node in sorted(_absolute_imports(tree), key=lambda one: (one.lineno, one.col_offset), reverse=True):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        data = data[:start] + _rewritten(node, data[start:end].decode(), siblings).encode() + data[end:]
    return data.decode()


def _absolute_imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that Python 2 tries as relative ones first."""
    found = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    futures = [node for node in found if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    if any(alias.name == "absolute_import" for node in futures for alias in node.names):
        return
    yield from (node for node in found if isinstance(node, ast.Import) or (node.level == 0 and node not in futures))


def _rewritten(node: ast.Import | ast.ImportFrom, source: str, siblings: frozenset[str]) -> str:
    if isinstance(node, ast.ImportFrom):
        is_sibling = (node.module or "").partition(".")[0] in siblings
        return f"from .{source.removeprefix('from').lstrip()}" if is_sibling and source.startswith("from") else source
    if not any(alias.name.partition(".")[0] in siblings for alias in node.names):
        return source
    return "; ".join(itertools.chain.from_iterable(_import_of(alias, siblings) for alias in node.names))


def _import_of(alias: ast.alias, siblings: frozenset[str]) -> list[str]:
    """The statements that load one module and give the name that its import gave."""
    root, _, rest = alias.name.partition(".")
    shown = f" as {alias.asname}" if alias.asname else ""
    if root not in siblings:
        return [f"import {alias.name}{shown}"]
    package, _, last = alias.name.rpartition(".")
    if not rest:
        return [f"from . import {root}{shown}"]
    if shown:
        return [f"from .{package} import {last}{shown}"]
    loaded = f"from .{package} import {last} as _{alias.name.replace('.', '_')}"
    return [f"from . import {root}", loaded]
