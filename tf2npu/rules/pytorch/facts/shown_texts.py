"""Values that people read, and that no function of PyTorch takes."""

from __future__ import annotations

import re

import libcst as cst

from tf2npu.scanner.script import Script

_SHOWING = re.compile(r"print$|(?:\w+\.)*(?:log|logging|logger|LOG|console|tqdm|warnings|sys\.std(?:out|err))\.\w+$")
"""Functions that show their arguments to people."""


_FORMATTING = frozenset(("format", "join", "str", "repr"))


def is_shown(script: Script, node: cst.CSTNode) -> bool:
    """Whether a value is shown to people, or is no value at all."""
    if isinstance(script.walked.parents.get(id(node)), cst.Expr):
        return True
    inner = node
    for ancestor in script.walked.ancestors(node):
        if isinstance(ancestor, cst.Raise) or (isinstance(ancestor, cst.Assert) and ancestor.msg is inner):
            return True
        if isinstance(ancestor, cst.Arg) and ancestor.keyword is not None and ancestor.keyword.value in ("help", "description"):
            return True
        if isinstance(ancestor, cst.Call) and _SHOWING.match(script.tree.source(ancestor.func)):
            return True
        inner = ancestor
    return False


def is_only_shown(script: Script, node: cst.CSTNode) -> bool:
    """Whether a value is shown as it is: not one that is compared, and not one that another function takes."""
    return is_shown(script, node) and not any(_takes(script, ancestor) for ancestor in script.walked.ancestors(node))


def _takes(script: Script, ancestor: cst.CSTNode) -> bool:
    """Whether something does more with a value within it than to show it."""
    if not isinstance(ancestor, cst.Call):
        return isinstance(ancestor, cst.Comparison)
    name = script.tree.source(ancestor.func)
    is_error = isinstance(script.walked.parents.get(id(ancestor)), cst.Raise)
    return not (is_error or _SHOWING.match(name) or name.rpartition(".")[2] in _FORMATTING or "add_argument" in name)
