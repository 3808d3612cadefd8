"""Functions that apply gradients, and the loops over datasets in which they are called: training as TensorFlow 2 writes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from tf2npu.rules.facts.pipelines.input_pipeline import function_scopes
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact

_APPLIES = frozenset({"apply_gradients", "minimize", "train_on_batch"})
_KEEPING = frozenset({"prefetch", "with_options", "cache", "shuffle", "repeat", "map"})
"""Methods of a dataset that give the same batches."""
_AROUND = frozenset({"enumerate", "tqdm", "trange", "iter"})
TRAIN, OTHER = "train", "other"
Variable = tuple[int, str]
"""A variable by the id of the scope that has it, and its name."""


@fact
def training_functions(script: Script) -> set[int]:
    """Ids of the scopes of functions that apply gradients, themselves or through functions of the file."""
    found = {id(own) for call, scope in script.walked.calls if _last(call) in _APPLIES for own in _around(scope)}
    size = -1
    while size != len(found):
        size = len(found)
        for call, scope in script.walked.calls:
            if not found.isdisjoint(id(called) for called in called_functions(script, call, scope)):
                found.update(id(own) for own in _around(scope))
    return found


def called_functions(script: Script, call: cst.Call, scope: Scope) -> list[Scope]:
    """Functions of the file that a call runs: the one that it calls, or the one that a strategy runs for it."""
    func: Any = call.func
    called = function_scopes(script, func, scope)
    if not called and _last(call) in ("run", "experimental_run_v2") and call.args:
        return function_scopes(script, call.args[0].value, scope)
    return called


def trains(script: Script, call: cst.Call, scope: Scope) -> bool:
    """Whether a call applies gradients, itself or through functions of the file."""
    if _last(call) in _APPLIES:
        return True
    functions = training_functions(script)
    return any(id(called) in functions for called in called_functions(script, call, scope))


@fact
def roles_in_loops(script: Script) -> dict[Variable, set[str]]:
    """The roles of variables that loops go over, here or in a function that gets them."""
    loops: dict[int, tuple[cst.For, Scope]] = {}
    training: set[int] = set()
    for call, scope in script.walked.calls:
        around = [one for one in script.walked.ancestors(call) if isinstance(one, cst.For)]
        loops.update((id(one), (one, scope)) for one in around if id(one) not in loops)
        if around and trains(script, call, scope):
            training.update(id(one) for one in around)
    found: dict[Variable, set[str]] = {}
    for loop, scope in loops.values():
        name = looped(loop.iter)
        if name:
            key = id(scope.lookup_scope(name)), name
            found.setdefault(key, set()).add(TRAIN if id(loop) in training else OTHER)
    _hand_on(script, found)
    return found


def _hand_on(script: Script, found: dict[Variable, set[str]]) -> None:
    """Give the roles of parameters to what calls hand over for them."""
    for call, scope in script.walked.calls:
        for called in function_scopes(script, call.func, scope):
            for parameter, name in _handed(call, called):
                roles = found.get((id(called), parameter))
                if roles:
                    found.setdefault((id(scope.lookup_scope(name)), name), set()).update(roles)


def _handed(call: cst.Call, called: Scope) -> Iterator[tuple[str, str]]:
    """Parameters of a function, and the names that a call gives them."""
    yield from ((parameter, looped(value)) for parameter, value in arguments_of(call, called) if looped(value))


def arguments_of(call: cst.Call, called: Scope) -> Iterator[tuple[str, cst.BaseExpression]]:
    """Parameters of a function, and what a call gives them."""
    node: Any = called.node
    if not isinstance(node, cst.FunctionDef):
        return
    parameters = [one.name.value for one in node.params.params]
    if isinstance(call.func, cst.Attribute):
        parameters = parameters[1:]  # self
    for number, arg in enumerate(call.args):
        parameter = arg.keyword.value if arg.keyword else parameters[number] if number < len(parameters) else ""
        if parameter and not arg.star:
            yield parameter, arg.value


def looped(node: Any) -> str:
    """The name of the variable whose batches an iterable gives; empty where it gives part of them or is something else."""
    while isinstance(node, cst.Call):
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in _KEEPING:
            node = node.func.value
        elif _last(node) in _AROUND and node.args:
            node = node.args[0].value
        else:
            return ""
    return node.value if isinstance(node, cst.Name) else ""


def _around(scope: Scope) -> Iterator[Scope]:
    """The functions around a place, the innermost first."""
    own: Scope | None = scope.function
    while own is not None:
        yield own
        own = own.parent.function if own.parent is not None else None


def _last(call: cst.Call) -> str:
    func: Any = call.func
    return func.attr.value if isinstance(func, cst.Attribute) else getattr(func, "value", "")
