"""The loops of a file that train: each of their turns computes gradients."""

from __future__ import annotations

import libcst as cst

from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact

_FUNCTIONS = (cst.FunctionDef, cst.Lambda, cst.ClassDef)


@fact
def training_loops(script: Script) -> dict[int, cst.For | cst.While]:
    """The innermost loops around calls of `backward`, by their ids."""
    calls = (
        node for node, _ in script.walked.calls if isinstance(node.func, cst.Attribute) and node.func.attr.value == "backward"
    )
    found = (loop_around(script, call) for call in calls)
    return {id(loop): loop for loop in found if loop is not None}


def loop_around(script: Script, node: cst.CSTNode) -> cst.For | cst.While | None:
    """The innermost loop around a node, in the same function."""
    for ancestor in script.walked.ancestors(node):
        if isinstance(ancestor, (cst.For, cst.While)):
            return ancestor
        if isinstance(ancestor, _FUNCTIONS):
            return None
    return None


def runs_in_each_step(script: Script, node: cst.CSTNode) -> bool:
    """Whether a training loop runs a node in each of its turns; what is below a condition on the number of the turn is not."""
    for ancestor in script.walked.ancestors(node):
        if id(ancestor) in training_loops(script):
            return True
        if isinstance(ancestor, _FUNCTIONS) or (isinstance(ancestor, cst.If) and "%" in script.tree.source(ancestor.test)):
            return False
    return False
