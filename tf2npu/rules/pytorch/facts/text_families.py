"""The texts that stand beside a text: choices of one type or list, and comparisons of one value in a chain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from tf2npu.rules.facts.constant_values import literal_text
from tf2npu.scanner.script import Script

_BACKENDS = frozenset(("ccl", "fake", "gloo", "hccl", "mpi", "nccl", "threaded", "ucc", "undefined", "xccl"))
"""Backends of torch.distributed, and those that vendors add to it.  Source: torch.distributed.Backend of PyTorch 2.13."""


def is_among_own_names(script: Script, node: cst.CSTNode) -> bool:
    """Whether the name of a backend is one of a project's own list of names, which has more than backends of PyTorch."""
    return any(text not in _BACKENDS and ":" not in text for text in _beside(script, node))


def _beside(script: Script, node: cst.CSTNode) -> Iterator[str]:
    """The texts that are alternatives to a text."""
    for ancestor in script.walked.ancestors(node):
        if isinstance(ancestor, (cst.List, cst.Tuple, cst.Set)):
            yield from _members(ancestor)
        elif is_literal_type(ancestor):
            yield from _of_annotation(ancestor)
        elif isinstance(ancestor, cst.Comparison):
            yield from _compared(script, ancestor)
            return
        elif isinstance(ancestor, cst.Call):
            yield from (text for arg in ancestor.args if _is_choices(arg) for text in _members(arg.value))
            return
        elif isinstance(ancestor, (cst.Param, cst.AnnAssign)):
            yield from _of_annotation(ancestor.annotation)
            return
        elif isinstance(ancestor, (cst.BaseStatement, cst.BaseSmallStatement)):
            return


def is_literal_type(node: Any) -> bool:
    """Whether an expression is `Literal[...]` or `typing.Literal[...]`."""
    name = node.value if isinstance(node, cst.Subscript) else None
    return (isinstance(name, cst.Name) and name.value == "Literal") or (
        isinstance(name, cst.Attribute) and name.attr.value == "Literal"
    )


def _of_annotation(node: Any) -> Iterator[str]:
    """The texts of each `Literal[...]` of an annotation."""
    if node is None:
        return
    if is_literal_type(node):
        yield from _texts([part.slice.value for part in node.slice if isinstance(part.slice, cst.Index)])
        return
    for child in node.children:
        yield from _of_annotation(child)


def _compared(script: Script, comparison: cst.Comparison) -> Iterator[str]:
    """The texts that the conditions of a chain compare the same value with."""
    choice = next((one for one in script.walked.ancestors(comparison) if isinstance(one, (cst.If, cst.Else))), None)
    first: Any = choice if isinstance(choice, cst.If) and _holds(choice.test, comparison) else None
    while isinstance(above := script.walked.parents.get(id(first)), cst.If) and above.orelse is first:
        first = above
    value = script.tree.source(comparison.left)
    while isinstance(first, cst.If):
        test = first.test
        if isinstance(test, cst.Comparison) and script.tree.source(test.left) == value:
            for target in test.comparisons:
                yield from _members(target.comparator)
        first = first.orelse


def _holds(node: cst.CSTNode, wanted: cst.CSTNode) -> bool:
    """Whether a node is another one, or has it somewhere in it."""
    return node is wanted or any(_holds(child, wanted) for child in node.children)


def _is_choices(arg: cst.Arg) -> bool:
    return arg.keyword is not None and arg.keyword.value == "choices"


def _members(node: Any) -> Iterator[str]:
    """The texts of a collection that is written out, or a text itself."""
    elements = getattr(node, "elements", None)
    yield from _texts([node] if elements is None else [element.value for element in elements])


def _texts(nodes: list[Any]) -> Iterator[str]:
    for node in nodes:
        text = literal_text(node)
        if text is not None:
            yield text
