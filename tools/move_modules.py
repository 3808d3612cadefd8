"""Moves modules and packages, and everything that names them:   python tools/move_modules.py MOVES.txt

MOVES.txt has a move a line, `old.module new.module`. Files go by `git mv`; imports, dotted names and paths are written anew in
every file that git tracks but fixtures. Where a module gets another last name, what a file calls it by goes along. The packages
that modules move into must be there. What it cannot know: names that are put together of pieces while a program runs.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider, ScopeProvider
from libcst.metadata.scope_provider import Assignment, ImportAssignment, Scope

ROOTS = {"npu_bridge": "tf2npu/npu_bridge", "npu_device": "tf2npu/npu_device", "hccl": "tf2npu/hccl"}
"""Packages whose folder is not their name (pyproject.toml, package-dir)."""
READ = {".py", ".md", ".toml", ".yml", ".yaml", ".json", ".txt", ".cfg", ".html", ".css", ".js", ""}
LEFT = ("tests/fixtures", "examples", "CHANGELOG.md")
"""Prefixes of files that speak of other people's modules, or of the past."""

Edit = tuple[tuple[int, int], tuple[int, int], str]
"""Beginning and end as line from 1 and column, and the text that comes between."""


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__)
        return 2
    lines = Path(arguments[0]).read_text(encoding="utf-8").splitlines()
    moves = dict(line.split() for line in lines if line.strip() and not line.startswith("#"))
    for old, new in moves.items():
        _move_file(old, new)
    changed = [path for path in _tracked() if _rewrite(path, moves)]
    subprocess.run([sys.executable, "-m", "ruff", "check", "--quiet", "--select", "I", "--fix", "."], check=False)
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", "."], check=False)
    print(f"{len(moves)} moved, {len(changed)} files written")
    return 0


def _move_file(old: str, new: str) -> None:
    source, target = _path(old), _path(new)
    if source.with_suffix(".py").exists():  # a room of this name may be there already
        source, target = source.with_suffix(".py"), target.with_suffix(".py")
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "mv", str(source), str(target)], check=True)


def _path(module: str) -> Path:
    root, _, rest = module.partition(".")
    return Path(ROOTS.get(root, root), *rest.split(".")) if rest else Path(ROOTS.get(root, root))


def _tracked() -> Iterator[Path]:
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    return (Path(name) for name in listed if Path(name).suffix in READ and not name.startswith(LEFT) and Path(name).is_file())


def _rewrite(path: Path, moves: dict[str, str]) -> bool:
    before = path.read_bytes().decode("utf-8", "surrogateescape")
    text = before
    if path.suffix == ".py" and any(f"from {old.rpartition('.')[0]} import" in text for old in moves):
        text = with_moved_imports(text, moves)
    text = with_moved_names(text, moves)
    if text == before:
        return False
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return True


def with_moved_names(text: str, moves: dict[str, str]) -> str:
    """Dotted names, and paths with a slash, wherever they stand: in imports, strings, documents and settings."""
    longest_first = sorted(moves, key=len, reverse=True)
    dotted = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
    text = dotted.sub(lambda found: moves[found[0]], text)
    paths = {str(_path(old)): str(_path(new)) for old, new in moves.items()}
    any_path = "|".join(map(re.escape, sorted(paths, key=len, reverse=True)))
    return re.sub(rf"(?<![\w/])(?:{any_path})(?=\.py\b|/|\b(?![\w.]))", lambda found: paths[found[0]], text)


def with_moved_imports(text: str, moves: dict[str, str]) -> str:
    """A source whose `from package import module` lines name the module's new package, and whose uses have its new name."""
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    positions = wrapper.resolve(PositionProvider)
    scopes = wrapper.resolve(ScopeProvider)
    edits: list[Edit] = []
    for line in _from_imports(wrapper.module):
        edits += _edits_of_line(line, moves, positions, scopes, wrapper.module)
    return _applied(text, edits)


def _from_imports(module: cst.Module) -> list[cst.ImportFrom]:
    found: list[cst.ImportFrom] = []

    class Collector(cst.CSTVisitor):
        def visit_ImportFrom(self, node: cst.ImportFrom) -> None:
            if node.module is not None and not node.relative and not isinstance(node.names, cst.ImportStar):
                found.append(node)

    module.visit(Collector())
    return found


def _edits_of_line(line: cst.ImportFrom, moves: dict[str, str], positions, scopes, module: cst.Module) -> Iterator[Edit]:
    package = module.code_for_node(line.module)
    names: dict[str, list[str]] = {}
    renamed: list[tuple[str, str]] = []
    for alias in line.names:
        old = alias.evaluated_name
        home, _, new = moves.get(f"{package}.{old}", f"{package}.{old}").rpartition(".")
        bound = alias.evaluated_alias
        if new != old and not bound:
            renamed.append((old, new))
        names.setdefault(home, []).append(f"{new} as {bound}" if bound else new)
    if set(names) == {package} and not renamed:
        return
    where = positions[line]
    between = "\n" + " " * where.start.column
    yield _edit(where, between.join(f"from {home} import {', '.join(listed)}" for home, listed in names.items()))
    for old, new in renamed:
        yield from _edits_of_uses(scopes[line], old, new, positions)


def _edits_of_uses(scope: Scope, old: str, new: str, positions) -> Iterator[Edit]:
    """The places that read a name which an import binds; a name that something else binds too is left to a person."""
    bindings: Iterable[Assignment] = scope[old]
    if any(not isinstance(binding, ImportAssignment) for binding in bindings) or scope.globals[new]:
        print(f"left to you: {old} is {new} now, but one of the names is bound twice", file=sys.stderr)
        return
    for node in {access.node for binding in bindings for access in binding.references}:
        while isinstance(node, cst.Attribute):
            node = node.value
        yield _edit(positions[node], new)


def _edit(where, text: str) -> Edit:
    return (where.start.line, where.start.column), (where.end.line, where.end.column), text


def _applied(text: str, edits: list[Edit]) -> str:
    lines = text.splitlines(keepends=True)
    for (line, column), (last, end), new in sorted(set(edits), reverse=True):
        lines[line - 1 : last] = (lines[line - 1][:column] + new + lines[last - 1][end:]).splitlines(keepends=True)
    return "".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
