"""Code that a script runs only where a library is there, or where somebody asks for it."""

from __future__ import annotations

import libcst as cst

from tf2npu.rules.facts.start.entry_block import is_guard
from tf2npu.scanner.script import Script


def is_optional(script: Script, node: cst.CSTNode) -> bool:
    """Whether a node stands in a `try` with handlers, or below a condition that is not that of the entry script."""
    below = node
    for ancestor in script.walked.ancestors(node):
        if isinstance(ancestor, cst.Try) and ancestor.handlers:
            return True
        if isinstance(ancestor, cst.If) and below is not ancestor.test and not is_guard(ancestor.test):
            return True
        below = ancestor
    return False
