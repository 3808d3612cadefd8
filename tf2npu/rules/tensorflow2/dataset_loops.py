"""Loops over datasets inside functions, which TensorFlow makes part of the input pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from tf2npu.config import Config
from tf2npu.frameworks.tensorflow1.api_return_types import DATASET
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.pipelines.input_pipeline import function_scopes, pipeline_functions
from tf2npu.rules.facts.training.graph_functions import graph_functions, is_traced, scopes_around
from tf2npu.rules.facts.training.loops import arguments_of, trains
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site

_TF2 = Config(dialect="tf2")
_DATA = "ds = tf.data.Dataset.range(9).batch(3, drop_remainder=True)\n"
_EPOCH = "def epoch(data):\n    for x in data:\n        step(x)\n"
_STEP = "def step(x):\n    with tf.GradientTape() as t:\n        l = loss(x)\n    o.apply_gradients(zip(t.gradient(l, v), v))\n"


@rule(
    id="NPU820",
    title="Loop over a dataset in a function",
    on="module",
    why="Inside a function such a loop is one operation of the input pipeline, which runs on the CPU with all that stands in it.",
    done_when="The log of a run names the function with the loop's body among those on the device.",
    source="tf.autograph of TensorFlow 2: datasets are looped over by scan and reduce; TensorFlow 2 adapter porting guide: "
    "datasets run on the host, and variables on the NPU",
    examples=(
        Example.same(
            f"{_DATA}{_STEP}@tf.function\n{_EPOCH}epoch(ds)", level="manual", config=_TF2,
            write=f"{_DATA}@tf.function\n{_STEP}{_EPOCH}epoch(ds)",
        ),
        Example.same(
            f"{_DATA}@tf.function\ndef total():\n    s = tf.constant(0, tf.int64)\n    for i, x in enumerate(ds):\n"
            "        s += tf.reduce_sum(x)\n    return s", note="trains nothing", level="info", config=_TF2,
        ),
        Example.same(f"{_DATA}@tf.function\n{_STEP}{_EPOCH}epoch(ds)", note="loops outside", config=_TF2),
        Example.same(
            f"{_DATA}{_STEP}@tf.function\ndef f(it):\n    for _ in tf.range(3):\n        step(next(it))\nf(iter(ds))",
            note="an iterator, of which NPU811 tells", config=_TF2,
        ),
        Example.same("xs = [1, 2]\n@tf.function\ndef f(a):\n    for x in a:\n        g(x)\nf(xs)", note="a list", config=_TF2),
        Example.same(f"{_DATA}y = ds.map(f)\n@tf.function\ndef g(x):\n    return x", config=_TF2),
    ),
)  # fmt: skip
def dataset_loop(site: Site) -> None:
    """Reports loops of a function that go over a dataset."""
    script = site.script
    for loop, scope in _loops(script) if graph_functions(script) else ():
        one = Site(script, site.fix.rule, loop.iter, scope)
        start, end = script.tree.span(loop.body)
        if any(trains(script, call, inner) for call, inner in script.calls_in(start, end)):
            one.manual(
                "Nothing of this loop runs on the NPU, where its variables are: put its body into a function with @tf.function, "
                "and call that in a loop outside of any function; or loop with for _ in tf.range(steps) and next(iterator)."
            )
        else:
            one.info(
                "This loop runs on the CPU, as all of a dataset does. On the NPU is what a loop outside of a function calls."
            )
        site.fix.findings += one.fix.findings
    site.fix.site = (0, 0)


def _loops(script: Script) -> Iterator[tuple[cst.For, Scope]]:
    """Loops of functions that are traced, and no part of a pipeline themselves, over datasets."""
    pipelines = pipeline_functions(script)
    for node, scope in (*script.walked.references, *script.walked.calls):
        loop: Any = script.walked.parents.get(id(node))
        if not isinstance(loop, cst.For) or loop.iter is not node or scope.function is None:
            continue
        is_on_host = any(id(own) in pipelines for own in scopes_around(scope))
        if not is_on_host and is_traced(script, scope) and any(_is_dataset(script, one, scope) for one in _looped(node)):
            yield loop, scope


def _looped(node: Any) -> list[Any]:
    """The nodes that a loop goes over; enumerate and zip inside of a function give a dataset for datasets."""
    is_around = isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in ("enumerate", "zip")
    return [arg.value for arg in node.args] if is_around else [node]


def _is_dataset(script: Script, node: Any, scope: Scope) -> bool:
    """Whether an expression is a dataset, or a parameter for which a call in the file hands one over."""
    if script.name_of(node, scope) == DATASET:
        return True
    own: Any = scope.lookup_scope(node.value) if isinstance(node, cst.Name) else None
    if own is None or own.kind != "function":
        return False
    return any(
        parameter == node.value and script.name_of(value, outer) == DATASET
        for call, outer in script.walked.calls
        if _may_call(script, call.func, outer, own)
        for parameter, value in arguments_of(call, own)
    )


def _may_call(script: Script, func: Any, scope: Scope, own: Scope) -> bool:
    """Whether a call runs a function of the file: the one that it names, or a method of that name of an object."""
    function: Any = own.node
    is_method = isinstance(func, cst.Attribute) and own.parent is not None and own.parent.kind == "class"
    if is_method and isinstance(function, cst.FunctionDef) and func.attr.value == function.name.value:
        return True
    return any(called is own for called in function_scopes(script, func, scope))
