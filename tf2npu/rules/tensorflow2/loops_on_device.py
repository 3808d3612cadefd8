"""Loops over an iterator inside a function, which the vendor's device takes over with a number of turns of its own."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.config import Config
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.constant_values import integer_of
from tf2npu.rules.facts.training.graph_functions import is_traced
from tf2npu.rules.facts.written_code import given
from tf2npu.scanner.sites import Call

_TF2 = Config(dialect="tf2")
_COMPILES = tuple(f"{model}.compile" for model in ("tensorflow.keras.Model()", "tensorflow.keras.Sequential()"))
_SAME = (
    "The NPU runs such a loop NPU_LOOP_SIZE times, whatever the script says: set NPU_LOOP_SIZE to the same number ({}), as with "
    "1, the default, the vendor trains one step a call. Where fewer steps are left at the end, call npu.set_npu_loop_size(rest) "
    "before them."
)


@rule(
    id="NPU811",
    title="Loop over an iterator on the NPU",
    matches=("tensorflow.range",),
    why="The vendor's device takes the loop out and runs its body NPU_LOOP_SIZE times: without it one step is trained a call.",
    done_when="NPU_LOOP_SIZE, or npu.set_npu_loop_size(), has the number of steps of the loop.",
    source="TensorFlow 2 adapter porting guide: NPU_LOOP_SIZE and set_npu_loop_size",
    examples=(
        Example.same(
            "@tf.function\ndef train(it):\n    for _ in tf.range(10):\n        step(next(it))", level="manual", config=_TF2,
            write="def train(it):\n    for _ in range(10):\n        step(next(it))",
        ),
        Example.same("@tf.function\ndef f(xs):\n    for i in tf.range(10):\n        g(xs[i])", note="no iterator", config=_TF2),
        Example.same("def train(it):\n    for _ in range(10):\n        step(next(it))", note="a loop of Python", config=_TF2),
    ),
)  # fmt: skip
def loop_over_iterator(call: Call) -> None:
    """Reports loops of a function that take elements from an iterator."""
    script = call.script
    loop: Any = script.walked.parents.get(id(call.node))
    if not isinstance(loop, cst.For) or loop.iter is not call.node or not is_traced(script, call.scope):
        return
    start, end = script.tree.span(loop.body)
    if any(_takes_next(call, node) for node, _ in script.calls_in(start, end)):
        call.manual(_SAME.format(", ".join(call.source(arg.value) for arg in call.args)))


def _takes_next(call: Call, node: cst.Call) -> bool:
    func: Any = node.func
    last = func.attr.value if isinstance(func, cst.Attribute) else getattr(func, "value", "")
    return last in ("next", "get_next", "get_next_as_optional")


@part_of(
    loop_over_iterator,
    matches=_COMPILES,
    examples=(
        Example.same("m = tf.keras.Sequential()\nm.compile('sgd', 'mse', steps_per_execution=4)", level="manual", config=_TF2),
        Example.same("m = tf.keras.Sequential()\nm.compile('sgd', 'mse', steps_per_execution=1)", note="no loop", config=_TF2),
        Example.same("m = tf.keras.Sequential()\nm.compile('sgd', 'mse')", config=_TF2),
    ),
)
def steps_per_execution(call: Call) -> None:
    """Reports Keras models that train several steps in a call."""
    value = call.value("steps_per_execution")
    if value is not None and integer_of(value, call.scope) != 1 and call.resolve(value) != "None":
        call.manual(_SAME.format(given(call, "steps_per_execution")))


@part_of(
    loop_over_iterator,
    on="unknown_method",
    matches=("compile",),
    examples=(
        Example.same("def f(m):\n    m.compile('sgd', 'mse', steps_per_execution=4)", level="manual", config=_TF2),
        Example.same("def f(m):\n    m.compile('sgd', 'mse')", config=_TF2),
    ),
)
def steps_of_unknown(call: Call) -> None:
    """Reports the same of models that are not followed."""
    steps_per_execution(call)
