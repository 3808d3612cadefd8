"""Sessions that a function gives, and that whoever calls it leaves open."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of
from tf2npu.rules.facts.files.script_kinds import is_unit_test
from tf2npu.rules.session.unclosed_sessions import SESSIONS, unclosed_session, why_open
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Call, Site

_OBJECTS = tuple(f"{name}()" for name in SESSIONS)


@part_of(
    unclosed_session,
    on="module",
    examples=(
        Example.same(
            "def make():\n    s = tf.Session(config=npu_config_proto())\n    return s\nt = make()\nt.run(x)",
            level="info",
            write="def make():\n    s = tf.Session(config=npu_config_proto())\n    return s\nwith make() as t:\n    t.run(x)",
        ),
        Example.same(
            "def make():\n    s = tf.Session(config=npu_config_proto())\n    return s\nwith make() as t:\n    t.run(x)",
            note="closed",
        ),
        Example.same("def make():\n    return open('x')\nt = make()", note="no session"),
    ),
)
def given_session(site: Site) -> None:
    """Reports a session that a function gives, also one of another file, and that its caller neither closes nor hands on."""
    script = site.script
    gives_some = "Session(" in script.text or any(name in _OBJECTS for name in script.project.returns.values())
    if not gives_some or is_unit_test(script):
        return
    for node, scope in script.walked.calls:
        if _is_given(script, node, scope) and not script.is_switched_off(site.fix.rule, node):
            why = why_open(Call(script, site.fix.rule, node, scope))
            if why:
                site.fix.site = script.tree.span(node)
                site.info(why)


def _is_given(script: Script, node: cst.Call, scope: Scope) -> bool:
    """Whether a call of a function gives a session, of which nothing is said where the function makes it."""
    if script.name_of(node, scope) not in _OBJECTS:
        return False
    if isinstance(script.walked.parents.get(id(node)), cst.Return):
        return False  # told where that function is called
    bindings = scope.lookup(node.func.value) if isinstance(node.func, cst.Name) else []
    if (script.name_of(node.func, scope) or "").startswith("project:"):
        return True
    functions = [script.walked.scope_of[id(b.node)] for b in bindings if b.kind == "function"]
    returned = [pair for function in functions for pair in function.returns]
    return bool(returned) and not any(_makes_it_in_return(script, value, inner) for value, inner in returned)


def _makes_it_in_return(script: Script, value: Any, scope: Scope) -> bool:
    return isinstance(value, cst.Call) and script.name_of(value.func, scope) in SESSIONS
