"""Runs in a loop that make the ops they run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.constant_values import integer_of
from tf2npu.rules.facts.files.script_kinds import is_test_script
from tf2npu.scanner.options.defaults import HOLDERS
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
_VARIABLES = ("tensorflow.Variable()", "tensorflow.get_variable()")
_GIVES_NUMBERS = ("builtins.float", "builtins.int", "builtins.max", "builtins.min", "builtins.len", "numpy.", "math.")
_EPOCH = re.compile(r"epoch", re.IGNORECASE)
_FEW = 10
"""The most turns of a loop that are few: together they take the time of as many compilations, seconds to minutes."""
_DEEPEST = 5
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
            "with tf.Session(config=npu_config_proto()) as s:\n    for i in range(90):\n        s.run(tf.assign(lr, 0.1 * i))",
            level="manual",
            write="p = tf.placeholder(tf.float32, [])\nset_lr = tf.assign(lr, p)\n"
            "with tf.Session(config=npu_config_proto()) as s:\n    for i in range(90):\n        s.run(set_lr, {p: 0.1 * i})",
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
        Example(
            "v = tf.Variable(0.0)\nwith tf.Session(config=npu_config_proto()) as s:\n    for i in range(90):\n"
            "        s.run(v.assign(0.1 * i))",
            "v = tf.Variable(0.0)\nwith tf.Session(config=npu_config_proto()) as s:\n    for i in range(90):\n"
            "        v.load(0.1 * i, s)",
        ),
        Example.same(
            "def f(sess):\n    for epoch in range(n):\n        sess.run(tf.assign(model.lr, rate(epoch)))",
            note="one turn an epoch",
            level="info",
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
        Example.same("def f(pool):\n    for i in range(99):\n        pool.run(tf.reduce_sum)", note="no session"),
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
            "Each turn assigns another variable, and an NPU compiles each assignment by itself. Collect the assignments in a "
            "list, and run the list once; or use var.load(value, sess)."
        )
    elif makers:
        named = ", ".join(makers[:_MOST_NAMES]) + (", ..." if len(makers) > _MOST_NAMES else "")
        if _loads_number(call, fetches):
            return call.fixed(
                "load(...) sets the variable without a new op; an op that is made in every turn would be compiled each time. "
                "Nothing is left to do."
            )
        if seldom := _seldom(call, loops):
            return call.info(
                f"Made anew {seldom}: {named}. The NPU compiles each new op, so make the op once before the loop to save the "
                "time."
            )
        call.manual(
            f"Made anew in every turn of the loop are {named}, for which an NPU compiles each time. Make such ops "
            "once, before the loop, with placeholders for changing values."
        )


def _seldom(call: Call, loops: list[cst.CSTNode]) -> str:
    """The words for a loop that turns seldom: written out in a test or a list, or one turn an epoch; "" for another one."""
    if is_test_script(call.script):
        return "in the turns of a test"
    if all(_is_short(call, loop) for loop in loops):
        return "in each of the few turns of this loop"
    loop = loops[0]
    is_of_epochs = (
        isinstance(loop, cst.For) and _EPOCH.search(call.source(loop.target) + " " + call.source(loop.iter)) is not None
    )
    return "once an epoch" if is_of_epochs else ""


def _is_short(call: Call, loop: cst.CSTNode) -> bool:
    """Whether a loop goes over a list that is written out, or over a number of turns that is."""
    source: Any = loop.iter if isinstance(loop, cst.For) else None
    if isinstance(source, (cst.List, cst.Tuple)):
        return len(source.elements) <= _FEW
    is_range = isinstance(source, cst.Call) and call.resolve(source.func) == "builtins.range" and len(source.args) == 1
    return is_range and (integer_of(source.args[0].value, call.scope) or _FEW + 1) <= _FEW


def _loads_number(call: Call, fetches: Any) -> bool:
    """Write `v.load(number, sess)` in the place of `sess.run(v.assign(number))`, where v is a variable and no more is asked."""
    func: Any = call.node.func
    statement = call.script.walked.parents.get(id(call.node))
    if call.name == "eval" or len(call.args) != 1 or not isinstance(statement, cst.Expr) or not isinstance(fetches, cst.Call):
        return False
    if len(fetches.args) != (2 if (made := call.resolve(fetches.func)) == "tensorflow.assign" else 1) or any(
        arg.keyword is not None or arg.star for arg in fetches.args
    ):
        return False
    is_method = isinstance(fetches.func, cst.Attribute) and fetches.func.attr.value == "assign" and made != "tensorflow.assign"
    if made != "tensorflow.assign" and not is_method:
        return False
    variable: Any = fetches.func.value if is_method and isinstance(fetches.func, cst.Attribute) else fetches.args[0].value
    if call.resolve(variable) not in _VARIABLES or not _is_number(call, fetches.args[-1].value):
        return False
    value = fetches.args[-1].value
    call.replace_range(call.script.tree.span(call.node)[0], call.script.tree.span(value)[0], f"{call.source(variable)}.load(")
    call.replace_range(call.script.tree.span(value)[1], call.script.tree.span(call.node)[1], f", {call.source(func.value)})")
    return True


def _is_number(call: Call, node: Any, depth: int = 0) -> bool:
    """Whether an expression is a number of Python, as its literals, options and names tell."""
    if isinstance(node, (cst.Integer, cst.Float)):
        return True
    if isinstance(node, cst.UnaryOperation):
        return _is_number(call, node.expression, depth)
    if isinstance(node, cst.BinaryOperation):
        return _is_number(call, node.left, depth) and _is_number(call, node.right, depth)
    if isinstance(node, cst.Attribute):
        return call.source(node.value).rpartition(".")[2] in HOLDERS
    if isinstance(node, cst.Call):
        return (call.resolve(node.func) or "").startswith(_GIVES_NUMBERS)
    bindings = call.scope.lookup(node.value) if isinstance(node, cst.Name) and depth < _DEEPEST else []
    loops = [a for a in call.script.walked.ancestors(call.node) if isinstance(a, cst.For)]
    counts = any(
        isinstance(loop.target, cst.Name) and loop.target.value == getattr(node, "value", "") and _is_count(call, loop)
        for loop in loops
    )
    values = [binding for binding in bindings if binding.kind == "value"]
    is_told = len(values) == len(bindings) - counts and bool(bindings)
    return is_told and all(_is_number(call, binding.node, depth + 1) for binding in values)


def _is_count(call: Call, loop: cst.For) -> bool:
    return isinstance(loop.iter, cst.Call) and call.resolve(loop.iter.func) == "builtins.range"


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
