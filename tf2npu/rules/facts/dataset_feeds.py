"""Whether something is fed in the place of what an iterator gives: other numbers of rows than a batch's may come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.sites import Call


def fed_element(call: Call) -> str:
    """The first name of this file that gets what an iterator gives and is a key of a dictionary, as feeds have; else "".

    Of an attribute the files that import this one may have such a dictionary, too.
    """
    memo = call.script.memo
    if "fed_element" not in memo:
        memo["fed_element"] = _fed_element(call)
    return memo["fed_element"]


def _fed_element(call: Call) -> str:
    walked = call.script.walked
    given: set[Any] = set()
    for node, scope in walked.calls:
        if isinstance(node.func, cst.Attribute) and node.func.attr.value == "get_next":
            given.update(_key(call, target, scope) for target in _targets(call, node))
    for reference, scope in walked.references if given else ():
        if _key(call, reference, scope) not in given:
            continue
        holder = walked.parents.get(id(reference))
        if isinstance(holder, cst.DictElement) and holder.key is reference:
            return call.source(reference)
        given.update(_key(call, target, scope) for target in _targets(call, reference))
    return min((key for key in given if isinstance(key, str) and _is_fed_elsewhere(call, key)), default="")


def _is_fed_elsewhere(call: Call, attribute: str) -> bool:
    name = attribute.rpartition(".")[2]
    return call.script.project.has_importer(call.script.path, lambda facts: name in facts.keys)


def _key(call: Call, node: cst.BaseExpression, scope: Scope) -> Any:
    """What tells a variable: a name within the scope that has it, an attribute by its text."""
    return (node.value, id(scope.lookup_scope(node.value))) if isinstance(node, cst.Name) else call.source(node)


def _targets(call: Call, value: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """The variables that a statement gives this value to, or elements of it."""
    parents = call.script.walked.parents
    holder = parents.get(id(value))
    while isinstance(holder, cst.Subscript) and holder.value is value:
        value, holder = holder, parents.get(id(holder))
    if isinstance(holder, cst.Assign) and holder.value is value:
        for target in holder.targets:
            yield from _unpacked(target.target)


def _unpacked(target: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _unpacked(element.value)
    elif isinstance(target, (cst.Name, cst.Attribute)):
        yield target
