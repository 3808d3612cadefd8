"""Sessions that stay open."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.rules.resources import is_unit_test
from tf2npu.scanner.script import Script
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
        Example.same(
            "class M(object):\n    def __init__(self):\n        self.s = tf.Session(config=npu_config_proto())",
            level="manual",
            write="class M(object):\n    def __init__(self):\n        self.s = tf.Session(config=npu_config_proto())\n"
            "\n    def close(self):\n        self.s.close()",
        ),
        Example.same("def f(s):\n    s = s or tf.Session(config=npu_config_proto())\n    return s.run(x)", level="manual"),
        Example.same(
            "def make():\n    return tf.Session(config=npu_config_proto())\ns = make()\ns.run(x)", note="by name", level="manual"
        ),
        Example.same(
            "with tf.Session(config=npu_config_proto()).as_default() as s:\n    s.run(x)", note="not closed by it", level="manual"
        ),
        Example.same("tf.keras.backend.set_session(tf.Session(config=npu_config_proto()))", level="manual"),
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
    if why:
        call.manual(why)


def why_open(call: Call) -> str:
    """What there is to say of a session that stays open, or nothing."""
    parents = call.script.walked.parents
    parent: Any = parents.get(id(call.node))
    while isinstance(parent, _PASSED_THROUGH):
        parent = parents.get(id(parent))
    if isinstance(parent, cst.Assign):
        target = _open_target(call, parent)
        if not target:
            return ""
        return f"Nothing closes this session: call {target}.close() when the work is done, or use a with statement."
    if isinstance(parent, cst.Return):
        return _given_by_a_function(call)
    is_closed = re.search(r"get_session\(\)\.close|get_default_session\(\)\.close|clear_session\(\)", call.script.text)
    if isinstance(parent, cst.Expr):
        return "" if is_closed else _UNNAMED
    if isinstance(parent, cst.Attribute):
        return "" if parent.attr.value in ("close", "__enter__") else _UNNAMED
    user: Any = parents.get(id(parent)) if isinstance(parent, cst.Arg) else None
    is_keras = isinstance(user, cst.Call) and call.resolve(user.func) in _SET_SESSION
    return _UNNAMED if is_keras and not is_closed else ""


def _open_target(call: Call, assign: cst.Assign) -> str:
    """What a session is assigned to, unless that is closed, used in a with statement or handed on."""
    if len(assign.targets) != 1:
        return ""
    target = call.source(assign.targets[0].target)
    text = call.script.text
    name = re.escape(target)
    seen_to = rf"\b(?:return|yield|with) {name}(?![\w.(\[])|(?:enter_context|closing)\({name}\)"
    if target.startswith("self.") and target.count(".") == 1:
        return "" if re.search(seen_to, text) or _is_attribute_closed(call, target[len("self.") :]) else target
    is_closed = re.search(rf"\b{name}\.close\b|{seen_to}", text) or (
        call.scope.kind == "module" and call.script.project.has_importer(call.script.path, lambda facts: target in facts.closed)
    )
    return "" if is_closed else target


def _is_attribute_closed(call: Call, name: str) -> bool:
    """Whether a method, or whoever has the object that holds the session, closes it; also in a file that imports this one."""
    script = call.script
    owner = call.scope.enclosing_class
    numbers = [n for n, (_, _, own) in enumerate(script.walked.classes) if own is owner]
    for node, scope in script.walked.references:
        held: Any = node.value if isinstance(node, cst.Attribute) and node.attr.value == "close" else None
        if isinstance(held, cst.Attribute) and held.attr.value == name:
            holder = script.name_of(held.value, scope)
            if holder is None or not holder.startswith("user:") or _is_one_of(script, holder, numbers):
                return True
    in_with = rf"(?:\bwith |enter_context\(|closing\()[\w.\[\]]+\.{re.escape(name)}(?![\w.(\[])"
    return re.search(in_with, script.text) is not None or script.project.has_importer(
        script.path, lambda facts: name in facts.closed
    )


def _is_one_of(script: Script, holder: str, numbers: list[int]) -> bool:
    """Whether an object is of a class of this file, given by its numbers, or of one that is derived from it or its base."""
    number = int(holder[5:].removesuffix("()"))
    related = {number} | {n for n in numbers if _derives(script, n, number)}
    return any(n in related or _derives(script, number, n) for n in numbers)


def _derives(script: Script, number: int, other: int) -> bool:
    seen = [number]
    for n in seen:
        node, outer, _ = script.walked.classes[n]
        for arg in node.bases:
            base = script.name_of(arg.value, outer) or ""
            if base.startswith("user:") and int(base[5:]) not in seen:
                seen.append(int(base[5:]))
    return other in seen


def _given_by_a_function(call: Call) -> str:
    function = call.scope.function
    if function is None or not isinstance(function.node, cst.FunctionDef):
        return ""
    name, walked = function.node.name.value, call.script.walked
    for node, _ in walked.calls:
        is_user = name == (node.func.attr.value if isinstance(node.func, cst.Attribute) else getattr(node.func, "value", ""))
        assign = walked.parents.get(id(node))
        target = _open_target(call, assign) if is_user and isinstance(assign, cst.Assign) else ""
        if target:
            line = call.script.span(*call.script.tree.span(node)).line
            return f"Nothing closes the session that {name} gives in line {line}: call {target}.close(), or use a with statement."
    return ""
