"""Lists the public names of a MindSpore source tree, without importing it:

    python tools/mindspore_inventory.py SOURCES

SOURCES is the folder that contains mindspore/. It prints rows "module,name" for the names that each public module exports by
`__all__`, and for a module without one, its classes and functions. A name that a package exports is not repeated for its modules.
"""

from __future__ import annotations

import ast
import csv
import sys
from collections.abc import Iterator
from pathlib import Path

PUBLIC = [
    "mindspore", "common", "common.initializer", "communication", "compression.common", "compression.quant", "context",
    "dataset", "dataset.callback", "dataset.text", "dataset.transforms.c_transforms", "dataset.transforms.py_transforms",
    "dataset.vision.c_transforms", "dataset.vision.py_transforms", "dataset.vision.utils", "explainer", "explainer.benchmark",
    "explainer.explanation", "log", "mindrecord", "nn", "nn.probability.bijector", "nn.probability.bnn_layers",
    "nn.probability.distribution", "nn.probability.dpn", "nn.probability.infer", "nn.probability.toolbox",
    "nn.probability.transforms", "numpy", "ops", "parallel", "profiler", "train", "train.amp", "train.callback",
    "train.quant.quant", "train.summary",
]  # fmt: skip
"""Modules that the documents of r1.1 describe; what stands deeper is exported by one of them, or is no interface."""


class Module:
    """A module of the tree, with the names that it exports."""

    def __init__(self, root: Path, name: str) -> None:
        self.root, self.name = root, name
        file = root.joinpath(*name.split("."))
        self.is_package = file.is_dir()
        self.tree = ast.parse((file / "__init__.py" if self.is_package else file.with_suffix(".py")).read_text(encoding="utf-8"))
        self.lists: dict[str, list[str]] = {}
        self.modules = self._imported_modules()

    def _imported_modules(self) -> dict[str, str]:
        """Modules of the tree that the module knows under a name."""
        found = {}
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom) and node.level <= 1:
                base = self._base(node)
                for alias in node.names:
                    if alias.name == "*":  # a name of a package that it has imported, as learning_rate_schedule in nn
                        found[base.rpartition(".")[2]] = base
                    elif _exists(self.root, f"{base}.{alias.name}"):
                        found[alias.asname or alias.name] = f"{base}.{alias.name}"
        return found

    def _base(self, node: ast.ImportFrom) -> str:
        package = self.name if self.is_package else self.name.rpartition(".")[0]
        return ".".join(filter(None, [package, node.module])) if node.level else str(node.module)

    def exported(self) -> list[str]:
        """The strings of `__all__`, else the public classes and functions."""
        for node in self.tree.body:
            self._follow(node)
        if "__all__" in self.lists:
            return self.lists["__all__"]
        kinds = (ast.ClassDef, ast.FunctionDef)
        return [node.name for node in self.tree.body if isinstance(node, kinds) and not node.name.startswith("_")]

    def _follow(self, node: ast.stmt) -> None:
        """Carries out an assignment of a list of names, or its extension."""
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            self._put(node.targets[0].id, self.value(node.value))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self._put(node.target.id, self.lists.get(node.target.id, []) + self.value(node.value))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            called = node.value.func
            names = self.lists.get(called.value.id) if isinstance(called.value, ast.Name) else None
            if names is not None and called.attr in ("extend", "append"):
                names += self.value(node.value.args[0])
            elif names is not None and called.attr == "remove":
                names.remove(self.value(node.value.args[0])[0])

    def _put(self, name: str, values: list[str]) -> None:
        self.lists[name] = list(values)

    def value(self, node: ast.expr) -> list[str]:
        """The strings of an expression: a literal, a list of another module, a sum of both."""
        if isinstance(node, ast.List | ast.Tuple):
            return [text for element in node.elts for text in self.value(element)]
        if isinstance(node, ast.Constant):
            return [node.value] if isinstance(node.value, str) else []
        if isinstance(node, ast.Name):
            return self.lists.get(node.id, self._of_imported(node.id))
        if isinstance(node, ast.ListComp):  # [name for name in dir() if ...], in ops.functional alone
            return self._top_level_names()
        if isinstance(node, ast.BinOp):
            return self.value(node.left) + self.value(node.right)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in self.modules:
            other = Module(self.root, self.modules[node.value.id])
            every = other.exported()
            return every if node.attr == "__all__" else other.lists.get(node.attr, [])
        return []

    def _top_level_names(self) -> list[str]:
        """Names that the module binds, as `dir()` gives them."""
        names: list[str] = []
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                names.append(node.name)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                names += [alias.asname or alias.name for alias in node.names]
            elif isinstance(node, ast.Assign):
                names += [target.id for target in node.targets if isinstance(target, ast.Name)]
        return names

    def _of_imported(self, name: str) -> list[str]:
        """A list that was imported by name from another module."""
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom) and name in [alias.asname or alias.name for alias in node.names]:
                base = self._base(node)
                if _exists(self.root, base):
                    other = Module(self.root, base)
                    other.exported()
                    original = next(alias.name for alias in node.names if (alias.asname or alias.name) == name)
                    return other.lists.get(original, [])
        return []


def _exists(root: Path, name: str) -> bool:
    file = root.joinpath(*name.split("."))
    return (file / "__init__.py").exists() or file.with_suffix(".py").exists()


def rows(root: Path) -> Iterator[tuple[str, str]]:
    """Rows of a module and a name, sorted; a name stands with the outermost package that exports it."""
    taken: set[tuple[str, str]] = set()
    for short in sorted(PUBLIC, key=lambda module: (module.count("."), module)):
        name = short if short == "mindspore" else f"mindspore.{short}"
        if not _exists(root, name):
            continue
        module = Module(root, name)
        above = [name.rsplit(".", number)[0] for number in range(1, name.count(".") + 1)]
        for exported in sorted(set(module.exported())):
            if exported.startswith("_") or any((package, exported) in taken for package in above if package != "mindspore"):
                continue
            taken.add((name, exported))
            yield name, exported


def main(sources: str) -> None:
    """Prints the rows."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("module", "name"))
    writer.writerows(sorted(rows(Path(sources))))


if __name__ == "__main__":
    main(*sys.argv[1:])
