"""The names of a source by which it reaches native Keras, told by its imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tf2npu.frameworks.tensorflow1.native_keras.names import modules, objects
from tf2npu.scanner.syntax import chain, walk
from tf2npu.scanner.text.source import LineIndex

Placed = ast.expr | ast.stmt | ast.alias | ast.keyword
"""Nodes that stand at a place of the text."""


class SourceNames:
    """Local names of modules and objects of the keras package, each without the package, and where a node stands."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self.text = text
        self.nodes = walk(tree)
        self.imports = [node for node in self.nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
        self.aliases: dict[str, set[str]] = {}
        self._others: set[str] = set()  # names that are bound to something else somewhere in the source
        self._tensorflow: set[str] = set()
        self._lines = LineIndex(text)
        for node in self.imports:
            for local, target in _bound_by(node):
                if target is None:
                    self._others.add(local)
                    self._tensorflow |= {local} if _is_tensorflow(node, local) else set()
                else:
                    self.aliases.setdefault(local, set()).add(target)
        for one in self.nodes:
            self._others.update(_assigned(one))

    def offset(self, line: int, column: int) -> int:
        """The place in characters of a line and a column as Python's parser counts them, in bytes."""
        start = self._lines.starts[line - 1]
        text = self._lines.line_text(line)
        return start + (column if text.isascii() else len(text.encode()[:column].decode("utf-8", "ignore")))

    def span(self, node: Placed) -> tuple[int, int]:
        """The offsets at which a node begins and ends, in characters."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self.offset(node.lineno, node.col_offset), self.offset(end_line, end_column)

    def is_certain(self, local: str) -> bool:
        """Whether a name means one thing wherever the source has it."""
        return local not in self._others and len(self.aliases.get(local, ())) == 1

    @property
    def tensorflow(self) -> str:
        """The name by which the source has TensorFlow as a whole; "" where it has none."""
        return min(self._tensorflow, default="")

    def is_bound(self, local: str) -> bool:
        """Whether the source gives a name any meaning."""
        return local in self._others or local in self.aliases

    def target(self, node: ast.expr) -> str | None:
        """The meaning of a chain of attributes in the keras package, by the last import of its first name; None for another."""
        root, parts = chain(node)
        found = self.aliases.get(root)
        return ".".join([sorted(found)[-1], *parts]).lstrip(".") if found else None

    def object_of(self, node: ast.expr) -> str | None:
        """The object of tf.keras that an expression names, without the package; None where it names none."""
        target = self.target(node)
        return objects().get(target) if target is not None else None

    def chains(self) -> Iterator[tuple[ast.Attribute, str, list[str]]]:
        """Whole chains of attributes that begin with a module of the keras package: the node, its first name, the others."""
        inner = {id(node.value) for node in self.nodes if isinstance(node, ast.Attribute)}
        for node in self.nodes:
            if isinstance(node, ast.Attribute) and id(node) not in inner:
                root, parts = chain(node)
                if any(target in modules() for target in self.aliases.get(root, ())):
                    yield node, root, parts


def native(module: str) -> str | None:
    """A module or name of the keras package without the package; None for another."""
    return module[len("keras.") :] if module.startswith("keras.") else "" if module == "keras" else None


def _bound_by(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str | None]]:
    """Names that an import binds, each with what it means in the keras package, or None."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            target = native(f"{node.module}.{alias.name}") if node.module and node.level == 0 else None
            yield alias.asname or alias.name, target
        elif alias.asname is not None:
            yield alias.asname, native(alias.name)
        else:
            root = alias.name.partition(".")[0]
            yield root, "" if root == "keras" else None


def _is_tensorflow(node: ast.Import | ast.ImportFrom, local: str) -> bool:
    """Whether a name that an import at the start of a line binds is TensorFlow as a whole."""
    names = [alias for alias in node.names if alias.name == "tensorflow" and (alias.asname or alias.name) == local]
    return isinstance(node, ast.Import) and node.col_offset == 0 and bool(names)


def _assigned(node: ast.AST) -> Iterator[str]:
    """Names that a node binds and that is no import."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)) and node.name:
        yield node.name
