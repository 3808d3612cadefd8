"""Facts of a file of PyTorch without its syntax tree of LibCST: whether it trains, and names of CUDA that are its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tf2npu.frameworks.base import FoundFacts, ParsedFile

OWN_METHOD, OWN_ATTRIBUTE = "pytorch: a class has a method cuda", "pytorch: a class or an option has is_cuda"
"""Flags of a file: with one of them, a name by itself does not tell that an object is PyTorch's."""
_METHOD, _ATTRIBUTE = "cuda", "is_cuda"
_WORKING = (ast.For, ast.While, ast.With, ast.If, ast.Try)
"""Statements of a module that do work when it is loaded, beside calls."""


def file_facts(file: ParsedFile) -> FoundFacts:
    """The facts of a file: one that calls `backward()` trains; where its module also does something itself, when it is run."""
    is_torch = any(level == 0 and module.partition(".")[0] == "torch" for level, module in file.imports)
    trains = is_torch and any(isinstance(call.func, ast.Attribute) and call.func.attr == "backward" for call in file.calls)
    flags = frozenset(_flags(file)) if _METHOD in file.text else frozenset[str]()
    return FoundFacts(flags, trains=trains, runs=trains and any(map(_works, file.tree.body)))


def _works(statement: ast.stmt) -> bool:
    is_call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    return is_call or isinstance(statement, _WORKING)


def _flags(file: ParsedFile) -> Iterator[str]:
    names = {name for node in file.nodes if isinstance(node, ast.ClassDef) for name in _members(node)}
    if _METHOD in names:
        yield OWN_METHOD
    if _ATTRIBUTE in names or any(map(_sets_attribute, file.nodes)):
        yield OWN_ATTRIBUTE


def _members(node: ast.ClassDef) -> Iterator[str]:
    """Methods of a class, and is_cuda as a field of it."""
    for part in node.body:
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield part.name
        elif isinstance(part, (ast.Assign, ast.AnnAssign)):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name) and target.id == _ATTRIBUTE)


def _sets_attribute(node: ast.AST) -> bool:
    """Whether something writes is_cuda of an object, or names an option of a command line so."""
    if isinstance(node, ast.Attribute):
        return node.attr == _ATTRIBUTE and isinstance(node.ctx, ast.Store)
    text = node.value if isinstance(node, ast.Constant) else None
    return isinstance(text, str) and text.lstrip("-").replace("-", "_") == _ATTRIBUTE
