"""Names of CUDA that a text gives to a function which looks them up: `getattr(torch, "cuda")`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.facts.constant_values import literal_text
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script

_LOOKS_UP = frozenset(f"builtins.{name}" for name in ("getattr", "hasattr", "setattr", "delattr"))


def is_looked_up(script: Script, node: cst.CSTNode, scope: Scope) -> bool:
    """Whether a text is the name that getattr and the like look up."""
    arg: Any = script.walked.parents.get(id(node))
    call: Any = script.walked.parents.get(id(arg))
    is_look_up = isinstance(call, cst.Call) and script.name_of(call.func, scope) in _LOOKS_UP
    return is_look_up and len(call.args) > 1 and call.args[1] is arg


def asked_of_torch(script: Script, node: cst.CSTNode, scope: Scope) -> str:
    """The dotted name that getattr and the like are asked for by a text, where it is one of torch; empty for any other text."""
    if not is_looked_up(script, node, scope):
        return ""
    call: Any = script.walked.parents.get(id(script.walked.parents.get(id(node))))
    owner = script.name_of(call.args[0].value, scope) or ""
    text = literal_text(node)
    if text is None or "()" in owner or not f"{owner}.".startswith("torch."):
        return ""
    return f"{owner}.{text}"
