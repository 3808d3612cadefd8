"""Branches that only a TPU takes."""

from __future__ import annotations

import libcst as cst

from tf2npu.scanner.sites import Call


def is_for_tpu(call: Call) -> bool:
    """Whether a condition such as `if use_tpu:` stands before the call."""
    below: cst.CSTNode = call.node
    for ancestor in call.script.walked.ancestors(call.node):
        if isinstance(ancestor, (cst.If, cst.IfExp)) and below is ancestor.body:
            test = call.source(ancestor.test).lower()
            if "tpu" in test and not test.startswith("not "):
                return True
        below = ancestor
    return False
