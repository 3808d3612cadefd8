"""Keras models whose variables exist at a certain place, before they are given a batch."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script

_SHAPED = frozenset({"input_shape", "batch_input_shape", "input_dim"})
_INPUTS = re.compile(r"tensorflow\.keras\.(?:layers\.(?:InputLayer|Input)|Input)$")
_WHOLE = re.compile(r"tensorflow\.keras\.(?:applications\.(?:\w+\.)?[A-Z]\w+|models\.load_model)$")


def built_at(script: Script, node: Any, scope: Scope) -> tuple[cst.CSTNode, str] | None:
    """The statement after which a model's variables exist, and its name; None where that is not seen."""
    if not isinstance(node, cst.Name):
        return None
    bindings = scope.lookup(node.value)
    if len(bindings) != 1 or bindings[0].kind != "value":
        return None
    line = _line_of(script, bindings[0].node)
    if line is None:
        return None
    if _is_built(script, bindings[0].node, bindings[0].scope or scope):
        return line, node.value
    return _built_later(script, node.value, line)


def _built_later(script: Script, name: str, line: cst.CSTNode) -> tuple[cst.CSTNode, str] | None:
    """The call of `build` in the block in which the model is made."""
    block: Any = script.walked.parents.get(id(line))
    for statement in getattr(block, "body", ()):
        small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
        call = small.value if isinstance(small, cst.Expr) else None
        if isinstance(call, cst.Call) and script.tree.source(call.func) == f"{name}.build":
            return statement, name
    return None


def _is_built(script: Script, node: Any, scope: Scope, depth: int = 0) -> bool:
    """Whether an expression gives a model that has its variables."""
    if isinstance(node, cst.Name) and depth < 5:
        bindings = scope.lookup(node.value)
        if len(bindings) != 1 or bindings[0].kind != "value":
            return False
        made = bindings[0].node
        return _is_built(script, made, scope, depth + 1) or _is_added_to(script, made, node.value, scope)
    if not isinstance(node, cst.Call):
        return False
    name = script.name_of(node.func, scope) or ""
    if name == "tensorflow.keras.Model":
        return len(node.args) >= 2
    if name == "tensorflow.keras.Sequential":
        return _begins_with_shape(script, node, scope)
    return _WHOLE.match(name) is not None or _is_built_by_function(script, node, scope, depth)


def _is_added_to(script: Script, made: Any, name: str, scope: Scope) -> bool:
    """Whether the first layer that an empty Sequential model gets has a shape."""
    is_empty = isinstance(made, cst.Call) and not made.args
    if not is_empty or script.name_of(made.func, scope) != "tensorflow.keras.Sequential":
        return False
    added = [(call, where) for call, where in script.walked.calls if script.tree.source(call.func) == f"{name}.add"]
    own = [(call, where) for call, where in added if where.lookup_scope(name) is scope.lookup_scope(name) and call.args]
    return bool(own) and _has_shape(script, own[0][0].args[0].value, own[0][1])


def _begins_with_shape(script: Script, node: cst.Call, scope: Scope) -> bool:
    layers: Any = node.args[0].value if node.args else None
    first: Any = layers.elements[0].value if isinstance(layers, (cst.List, cst.Tuple)) and layers.elements else None
    return _has_shape(script, first, scope)


def _has_shape(script: Script, first: Any, scope: Scope) -> bool:
    """Whether a layer knows what it is given."""
    if not isinstance(first, cst.Call):
        return False
    has_shape = any(arg.keyword is not None and arg.keyword.value in _SHAPED for arg in first.args)
    return has_shape or _INPUTS.match(script.name_of(first.func, scope) or "") is not None


def _is_built_by_function(script: Script, node: cst.Call, scope: Scope, depth: int) -> bool:
    """Whether a function of the file gives such a model, by each of its results."""
    bindings = scope.lookup(node.func.value) if isinstance(node.func, cst.Name) and depth < 5 else []
    if len(bindings) != 1 or bindings[0].kind != "function":
        return False
    own = script.walked.scope_of[id(bindings[0].node)]
    return bool(own.returns) and all(_is_built(script, value, inner, depth + 1) for value, inner in own.returns)


def _line_of(script: Script, node: cst.CSTNode) -> cst.CSTNode | None:
    """The line of a statement that is alone on it."""
    found = next((one for one in script.walked.ancestors(node) if isinstance(one, cst.SimpleStatementLine)), None)
    return found if found is not None and len(found.body) == 1 else None
