"""Code that a process runs at most once: at module level, or in a function that one place of such code calls."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.tree_walk import dotted_name

_BLOCKS = (cst.IndentedBlock, cst.SimpleStatementLine, cst.SimpleStatementSuite, cst.If, cst.Else, cst.With, cst.WithItem)
_STATEMENTS = (cst.Assign, cst.Expr, cst.Call, cst.Arg, cst.Return)
_RUNS_MAIN = re.compile(r"\bapp\.run\(")
_DEEPEST = 5
"""Calls that are followed from the module down: scripts have main, train and seldom a third."""


def runs_once(script: Script, node: cst.CSTNode, scope: Scope, depth: int = 0) -> bool:
    """Whether a statement is run at most once; False where that is not seen, as in a loop, a try or a class."""
    for ancestor in script.walked.ancestors(node):
        if isinstance(ancestor, cst.Module):
            return scope.function is None
        if isinstance(ancestor, cst.FunctionDef):
            return depth < _DEEPEST and _is_called_once(script, ancestor, depth)
        if not isinstance(ancestor, (*_BLOCKS, *_STATEMENTS)):
            return False
    return False


def _is_called_once(script: Script, function: cst.FunctionDef, depth: int) -> bool:
    """Whether the only use of a function of the module is one call that is run once."""
    name = function.name.value
    bindings = script.module_scope.names.get(name, [])
    is_plain = function.asynchronous is None and not function.decorators and not _yields(script, function)
    if not is_plain or [b.node for b in bindings] != [function] or script.path in script.project.imported:
        return False
    uses = script.references_to(name)
    if not uses:
        return name == "main" and script.is_entry and _RUNS_MAIN.search(script.text) is not None
    user: Any = script.walked.parents.get(id(uses[0][0]))
    if isinstance(user, cst.Arg):  # tf.app.run(main)
        user = script.walked.parents.get(id(user))
        is_call = isinstance(user, cst.Call) and dotted_name(user.func).endswith("app.run")
    else:
        is_call = isinstance(user, cst.Call) and user.func is uses[0][0]
    return len(uses) == 1 and is_call and runs_once(script, user, uses[0][1], depth + 1)


def _yields(script: Script, function: cst.FunctionDef) -> bool:
    return re.search(r"\byield\b", script.tree.source(function)) is not None
