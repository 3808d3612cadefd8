"""Whether a session is open where a line runs: seen in the blocks around it, up to the function that it stands in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from tf2npu.scanner.sites import Site

_SESSIONS = frozenset((
    "tensorflow.Session", "tensorflow.InteractiveSession", "tensorflow.train.MonitoredTrainingSession",
    "tensorflow.train.MonitoredSession", "tensorflow.train.SingularMonitoredSession",
    "tensorflow.train.Supervisor().managed_session", "tensorflow.train.Supervisor().prepare_or_wait_for_session",
))  # fmt: skip
_END = (cst.FunctionDef, cst.Lambda, cst.ClassDef)


def is_session_open(site: Site) -> bool:
    """Whether a with statement around a site holds a session, or a statement before it made one that is not closed yet."""
    below: cst.CSTNode = site.node
    for ancestor in site.script.walked.ancestors(site.node):
        if isinstance(ancestor, _END):
            return False
        if isinstance(ancestor, cst.With) and below is ancestor.body and any(_opens(site, i.item) for i in ancestor.items):
            return True
        if isinstance(ancestor, (cst.Module, cst.IndentedBlock)) and any(
            _is_left_open(site, s) for s in _before(ancestor, below)
        ):
            return True
        below = ancestor
    return False


def _opens(site: Site, value: Any) -> bool:
    """Whether an expression makes a session, `with` or without `.as_default()`."""
    if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute) and value.func.attr.value == "as_default":
        value = value.func.value
    return isinstance(value, cst.Call) and site.resolve(value.func) in _SESSIONS


def _before(block: cst.Module | cst.IndentedBlock, statement: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for one in block.body:
        if one is statement:
            return
        yield one


def _is_left_open(site: Site, statement: cst.CSTNode) -> bool:
    """Whether a statement gives a name to a session that nothing closes before the site."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    for small in statement.body:
        if isinstance(small, cst.Assign) and _opens(site, small.value):
            name = site.source(small.targets[0].target)
            start, end = site.script.tree.span(statement)[1], site.fix.site[0]
            return f"{name}.close(" not in site.script.text[start:end]
    return False
