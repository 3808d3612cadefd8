"""Products of a loss and a loss scale, and the places where gradients are divided.

A loss is multiplied for many reasons: weights of terms, sums out of means, averages over towers. What counts is a factor
named as a loss scale, a power of two from 128 on (gradients of 16 bits need that much, and no other factor is written like
it), and a factor by which gradients are divided again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import libcst as cst

from tf2npu.rules.facts.constant_values import bound_value
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call
from tf2npu.scanner.tree_walk import first_key

_SCALE = re.compile(r"(^|_)(loss|cost|grads?|gradients?|fp16|amp)_?scal(e|er|ing)(_|$)", re.IGNORECASE)
_PLAIN_SCALE = re.compile(r"^_*scal(e|er|ing)(_value)?$", re.IGNORECASE)
_COUNT = re.compile(r"batch|size|num|count|steps|towers?|gpus?|workers?|replicas?|^n_|_n$|^n$|len|rate|^lr$", re.IGNORECASE)
_GRADIENT = re.compile(r"grad|^d?gs?$|^gv$|^g_|_g$", re.IGNORECASE)
_MULTIPLY = frozenset({"tensorflow.multiply", "tensorflow.math.multiply", "tensorflow.scalar_mul", "tensorflow.math.scalar_mul"})
_DIVIDE = frozenset({"tensorflow.divide", "tensorflow.math.divide", "tensorflow.div", "tensorflow.realdiv", "tensorflow.truediv",
                     "tensorflow.math.truediv", "tensorflow.math.realdiv"})  # fmt: skip
_AROUND_A_LOSS = frozenset({"tensorflow.reduce_mean", "tensorflow.reduce_sum", "tensorflow.identity", "tensorflow.cast",
                            "tensorflow.math.reduce_mean", "tensorflow.math.reduce_sum"})  # fmt: skip
_AROUND_A_SCALE = frozenset({"cast", "constant", "convert_to_tensor", "float", "int", "to_float"})
_LEAST = 128
"""The least factor that counts as a loss scale. Scales are powers of two from here on; weights of losses are not."""
_FOLLOWED = 4
"""The most names that are followed one after the other to a factor's number."""


@dataclass(frozen=True)
class Division:
    """Gradients divided by something.  factor: the source text of `divisor`."""

    node: cst.CSTNode
    divisor: Any
    scope: Scope
    factor: str
    line: int


@dataclass(frozen=True)
class _Product:
    """Two factors.  name: the name that the product is bound to, or "" where it stands in the call itself."""

    factors: tuple[Any, Any]
    scope: Scope
    name: str = ""


def scale_of(call: Call, loss: Any) -> str | None:
    """Source text of the scale with which a loss is multiplied, here or where its name is bound; None where it is not."""
    divided = {d.factor for d in divisions_of_gradients(call.script)}
    for product in _products(call, loss, call.scope):
        is_number_enough = "scal" in product.name.lower() if product.name else not call.name.endswith("minimize")
        for side in product.factors:
            factor = _without_cast(side)
            text = call.source(factor)
            if _is_off(factor, product.scope):
                continue
            is_undone = text in divided and not _COUNT.search(_last_name(factor))
            if is_undone or _is_scale(factor, product.scope) or (is_number_enough and _is_power_of_two(_number(factor))):
                return text
    return None


def is_by_loss_scale(division: Division) -> bool:
    """Whether a divisor's name says that it is a loss scale; `scale` alone can be anything."""
    factor = _without_cast(division.divisor)
    return _SCALE.search(_last_name(factor)) is not None and not _is_off(factor, division.scope)


@fact
def divisions_of_gradients(script: Script) -> list[Division]:
    """The divisions of gradients, and multiplications with a reciprocal, in source order."""
    refs = script.walked.references if "grad" in script.text else []
    found = [_division(script, node, scope) for node, scope in refs if _GRADIENT.search(_last_name(node))]
    return [division for division in found if division is not None]


def _division(script: Script, gradient: Any, scope: Scope) -> Division | None:
    node, parent = _as_used(script, gradient)
    divisor: Any = None
    if isinstance(parent, cst.BinaryOperation):
        other = parent.right if parent.left is node else parent.left
        if isinstance(parent.operator, cst.Multiply):
            divisor = _reciprocal_of(other)
        elif isinstance(parent.operator, cst.Divide) and parent.left is node:
            divisor = other
    elif isinstance(parent, cst.Call) and len(parent.args) >= 2:
        name = script.name_of(parent.func, scope)
        if name in _DIVIDE and parent.args[0].value is node:
            divisor = parent.args[1].value
        elif name in _MULTIPLY:
            divisor = _reciprocal_of(parent.args[parent.args[0].value is node].value)
    if divisor is None:
        return None
    line = script.span(*script.tree.span(parent)).line
    return Division(parent, divisor, scope, script.tree.source(_without_cast(divisor)), line)


def _as_used(script: Script, node: Any) -> tuple[Any, Any]:
    """An element of what a name holds, or a cast of it, and the operation or call in which it is used."""
    parents = script.walked.parents
    parent: Any = parents.get(id(node))
    while True:
        if isinstance(parent, cst.Subscript) and parent.value is node:
            node = parent
        elif isinstance(parent, cst.Arg) and _is_cast(parents.get(id(parent))):
            node = parents[id(parent)]
        else:
            return node, parents.get(id(parent)) if isinstance(parent, cst.Arg) else parent
        parent = parents.get(id(node))


def _reciprocal_of(node: Any) -> Any:
    """`s` of `1.0 / s`, or None."""
    is_division = isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Divide)
    return node.right if is_division and _number(node.left) == 1 else None


def _products(call: Call, node: Any, scope: Scope, name: str = "", depth: int = 0) -> Iterator[_Product]:
    """Products that an expression is, or that the names in it are bound to before the call."""
    if isinstance(node, cst.UnaryOperation):
        yield from _products(call, node.expression, scope, name, depth)
    elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
        yield _Product((node.left, node.right), scope, name)
    elif isinstance(node, (cst.List, cst.Tuple)) and len(node.elements) == 1:
        yield from _products(call, node.elements[0].value, scope, name, depth)
    elif isinstance(node, cst.Call) and node.args:
        function = call.script.name_of(node.func, scope)
        if function in _MULTIPLY and len(node.args) == 2:
            yield _Product((node.args[0].value, node.args[1].value), scope, name)
        elif function in _AROUND_A_LOSS:
            yield from _products(call, node.args[0].value, scope, name, depth)
    elif isinstance(node, (cst.Name, cst.Attribute)) and depth < _FOLLOWED:
        for value, where in _bound(call, node, scope):
            if isinstance(value, cst.AugAssign):
                yield _Product((value.target, value.value), where, _last_name(node))
            else:
                yield from _products(call, value, where, _last_name(node), depth + 1)


def _bound(call: Call, node: Any, scope: Scope) -> Iterator[tuple[Any, Scope]]:
    """Values and multiplications in place that a name of this function or module, or an attribute of self, gets before a call."""
    walked, tree = call.script.walked, call.script.tree
    owner: Scope | None = None
    if isinstance(node, cst.Name):
        owner = scope.lookup_scope(node.value)
        bindings = owner.names[node.value] if owner is not None else []
    else:
        enclosing = scope.enclosing_class
        bindings = enclosing.attributes.get(node.attr.value, []) if enclosing is not None and _is_of_self(node) else []
    end = tree.span(call.node)[0]
    for binding in bindings:
        if binding.kind == "value" and binding.scope is not None and tree.span(binding.node)[1] <= end:
            yield binding.node, binding.scope
    text = call.source(node)
    for aug, where in walked.aug_assigns if bindings else []:
        is_same = owner is None or where.lookup_scope(text) is owner
        if (
            is_same
            and isinstance(aug.operator, cst.MultiplyAssign)
            and call.source(aug.target) == text
            and tree.span(aug)[1] <= end
        ):
            yield aug, where


def _is_of_self(node: cst.Attribute) -> bool:
    return isinstance(node.value, cst.Name) and node.value.value in ("self", "cls")


def _is_scale(node: Any, scope: Scope) -> bool:
    """Whether a factor is named as a scale, and is not seen to be a weight or an average."""
    name = _last_name(node)
    if not (_SCALE.search(name) or _PLAIN_SCALE.search(name)):
        return False
    value = bound_value(node, scope)
    return not (isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Divide))


def _is_off(node: Any, scope: Scope) -> bool:
    """Whether a factor is known to be 1 or less: a scale that is switched off, or a weight."""
    number = _number(node if isinstance(node, (cst.Integer, cst.Float)) else bound_value(node, scope))
    return number is not None and number < 2


def _without_cast(node: Any) -> Any:
    while _is_cast(node):
        node = node.args[0].value
    return node


def _is_cast(node: Any) -> bool:
    return isinstance(node, cst.Call) and bool(node.args) and _last_name(node.func) in _AROUND_A_SCALE


def _number(node: Any) -> float | None:
    """A number that is written out, also as a power; or None."""
    if isinstance(node, (cst.Integer, cst.Float)):
        return float(node.evaluated_value)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Power):
        base, exponent = _number(node.left), _number(node.right)
        is_small = base is not None and exponent is not None and 0 < base <= 16 and abs(exponent) <= 64
        return base**exponent if is_small and base is not None and exponent is not None else None
    return None


def _is_power_of_two(number: float | None) -> bool:
    return number is not None and number >= _LEAST and math.frexp(number)[0] == 0.5


def _last_name(node: Any) -> str:
    """The last name of a chain, of what is called, or the key that is looked up."""
    kind = type(node)
    if kind is cst.Name:
        return str(node.value)
    if kind is cst.Attribute:
        return str(node.attr.value)
    if kind is cst.Call:
        return _last_name(node.func)
    if isinstance(node, cst.Subscript):
        key = first_key(node)
        return str(key.evaluated_value) if isinstance(key, cst.SimpleString) else _last_name(node.value)
    return ""
