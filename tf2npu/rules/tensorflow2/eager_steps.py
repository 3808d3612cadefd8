"""Training steps that run eagerly, and functions of tf.function inside others."""

from __future__ import annotations

import textwrap
from typing import Any

import libcst as cst

from tf2npu.config import Config
from tf2npu.frameworks.tensorflow1.scripts import tensorflow_name, uses_tensorflow
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.pipelines.input_pipeline import function_scopes
from tf2npu.rules.facts.training.graph_functions import graph_functions, is_traced, scopes_around
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Call, Site

_TF2 = Config(dialect="tf2")
_TAPE = "tensorflow.GradientTape"
_APPLIES = ("apply_gradients", "minimize")
_BODY = "(x):\n    with tf.GradientTape() as t:\n        l = loss(x)\n    o.apply_gradients(zip(t.gradient(l, v), v))\n"
_LOOP = "for x in data:\n" + _BODY.removeprefix("(x):\n")
_VALUES = frozenset({"numpy", "print", "float", "int", "append", "item"})
"""Calls that need a value, or do something in Python, which a function does once, when it is traced."""


@rule(
    id="NPU806",
    title="Training step that runs eagerly",
    on="function",
    why="Only functions of tf.function are compiled for the NPU: a step outside of one runs on the CPU, op by op.",
    done_when="The log of a run names the training step among the functions on the device.",
    source="TensorFlow 2 adapter porting guide: only operators inside tf.function run on the NPU",
    examples=(
        Example.same(
            f"data = load()\ndef step{_BODY}for x in data:\n    step(x)", level="manual", config=_TF2,
            write=f"data = load()\n@tf.function\ndef step{_BODY}for x in data:\n    step(x)",
        ),
        Example.same(f"data = load()\n@tf.function\ndef step{_BODY}for x in data:\n    step(x)", note="compiled", config=_TF2),
        Example.same(
            f"def step{_BODY}@tf.function\ndef epoch(data):\n    for x in data:\n        step(x)",
            note="part of a graph", config=_TF2,
        ),
        Example.same(f"{_LOOP}print(l.numpy())", note="in a loop of the module", level="manual", config=_TF2),
    ),
)  # fmt: skip
def eager_step(site: Site) -> None:
    """Reports a function that computes and applies gradients and is not compiled."""
    script = site.script
    own = script.walked.scope_of[id(site.node)]
    if _tape_in(script, own) is None or not _applies_in(script, own) or is_traced(script, own):
        return
    start, end = script.tree.span(site.node)
    site.fix.site = (start, end)
    source = site.source(site.node).rstrip()
    has_values = any(_last(call) in _VALUES for call, scope in script.walked.calls if scope.is_inside(own))
    if has_values:
        site.manual(
            "The training step runs eagerly, on the CPU: put what computes and applies gradients into a function of its own with "
            "@tf.function above it, and leave what needs values (numpy(), print) to its caller."
        )
        return
    message = (
        "The training step runs eagerly on the host CPU, not on the NPU. Write @tf.function above the function, which compiles "
        "it for the NPU."
    )
    site.manual(message, _decorated(site, source), replaces=own.enclosing_class is None and not _is_indented(script, start))


def _decorated(site: Site, source: str) -> str:
    """The function with the decorator, at the left margin."""
    tf = tensorflow_name(site.script)
    start = site.script.tree.span(site.node)[0]
    column = start - site.script.lines.line_start(start)
    return textwrap.dedent(f"{' ' * column}@{tf}.function\n{' ' * column}{source}") if tf else ""


def _is_indented(script: Script, offset: int) -> bool:
    return offset > script.lines.line_start(offset)


@part_of(
    eager_step,
    matches=(_TAPE,),
    examples=(
        Example.same(f"{_LOOP}@tf.function\ndef f(x):\n    return x", level="manual", config=_TF2),
        Example.same("with tf.GradientTape() as t:\n    l = loss(x)\ng = t.gradient(l, x)", note="no training", config=_TF2),
    ),
)  # fmt: skip
def eager_loop(call: Call) -> None:
    """Reports a training step that stands in a loop of the module itself."""
    script = call.script
    is_in_loop = any(isinstance(one, (cst.For, cst.While)) for one in script.walked.ancestors(call.node))
    if call.scope.function is None and is_in_loop and uses_tensorflow(script) and _applies_in(script, script.module_scope):
        call.manual(
            "This training step runs eagerly, on the CPU: put what computes and applies gradients into a function with "
            "@tf.function above it, and call that in the loop."
        )


@part_of(
    eager_step,
    matches=(
        "tensorflow.config.run_functions_eagerly", "tensorflow.config.experimental_run_functions_eagerly",
        "tensorflow.keras.Model().compile", "tensorflow.keras.Sequential().compile",
    ),
    examples=(
        Example.same("tf.config.run_functions_eagerly(True)", level="manual", config=_TF2),
        Example.same(
            "m = tf.keras.Sequential()\nm.compile('sgd', run_eagerly=True)", level="manual", config=_TF2,
            write="m = tf.keras.Sequential()\nm.compile('sgd')",
        ),
        Example.same("m = tf.keras.Sequential()\nm.compile('sgd', run_eagerly=False)", note="compiled", config=_TF2),
    ),
)  # fmt: skip
def eager_switch(call: Call) -> None:
    """Reports what has functions run eagerly."""
    value = call.value("run_eagerly") if call.name.endswith(".compile") else call.value("run_eagerly", 0)
    if value is not None and call.resolve(value) not in ("False", "None"):
        call.manual("With this every function runs eagerly, on the CPU: take it out where it is not for debugging alone.")


def _tape_in(script: Script, own: Scope) -> cst.Call | None:
    """The gradient tape that a function itself opens."""
    found = (call for call, scope in script.walked.calls if scope.function is own and script.name_of(call.func, scope) == _TAPE)
    return next(found, None)


def _applies_in(script: Script, own: Scope) -> bool:
    """Whether a function, or the code of a module outside of functions, applies gradients itself."""
    function = own if own.kind == "function" else None
    return any(_last(call) in _APPLIES for call, scope in script.walked.calls if scope.function is function)


def _last(call: cst.Call) -> str:
    func: Any = call.func
    return func.attr.value if isinstance(func, cst.Attribute) else getattr(func, "value", "")


@rule(
    id="NPU807",
    title="Function of tf.function inside another",
    on="function",
    why="npu_device takes such a function as plain Python of the one that calls it: its own options have no effect.",
    source="npu_device of TensorFlow 2: as_default() inlines functions that functions call",
    examples=(
        Example.same(
            "@tf.function\ndef f(x):\n    return x\n@tf.function\ndef g(x):\n    return f(x)",
            level="info", config=_TF2, write="def f(x):\n    return x\n@tf.function\ndef g(x):\n    return f(x)",
        ),
        Example.same("@tf.function\ndef f(x):\n    return x\ndef g(x):\n    return f(x)", note="one at a time", config=_TF2),
        Example.same("def f(x):\n    return x\n@tf.function\ndef g(x):\n    return f(x)", note="plain Python", config=_TF2),
    ),
)  # fmt: skip
def nested_function(site: Site) -> None:
    """Names functions of tf.function that others call."""
    script, functions = site.script, graph_functions(site.script)
    own = script.walked.scope_of[id(site.node)]
    if id(own) not in functions:
        return
    for call, scope in script.walked.calls:
        inside = any(id(one) in functions and one is not own for one in scopes_around(scope))
        if inside and any(called is own for called in function_scopes(script, call.func, scope)):
            start = script.tree.span(site.node.name)
            site.fix.site = start
            site.info("Another function of tf.function calls this one: npu_device makes it part of that one.")
            return
