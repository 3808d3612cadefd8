"""Variables of the environment that a script sets for its own process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from tf2npu.rules.facts.constant_values import text_of
from tf2npu.scanner.sites import Call, Site, written_out
from tf2npu.scanner.tree_walk import first_key

SETTERS = ("os.putenv", "os.environ.setdefault", "os.environ.update")


def set_by_call(call: Call) -> Iterator[tuple[str, Any]]:
    """Names and values that a call of one of SETTERS sets, as far as the names are written out."""
    if call.name.endswith("update"):
        first: Any = call.args[0].value if call.args and call.args[0].keyword is None else None
        given = written_out(first) or {a.keyword.value: a.value for a in call.args if a.keyword is not None}
        yield from given.items()
    elif len(call.args) >= 2:
        name = text_of(call.args[0].value, call.scope)
        if name is not None:
            yield name, call.args[1].value


def set_by_item(site: Site) -> Iterator[tuple[str, Any]]:
    """Name and value of `os.environ[name] = value`, seen from its os.environ; the site becomes the assignment."""
    parents = site.script.walked.parents
    item: Any = parents.get(id(site.node))
    target: Any = parents.get(id(item))
    assign: Any = parents.get(id(target))
    if isinstance(item, cst.Subscript) and isinstance(target, cst.AssignTarget) and isinstance(assign, cst.Assign):
        name = text_of(first_key(item), site.scope)
        if name is not None:
            site.fix.site = site.script.tree.span(assign)
            yield name, assign.value
