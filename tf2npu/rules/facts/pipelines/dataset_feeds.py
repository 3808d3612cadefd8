"""Feeds in the place of what an iterator gives: their number of rows may differ from that of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact


@fact
def fed_element(script: Script) -> str:
    """The first name of this file that gets what an iterator gives and is a key of a dictionary, as feeds have; else "".

    Of an attribute the files that import this one may have such a dictionary, too.
    """
    walked = script.walked
    given: set[Any] = set()
    for node, scope in walked.calls:
        if isinstance(node.func, cst.Attribute) and node.func.attr.value == "get_next":
            given.update(_key(script, target, scope) for target in _targets(script, node))
    for reference, scope in walked.references if given else ():
        if _key(script, reference, scope) not in given:
            continue
        holder = walked.parents.get(id(reference))
        if isinstance(holder, cst.DictElement) and holder.key is reference:
            return script.tree.source(reference)
        given.update(_key(script, target, scope) for target in _targets(script, reference))
    return min((key for key in given if isinstance(key, str) and _is_fed_elsewhere(script, key)), default="")


def _is_fed_elsewhere(script: Script, attribute: str) -> bool:
    name = attribute.rpartition(".")[2]
    return script.project.has_importer(script.path, lambda facts: name in facts.keys)


def _key(script: Script, node: cst.BaseExpression, scope: Scope) -> Any:
    """The key of a variable: a name with the scope that has it, an attribute by its text."""
    return (node.value, id(scope.lookup_scope(node.value))) if isinstance(node, cst.Name) else script.tree.source(node)


def _targets(script: Script, value: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """The variables that a statement gives this value to, or elements of it."""
    parents = script.walked.parents
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
