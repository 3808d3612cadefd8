"""Names of CUDA in Python source, found by Python's own parser."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import NamedTuple

_WORD = re.compile(r"cuda|nccl|cudnn", re.IGNORECASE)
_DEVICE = re.compile(r"(?:\w+:\w+,)*(?:cuda|nccl)(?::[^\s,]*)?(?:,\w+:\w+)*$")
"""A text that is a device or a backend, or the beginning of one: cuda, cuda:1, cpu:gloo,cuda:nccl."""
_VARIABLE = re.compile(r"CUDA_VISIBLE_DEVICES$|NCCL_\w+$")
_IMPORT = re.compile(
    r"^[ \t]*(?:import[ \t]+(?:[\w.]+[ \t]*(?:as[ \t]+\w+[ \t]*)?,[ \t]*)*torch|from[ \t]+torch)\b", re.MULTILINE
)
_PACKAGE = "torch"
_EVERYWHERE = ("torch.backends.cudnn", "torch.backends")
"""Modules that each PyTorch has; what a script sets of them is another name."""


class CudaName(NamedTuple):
    """A name of CUDA.  line: 1-based.  text: as it stands there.  kind: attribute, method, import, device or variable."""

    line: int
    text: str
    kind: str


def imports_torch(source: str) -> bool:
    """Whether a text of Python imports torch, by its lines."""
    return _IMPORT.search(source) is not None


def cuda_names(source: str) -> list[CudaName] | None:
    """The names of CUDA in a source, without comments and documentation; None for a text that Python does not parse.

    A user's own name, as `args.cuda` or `use_cuda`, and words for people, as a help text, are none.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    return sorted(set(_Search(tree).found()))


class _Search:
    def __init__(self, tree: ast.Module) -> None:
        self._nodes = list(ast.walk(tree))
        self._roots = {"torch"}
        self._documentation = {id(node.value) for node in self._nodes if isinstance(node, ast.Expr)}
        self._called = {id(node.func) for node in self._nodes if isinstance(node, ast.Call)}
        self._inner = {id(node.value) for node in self._nodes if isinstance(node, ast.Attribute)}
        for node in self._nodes:
            self._roots |= set(_names_of_torch(node))

    def found(self) -> Iterator[CudaName]:
        for node in self._nodes:
            if isinstance(node, ast.Attribute):
                yield from self._attribute(node)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                yield from _imported(node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in self._documentation:
                yield from _text(node)

    def _attribute(self, node: ast.Attribute) -> Iterator[CudaName]:
        text = ast.unparse(node)
        if _root(node) in self._roots and _WORD.search(text):
            if id(node) not in self._inner and text not in _EVERYWHERE:
                yield CudaName(node.end_lineno or node.lineno, text, "attribute")
        elif node.attr == "is_cuda" or (node.attr == "cuda" and id(node) in self._called):
            yield CudaName(node.end_lineno or node.lineno, text[-60:], "method")


def _root(node: ast.expr) -> str:
    """The name that a dotted name begins with, or no text for attributes of what is no name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _names_of_torch(node: ast.AST) -> Iterator[str]:
    """Names that imports of torch bind."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.partition(".")[0] == "torch":
                yield alias.asname or "torch"
    elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "torch" and not node.level:
        yield from (alias.asname or alias.name for alias in node.names)


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[CudaName]:
    module = f"{node.module or ''}." if isinstance(node, ast.ImportFrom) else ""
    for alias in node.names:
        name = f"{module}{alias.name}"
        if (
            name not in _EVERYWHERE
            and name.partition(".")[0] == _PACKAGE
            and _WORD.search(name)
            and not getattr(node, "level", 0)
        ):
            yield CudaName(node.lineno, name, "import")


def _text(node: ast.Constant) -> Iterator[CudaName]:
    if _DEVICE.match(node.value):
        yield CudaName(node.lineno, node.value, "device")
    elif _VARIABLE.match(node.value):
        yield CudaName(node.lineno, node.value, "variable")
