"""Share of the references to TensorFlow and Horovod in real code that the converter sees.

`python -m benchmarks.reference_recall NAME=FOLDER ...` counts them itself, with Python's own parser and nothing of the
project, and compares file by file with what `benchmarks.seen_references` prints for the same folder. The counts are matched by
the last part of each name, since the converter gives one name to every spelling. Exit code 1 below 99.5 percent.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOTS = {"tensorflow", "tensorflow_core", "tensorflow_estimator", "horovod"}
WANTED = 0.995
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def references(text: str) -> Iterator[tuple[str, int]]:
    """(dotted name, line) of every import and use of a name of TensorFlow or Horovod."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = ast.parse(text)
    yield from _Scope(module, None).references()


class _Scope:
    """Bindings of a module, class, function or comprehension: a dotted name for each name, or "" for anything else."""

    def __init__(self, node: ast.AST, parent: _Scope | None) -> None:
        self.node = node
        self.parent = parent
        self.bound: dict[str, str] = {}
        self.n_bindings: Counter[str] = Counter()
        self.aliases: list[tuple[str, ast.expr]] = []
        self.inner: list[ast.AST] = []
        self.own: list[ast.AST] = []
        self._parameters()
        for child in self._body():
            self._collect(child)
        for name, value in self.aliases:
            if self.n_bindings[name] == 1:
                self.bound[name] = self._resolved(value)

    def _parameters(self) -> None:
        arguments = getattr(self.node, "args", None)
        if isinstance(self.node, _FUNCTIONS) and isinstance(arguments, ast.arguments):
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            for argument in every:
                if argument is not None:
                    self._bind(argument.arg, "")

    def _body(self) -> list[ast.AST]:
        """The nodes that are evaluated inside: not the defaults, decorators and bases."""
        if isinstance(self.node, _COMPREHENSIONS):
            return list(ast.iter_child_nodes(self.node))
        body = getattr(self.node, "body", [])
        return body if isinstance(body, list) else [body]

    def _collect(self, node: ast.AST) -> None:
        self.own.append(node)
        if isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or alias.name.partition(".")[0]
                self._bind(local, alias.name if alias.asname else local)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                self._bind(alias.asname or alias.name, f"{node.module}.{alias.name}" if not node.level else "")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self._bind(node.name, "")
        elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            self._bind(node.id, "")
        elif isinstance(node, ast.ExceptHandler) and node.name:
            self._bind(node.name, "")
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self.aliases.append((node.targets[0].id, node.value))
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef, *_COMPREHENSIONS)):
            self.inner.append(node)
            outside = _evaluated_outside(node)
        else:
            outside = list(ast.iter_child_nodes(node))
        for child in outside:
            self._collect(child)

    def _bind(self, name: str, target: str) -> None:
        self.n_bindings[name] += 1
        is_ours = target.partition(".")[0] in ROOTS
        self.bound[name] = target if is_ours else self.bound.get(name, "")

    def _resolved(self, node: ast.expr) -> str:
        """Dotted name of a chain of attributes that starts at an import, or ""."""
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        scope: _Scope | None = self
        while scope is not None:
            if node.id in scope.bound and (scope is self or not isinstance(scope.node, ast.ClassDef)):
                base = scope.bound[node.id]
                return ".".join([base, *reversed(parts)]) if base else ""
            scope = scope.parent
        return ""

    def references(self) -> Iterator[tuple[str, int]]:
        """References of this scope and those inside it."""
        inside_chain: set[int] = set()
        for node in self.own:
            if isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Attribute, ast.Name)):
                inside_chain.add(id(node.value))
        for node in self.own:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                yield from _imported(node)
            elif isinstance(node, (ast.Attribute, ast.Name)) and id(node) not in inside_chain and isinstance(node.ctx, ast.Load):
                name = self._resolved(node)
                if (isinstance(node, ast.Attribute) and name) or (name.count(".") > 1 and not self._is_module(node)):
                    yield name, node.lineno
        for node in self.inner:
            yield from _Scope(node, self).references()

    def _is_module(self, node: ast.expr) -> bool:
        """Whether a bare name could be a module that an import gave another name: it says nothing about an API."""
        return isinstance(node, ast.Name) and self._resolved(node).rpartition(".")[2].islower()


def _evaluated_outside(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        found: list[ast.AST | None] = [*arguments.defaults, *arguments.kw_defaults]
        found += [argument.annotation for argument in every if argument is not None]
        if not isinstance(node, ast.Lambda):
            found += [*node.decorator_list, node.returns]
        return [child for child in found if child is not None]
    return []


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, int]]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names if "." in alias.name]
    elif node.level or node.module is None:
        return
    else:
        names = [f"{node.module}.{alias.name}" for alias in node.names if alias.name != "*"]
    for name in names:
        if name.partition(".")[0] in ROOTS:
            yield name, node.lineno


def matched(counted: Iterator[tuple[str, int]], seen: dict[str, int]) -> tuple[int, list[tuple[str, int]]]:
    """The number of references that are among those seen, and the others. An object's attribute counts as a use of the object."""
    left = Counter(seen)
    by_last: dict[str, list[str]] = {}
    for name in left:
        by_last.setdefault(name.rpartition(".")[2], []).append(name)
    found, missed = 0, []
    for name, line in sorted(counted, key=lambda item: -item[0].count(".")):
        candidates = (full for part in reversed(name.split(".")) for full in by_last.get(part, ()) if left[full])
        match = next(candidates, None)
        if match is None:
            missed.append((name, line))
        else:
            left[match] -= 1
            found += 1
    return found, missed


def measure(name: str, folder: Path) -> float:
    """Recall over a folder; prints a line, and the references that were not seen."""
    output = subprocess.run(
        [sys.executable, "-m", "benchmarks.seen_references", str(folder)], capture_output=True, text=True, check=True
    ).stdout
    n_unread = n_found = n_all = 0
    missed: list[str] = []
    failed: list[str] = []
    for path, seen in json.loads(output).items():
        try:
            counted = list(references((folder / path).read_text(encoding="utf-8")))
        except (SyntaxError, ValueError, RecursionError):
            n_unread += 1
            continue
        if seen is None:
            failed.append(f"  {path}: the converter reports it as failed; {len(counted)} references")
            continue
        found, rest = matched(iter(counted), seen)
        n_found, n_all = n_found + found, n_all + len(counted)
        missed += [f"  {path}:{line}: {missing}" for missing, line in rest]
    recall = n_found / n_all if n_all else 1.0
    print(f"{name}: {n_found} of {n_all} references seen ({100 * recall:.2f} %)")
    print(f"  files that are not Python 3: {n_unread}; that the converter reports as failed: {len(failed)}")
    print("".join(f"{line}\n" for line in [*failed, *missed[:20]]), end="")
    return recall


def main(arguments: list[str]) -> int:
    """Exit code: 0, or 1 where recall is too low."""
    pairs = [argument.partition("=")[::2] for argument in arguments]
    recalls = [measure(name, Path(folder)) for name, folder in pairs]
    return 0 if recalls and min(recalls) >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
