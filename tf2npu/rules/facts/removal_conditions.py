"""Fixes that hold only when other fixes take out all uses of a name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import libcst as cst

from tf2npu.findings import Finding, Level
from tf2npu.scanner.sites import Site
from tf2npu.scanner.tree_walk import dotted_name


def only_without(site: Site, uses: Iterable[Any], level: Level, say: Callable[[str], str]) -> None:
    """Make the fix of a site only when other fixes take all of the uses out.

    level, say: of what is told otherwise; `say` gets the uses that stay, as they are written.
    """
    fix, script = site.fix, site.script
    fix.must_go = [(*script.tree.span(node), dotted_name(node).partition(".")[0]) for node in uses]

    def told(left: list[tuple[int, int]]) -> list[Finding]:
        used = ", ".join(sorted({script.text[start:end] for start, end in left}))
        before = script.text[slice(*fix.site)]
        return [Finding(fix.rule, level, script.span(*fix.site), say(used), site.name.replace("()", ""), before)]

    fix.otherwise = told


def target_names(assign: cst.Assign | cst.AnnAssign) -> list[str]:
    """The names and attributes that an assignment binds, as they are written."""
    targets = [t.target for t in assign.targets] if isinstance(assign, cst.Assign) else [assign.target]
    return [dotted_name(target) for target in targets]


def uses_of_targets(site: Site, assign: cst.Assign | cst.AnnAssign) -> list[Any]:
    """References to what an assignment binds, and to what hangs on it."""
    walked = site.script.walked
    found = []
    for name in target_names(assign):
        root = name.partition(".")[0]
        owner = site.scope.lookup_scope(root)
        for node, scope in walked.references:
            is_it = f"{dotted_name(node)}.".startswith(f"{name}.") and ("." in name or scope.lookup_scope(root) is owner)
            if is_it and not isinstance(walked.parents.get(id(node)), (cst.AssignTarget, cst.AnnAssign)):
                found.append(node)
    return found
