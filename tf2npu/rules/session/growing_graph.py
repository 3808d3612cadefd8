"""Runs in a loop that make the ops they run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call, Site

_SESSIONS = (
    "tensorflow.Session", "tensorflow.InteractiveSession", "tensorflow.train.MonitoredSession",
    "tensorflow.train.SingularMonitoredSession",
)  # fmt: skip
_LOOPS = (cst.For, cst.While, cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)
_FUNCTIONS = (cst.FunctionDef, cst.Lambda)
# A loop with a graph or session of its own makes each op once for each.
_NEW_GRAPH = re.compile(r"\b(?:Session|Graph|reset_default_graph|clear_session|test_session|cached_session)\(")
_ASSIGNS = frozenset({"assign", "assign_add", "assign_sub", "initialized_value"})
_ASSIGN_FUNCTIONS = ("tensorflow.assign", "tensorflow.assign_add", "tensorflow.assign_sub")
_MAKES_NOTHING = re.compile(
    r"tensorflow\.(?:(?:\w+\.)*get_\w+|(?:\w+\.)*\w*_variables|app|flags|logging|gfile|io\.gfile|errors|compat|keras|estimator"
    r"|python_io|train\.latest_checkpoint|train\.load_\w+|as_dtype|contrib\.util)(?:\.|$)"
)
_MOST_NAMES = 3
"""The most calls that one message names: more are not read."""


@rule(
    id="NPU954",
    title="Ops made in a loop",
    matches=tuple(f"{session}().run" for session in _SESSIONS),
    why="An op changes the graph, and the NPU compiles a changed graph anew, which takes seconds to minutes each time.",
    done_when="With tf.get_default_graph().finalize() before the loop, `tf2npu run` passes the loop.",
    source="session.run of TensorFlow 1.15: a session extends its graph; the adapter compiles what it has not seen",
    examples=(
        Example.same(
            "with tf.Session(config=npu_config_proto()) as s:\n    for i in range(9):\n        s.run(tf.assign(lr, 0.1 * i))",
            level="manual",
            write="p = tf.placeholder(tf.float32, [])\nset_lr = tf.assign(lr, p)\n"
            "with tf.Session(config=npu_config_proto()) as s:\n    for i in range(9):\n        s.run(set_lr, {p: 0.1 * i})",
        ),
        Example.same(
            "def f(sess):\n    for x in data:\n        m = tf.reduce_mean(x)\n        sess.run(m)",
            note="by name",
            level="manual",
        ),
        Example.same(
            "m = tf.reduce_mean(y)\ndef f(sess):\n    for x in data:\n        sess.run(m, {p: x})",
            note="made before",
        ),
        Example.same(
            "for k in range(5):\n    with tf.Graph().as_default(), tf.Session(config=npu_config_proto()) as s:\n"
            "        s.run(tf.global_variables_initializer())",
            note="a graph of its own in each turn",
        ),
    ),
)
def growing_graph(call: Call) -> None:
    """Reports runs in a loop that make the ops they run."""
    fetches = call.value("fetches", 0)
    if fetches is not None:
        _report(call, fetches)


@part_of(
    growing_graph,
    on="unknown_method",
    matches=("run", "eval"),
    examples=(
        Example.same("def f(sess):\n    while True:\n        sess.run(lr.assign(0.1))", level="manual"),
        Example.same("def f(n):\n    for i in range(n):\n        print(tf.reduce_sum(x).eval())", level="manual"),
        Example.same(
            "def f(sess, data):\n    for k in data:\n        var = tf.get_variable(k)\n        sess.run(var.assign(data[k]))",
            note="another one in each turn",
            level="info",
            write="def f(sess, data):\n    for k in data:\n        tf.get_variable(k).load(data[k], sess)",
        ),
        Example.same("def f(pool):\n    for i in range(9):\n        pool.run(tf.reduce_sum)", note="no session"),
        Example.same("def f(sess):\n    sess.run(lr.assign(0.1))", note="no loop here"),
    ),
)
def growing_graph_of_unknown(call: Call) -> None:
    """Reports runs of a session that comes from elsewhere, and evaluations, in a loop that make what they run."""
    func: Any = call.node.func
    if call.name == "eval":
        _report(call, func.value)
    elif "sess" in call.source(func.value).lower():
        growing_graph(call)


def _report(call: Call, fetches: Any) -> None:
    loops = list(_loops_around(call, call.node))
    if not loops:
        return
    makers = list(dict.fromkeys(_makers(call, fetches, call.scope)))
    makers += [m for m in _made_by_name(call, fetches, loops) if m not in makers]
    if makers and all(m.rpartition(".")[2] in _ASSIGNS for m in makers) and _assigns_each_once(call, loops[0]):
        call.info(
            "Each turn of the loop assigns another variable, and the NPU compiles each assignment by itself. Collect them in a "
            "list and run that once behind the loop, or use var.load(value, sess)."
        )
    elif makers:
        named = ", ".join(makers[:_MOST_NAMES]) + (", ..." if len(makers) > _MOST_NAMES else "")
        call.manual(
            f"Made anew in every turn of the loop: {named}. The NPU compiles the graph again for each new op: make it once "
            "before the loop; a value that changes goes in through a placeholder."
        )


def _assigns_each_once(call: Call, loop: cst.CSTNode) -> bool:
    """Whether all that a turn of the loop makes and runs is assignments to a variable that is another one in each turn."""
    start, end = call.script.tree.span(loop)
    target = call.source(loop.target) if isinstance(loop, cst.For) else ""
    made = [
        (inner, where)
        for inner, where in call.script.calls_in(start, end)
        if isinstance(inner.func, cst.Attribute) and inner.func.attr.value in _ASSIGNS
    ]
    for inner, where in made:
        is_function = call.script.name_of(inner.func, where) in _ASSIGN_FUNCTIONS
        func: Any = inner.func
        node: Any = func.value if not is_function else inner.args[0].value if inner.args else None
        if not isinstance(node, cst.Name):
            return False
        bindings = where.lookup(node.value)
        bound = [call.script.tree.span(b.node)[0] for b in bindings if b.kind == "value" and b.node is not None]
        is_target = re.search(rf"\b{node.value}\b", target) is not None
        is_made = bool(bound) and len(bound) == len(bindings) and all(start <= place < end for place in bound)
        if not is_target and not is_made:
            return False
    return bool(made)


def _loops_around(site: Site, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Loops of the same function in whose turns a node is, up to one that has a graph or session of its own."""
    below = node
    for ancestor in site.script.walked.ancestors(node):
        if isinstance(ancestor, _FUNCTIONS):
            return
        if isinstance(ancestor, _LOOPS) and below is not getattr(ancestor, "iter", None):
            if _has_new_graph(site, ancestor):
                return
            yield ancestor
        below = ancestor


def _has_new_graph(site: Site, loop: cst.CSTNode) -> bool:
    known = _loops_with_new_graph(site.script)
    if id(loop) not in known:
        known[id(loop)] = _NEW_GRAPH.search(site.source(loop)) is not None
    return known[id(loop)]


@fact
def _loops_with_new_graph(script: Script) -> dict[int, bool]:
    """Whether loops make a graph of their own, by their ids; filled where it is asked for."""
    return {}


def _makers(call: Call, node: cst.CSTNode, scope: Scope) -> Iterator[str]:
    """The functions called in an expression that make ops, as people write them."""
    for inner, where in call.script.calls_in(*call.script.tree.span(node)):
        name = call.script.name_of(inner.func, where)
        if name is None:
            if isinstance(inner.func, cst.Attribute) and inner.func.attr.value in _ASSIGNS:
                yield call.source(inner.func)
        elif name.startswith("tensorflow.Variable()."):
            if name.rpartition(".")[2] in _ASSIGNS:
                yield call.source(inner.func)
        elif name.startswith("tensorflow.") and "()" not in name and _makes_ops(name):
            yield call.source(inner.func)


def _makes_ops(name: str) -> bool:
    return name.rpartition(".")[2][:1].islower() and not _MAKES_NOTHING.match(name)


def _made_by_name(call: Call, fetches: Any, loops: list[cst.CSTNode]) -> Iterator[str]:
    """The functions that make the ops behind names that are bound in one of the loops only."""
    spans = [call.script.tree.span(loop) for loop in loops]
    for name in _names_in(fetches):
        bindings = call.scope.lookup(name)
        places = [call.script.tree.span(b.node)[0] for b in bindings if b.kind == "value"]
        if places and len(places) == len(bindings) and any(all(a <= place < b for place in places) for a, b in spans):
            yield from (m for b in bindings if isinstance(b.node, cst.Call) for m in _makers(call, b.node, b.scope or call.scope))


def _names_in(node: cst.CSTNode) -> Iterator[str]:
    """Names that are used in an expression by themselves or as the start of a chain."""
    if isinstance(node, cst.Name):
        yield node.value
    for child in node.children if not isinstance(node, cst.Attribute) else [node.value]:
        yield from _names_in(child)
