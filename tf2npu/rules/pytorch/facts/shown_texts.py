"""Values that people read, and that no function of PyTorch takes."""

from __future__ import annotations

import re

import libcst as cst

from tf2npu.scanner.script import Script

_SHOWING = re.compile(r"print$|(?:\w+\.)*(?:log|logging|logger|LOG|console|tqdm|warnings|sys\.std(?:out|err))\.\w+$")
"""Functions that show their arguments to people."""


def is_shown(script: Script, node: cst.CSTNode) -> bool:
    """Whether a value is shown to people, or is no value at all."""
    if isinstance(script.walked.parents.get(id(node)), cst.Expr):
        return True
    for ancestor in script.walked.ancestors(node):
        if isinstance(ancestor, (cst.Raise, cst.Assert)):
            return True
        if isinstance(ancestor, cst.Arg) and ancestor.keyword is not None and ancestor.keyword.value in ("help", "description"):
            return True
        if isinstance(ancestor, cst.Call) and _SHOWING.match(script.tree.source(ancestor.func)):
            return True
    return False
