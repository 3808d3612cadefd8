"""Sessions that stay open."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.files.script_kinds import is_unit_test
from tf2npu.rules.facts.sessions.session_closing import close_at_exit, close_with_object
from tf2npu.rules.facts.sessions.session_uses import session_uses
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call

SESSIONS = ("tensorflow.Session", "tensorflow.InteractiveSession")
_SET_SESSION = ("tensorflow.keras.backend.set_session", "keras.backend.set_session")
_UNNAMED = "Nothing can close this session: keep it in a variable, and call its close() when the work is done."
_PASSED_THROUGH = (cst.BooleanOperation, cst.IfExp)


@rule(
    id="NPU910",
    title="Session that nobody closes",
    once=True,
    matches=SESSIONS,
    why="A session that is left to the interpreter's exit can keep the device busy or end in an error there.",
    source="TensorFlow adapter porting guide: close sessions explicitly",
    examples=(
        Example(
            "s = tf.Session(config=npu_config_proto())\nprint(s.run(x))",
            "s = tf.Session(config=npu_config_proto())\nimport atexit\natexit.register(s.close)\nprint(s.run(x))",
        ),
        Example(
            "class M(object):\n    def __init__(self):\n        self.s = tf.Session(config=npu_config_proto())\n"
            "    def close(self):\n        print('done')",
            "class M(object):\n    def __init__(self):\n        self.s = tf.Session(config=npu_config_proto())\n"
            "    def close(self):\n        print('done')\n        self.s.close()",
        ),
        Example.same(
            "for lr in rates:\n    s = tf.Session(config=npu_config_proto())\n    s.run(x)", note="one each turn", level="info"
        ),
        Example.same(
            "class M(object):\n    def __init__(self):\n        self.s = tf.Session(config=npu_config_proto())",
            level="info",
            write="class M(object):\n    def __init__(self):\n        self.s = tf.Session(config=npu_config_proto())\n"
            "\n    def close(self):\n        self.s.close()",
        ),
        Example.same("def f(s):\n    s = s or tf.Session(config=npu_config_proto())\n    return s.run(x)", level="info"),
        Example.same(
            "def make():\n    return tf.Session(config=npu_config_proto())\ns = make()\ns.run(x)", note="by name", level="info"
        ),
        Example.same(
            "with tf.Session(config=npu_config_proto()).as_default() as s:\n    s.run(x)", note="not closed by it", level="info"
        ),
        Example.same("tf.keras.backend.set_session(tf.Session(config=npu_config_proto()))", level="info"),
        Example.same("s = tf.Session(config=npu_config_proto())\ntry:\n    s.run(x)\nfinally:\n    s.close()", note="closed"),
        Example.same(
            "def make():\n    return tf.Session(config=npu_config_proto())\nwith make() as s:\n    s.run(x)", note="closed"
        ),
        Example.same("with tf.Session(config=npu_config_proto()) as s:\n    s.run(x)", note="closed by with"),
        Example.same(
            "class M(object):\n    def __init__(self):\n        self.s = tf.Session(config=npu_config_proto())\n"
            "m = M()\nm.s.close()",
            note="closed by who has the object",
        ),
    ),
)
def unclosed_session(call: Call) -> None:
    """Reports a session that is neither used in a with statement nor closed, also one that a function gives."""
    why = "" if is_unit_test(call.script) else why_open(call)
    assign = call.script.walked.parents.get(id(call.node))
    if why and isinstance(assign, cst.Assign):
        return _close(call, assign, why)
    if why:
        call.info(why)
    return None


def _close(call: Call, assign: cst.Assign, why: str) -> None:
    """Close a session where it is certain when that may be; else say what to write."""
    if close_at_exit(call, assign):
        return call.fixed(
            "The added line closes the session when the program ends, also after an exception. Nothing is left to do."
        )
    method = close_with_object(call, assign)
    return call.fixed(f"The session is closed by {method}, which the class has.") if method else call.info(why)


def why_open(call: Call) -> str:
    """The remark on a session that stays open; "" for none."""
    parents = call.script.walked.parents
    parent: Any = parents.get(id(call.node))
    while isinstance(parent, _PASSED_THROUGH):
        parent = parents.get(id(parent))
    if isinstance(parent, cst.Assign):
        target = _open_target(call, parent)
        if not target:
            return ""
        return (
            "The session stays open until Python exits, which can keep an NPU busy or end in an error. "
            f"Call {target}.close() at the end, or use a with statement."
        )
    if isinstance(parent, cst.Return):
        return _given_by_a_function(call)
    if isinstance(parent, cst.Expr):
        return "" if session_uses(call.script).closes_default else _UNNAMED
    if isinstance(parent, cst.Attribute):
        return "" if parent.attr.value in ("close", "__enter__") else _UNNAMED
    user: Any = parents.get(id(parent)) if isinstance(parent, cst.Arg) else None
    is_keras = isinstance(user, cst.Call) and call.resolve(user.func) in _SET_SESSION
    return _UNNAMED if is_keras and not session_uses(call.script).closes_default else ""


def _open_target(call: Call, assign: cst.Assign) -> str:
    """The target that a session is assigned to; "" where that is closed, used in a with statement or handed on."""
    if len(assign.targets) != 1:
        return ""
    target, uses = call.source(assign.targets[0].target), session_uses(call.script)
    if target.startswith("self.") and target.count(".") == 1:
        return "" if uses.is_handed_on(target) or _is_attribute_closed(call, target[len("self.") :]) else target
    is_closed = uses.is_closed_or_handed_on(target) or (
        call.scope.kind == "module" and call.script.project.has_importer(call.script.path, lambda facts: target in facts.closed)
    )
    return "" if is_closed else target


def _is_attribute_closed(call: Call, name: str) -> bool:
    """Whether a method, or whoever has the object that holds the session, closes it; also in a file that imports this one."""
    script, uses = call.script, session_uses(call.script)
    if uses.is_attribute_closed(name, call.scope.enclosing_class) or uses.is_attribute_in_with(name):
        return True
    return script.project.has_importer(script.path, lambda facts: name in facts.closed)


def _given_by_a_function(call: Call) -> str:
    function = call.scope.function
    if function is None or not isinstance(function.node, cst.FunctionDef):
        return ""
    name, known = function.node.name.value, _said_of_functions(call.script)
    key = (name, id(call.scope.enclosing_class))
    if key not in known:
        known[key] = _open_where_used(call, name)
    return known[key]


@fact
def _said_of_functions(script: Script) -> dict[tuple[str, int], str]:
    """The remarks on sessions that functions give, by their names and classes; filled where it is asked for."""
    return {}


def _open_where_used(call: Call, name: str) -> str:
    """The remark on the session that a function of this name gives, on the first call that leaves it open; "" for none."""
    script = call.script
    for node in session_uses(script).calls_by_name.get(name, ()):
        assign = script.walked.parents.get(id(node))
        target = _open_target(call, assign) if isinstance(assign, cst.Assign) else ""
        if target:
            line = script.span(*script.tree.span(node)).line
            return f"Nothing closes the session that {name} gives in line {line}: call {target}.close(), or use a with statement."
    return ""
