"""The definition of a name that reaches a place: the same block tells it, although the name is bound elsewhere as well."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.scanner.scopes import Binding, Scope
from tf2npu.scanner.script import Script


def last_given(script: Script, use: cst.Name, scope: Scope) -> Binding | None:
    """The assignment whose value a name has where it is used, or None where branches or loops leave several.

    It stands above the use, in a block around it, and nothing between the two binds the name again.
    """
    bindings = scope.lookup(use.value)
    if scope.lookup_scope(use.value) is not scope or any(b.kind != "value" or b.scope is not scope for b in bindings):
        return None
    position = script.tree.span(use)[0]
    places = sorted(((script.tree.span(b.node)[0], n) for n, b in enumerate(bindings)))
    above = [bindings[n] for place, n in places if place < position]
    if not above or not _is_in_block_around(script, above[-1].node, use):
        return None
    inside = {id(a) for a in script.walked.ancestors(above[-1].node)}
    loops = [a for a in script.walked.ancestors(use) if isinstance(a, (cst.For, cst.While)) and id(a) not in inside]
    below = [bindings[n].node for place, n in places if place > position]
    comes_back = any(loop is a for node in below for a in script.walked.ancestors(node) for loop in loops)
    return None if comes_back else above[-1]


def _is_in_block_around(script: Script, value: Any, use: cst.Name) -> bool:
    """Whether a value is assigned by a statement of a block that the use lies in."""
    parents = script.walked.parents
    assignment: Any = parents.get(id(value))
    line: Any = parents.get(id(assignment))
    block = parents.get(id(line))
    if not isinstance(assignment, (cst.Assign, cst.AnnAssign)) or not isinstance(line, cst.SimpleStatementLine):
        return False
    return any(a is block for a in script.walked.ancestors(use))
