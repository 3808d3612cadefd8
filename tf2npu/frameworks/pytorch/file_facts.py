"""What is found in a file of PyTorch without its syntax tree of LibCST: whether it trains, when it is run or only called."""

from __future__ import annotations

import ast

from tf2npu.frameworks.base import FoundFacts, ParsedFile

_WORKING = (ast.For, ast.While, ast.With, ast.If, ast.Try)
"""Statements of a module that do work when it is loaded, beside calls."""


def file_facts(file: ParsedFile) -> FoundFacts:
    """The facts of a file: one that calls `backward()` trains; where its module also does something itself, when it is run."""
    is_torch = any(level == 0 and module.partition(".")[0] == "torch" for level, module in file.imports)
    trains = is_torch and any(isinstance(call.func, ast.Attribute) and call.func.attr == "backward" for call in file.calls)
    return FoundFacts(trains=trains, runs=trains and any(map(_works, file.tree.body)))


def _works(statement: ast.stmt) -> bool:
    is_call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    return is_call or isinstance(statement, _WORKING)
