"""Functions that TensorFlow 2 traces into graphs, and those that run eagerly."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.facts.pipelines.input_pipeline import function_scopes, pipeline_functions
from tf2npu.rules.facts.training.loops import called_functions
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact

FUNCTION = ("tensorflow.function", "tensorflow.compat.v2.function")
_STEPS = frozenset({"train_step", "test_step", "predict_step", "call", "get_config", "build", "compute_loss"})
"""Methods of a Keras model or layer that `fit` traces."""


@fact
def graph_functions(script: Script) -> dict[int, Scope]:
    """Scopes of the functions that tf.function is put on: as a decorator, or by a call that gets them."""
    found: dict[int, Scope] = {}
    for node, outer, own in script.walked.functions:
        if any(_is_function(script, decorator.decorator, outer) for decorator in node.decorators):
            found[id(own)] = own
    for call, scope in script.walked.calls:
        if script.name_of(call.func, scope) in FUNCTION and call.args:
            found.update((id(own), own) for own in function_scopes(script, call.args[0].value, scope))
    return found


@fact
def traced_functions(script: Script) -> set[int]:
    """Ids of the scopes of functions that run in a graph: those of tf.function, of Keras, of pipelines, and what these call."""
    found = {*graph_functions(script), *pipeline_functions(script)}
    found |= {id(own) for node, _, own in script.walked.functions if node.name.value in _STEPS and _is_of_subclass(own)}
    size = -1
    while size != len(found):
        size = len(found)
        for call, scope in script.walked.calls:
            if any(id(own) in found for own in scopes_around(scope)):
                found.update(id(own) for own in called_functions(script, call, scope))
    return found


def _is_of_subclass(method: Scope) -> bool:
    """Whether a method belongs to a class that may be one of Keras."""
    owner: Any = method.enclosing_class.node if method.enclosing_class is not None else None
    return owner is not None and any(getattr(base.value, "value", "") != "object" for base in owner.bases)


def scopes_around(scope: Scope | None) -> list[Scope]:
    """The scope and those around it, but the module's."""
    found: list[Scope] = []
    while scope is not None and scope.parent is not None:
        found.append(scope)
        scope = scope.parent
    return found


def is_traced(script: Script, scope: Scope) -> bool:
    """Whether a place runs in a graph, as far as the file tells."""
    traced = traced_functions(script)
    return any(id(own) in traced for own in scopes_around(scope))


def _is_function(script: Script, decorator: Any, scope: Scope) -> bool:
    made = decorator.func if isinstance(decorator, cst.Call) else decorator
    return script.name_of(made, scope) in FUNCTION
