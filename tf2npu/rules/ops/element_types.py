"""Element types that the NPU does not have."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.constant_values import text_of
from tf2npu.rules.facts.pipelines.input_pipeline import in_pipeline, looks_like_input
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.sites import Call, Site, parameter_of

_TYPES = ("float64", "double", "complex64", "complex128")
_OPTIMIZER = re.compile(r"tensorflow\.train\.\w+Optimizer")
"""Optimizers of TensorFlow 1.15: each casts its learning rate to the type of the variable that it changes."""
_WITH_FLOAT32 = ("float64", "double")
"""Types in the place of which float32 stands."""
_MAKERS = {"to_double": "tf.cast(x, tf.float32)", "complex": "two real tensors", "to_complex64": "two real tensors"}
# Position of the element type, where it may be given as a text.  Source: signatures of TensorFlow 1.15.
_DTYPE_AT = {
    "cast": 1, "placeholder": 0, "constant": 1, "zeros": 1, "ones": 1, "get_variable": 2, "Variable": 4, "convert_to_tensor": 1,
    "placeholder_with_default": None, "random_normal": 3, "random_uniform": 3, "range": None, "zeros_like": 1, "ones_like": 1,
    "keras.backend.set_floatx": 0,
}  # fmt: skip


def _advice(kind: str) -> str:
    if kind.startswith("complex"):
        return f"{kind} does not exist on the NPU: compute with two real float32 tensors, or leave this part to the host."
    return (
        f"The NPU has no {kind}: ops of that type run on the host, which is slow. Write tf.float32 here, and np.float32 for "
        "arrays that are fed."
    )


def _say(site: Site, message: str, write: str = "") -> None:
    """A file that prepares data runs on the host more often than not."""
    if looks_like_input(site.script):
        site.info(f"If the op is outside of a tf.data pipeline: {message}")
    else:
        site.manual(message, write)


@rule(
    id="NPU920",
    title="float64 and complex numbers",
    once=True,
    on="reference",
    matches=tuple(f"tensorflow.{kind}" for kind in _TYPES),
    why="The NPU computes in float32 and float16: ops on float64 or complex numbers stay on the host and cut the graph.",
    done_when="Nothing made here is float64 or complex, and the summary of `tf2npu run` names no such node on the host.",
    source="TensorFlow adapter porting guide: float64, complex64, complex128 and DT_VARIANT are not supported",
    examples=(
        Example.same("x = tf.placeholder(tf.float64, [2])", level="manual", write="x = tf.placeholder(tf.float32, [2])"),
        Example(
            "rate = tf.placeholder(tf.float64, [])\ntrain = tf.train.AdamOptimizer(learning_rate=rate).minimize(y)\n"
            "s.run(train, {rate: 0.1})",
            "rate = tf.placeholder(tf.float32, [])\ntrain = tf.train.AdamOptimizer(learning_rate=rate).minimize(y)\n"
            "s.run(train, {rate: 0.1})",
            note="optimizers cast their rate to the type of the variables",
        ),
        Example.same(
            "rate = tf.placeholder(tf.float64, [])\ntrain = tf.train.AdamOptimizer(rate * 2).minimize(y)",
            note="computed with",
            level="manual",
        ),
        Example.same(
            "def total(y):\n    t = metric_variable([2, 2], tf.float64, name='t')\n"
            "    return t, tf.assign_add(t, tf.cast(y, tf.float64))",
            note="a metric",
            level="info",
        ),
        Example.same("x = tf.placeholder(tf.float32, [2])", note="the NPU's own type"),
        Example.same("is_float = dtype == tf.float64", note="only compared"),
        Example.same("d = tf.data.Dataset.range(3).map(lambda i: tf.cast(i, tf.float64))", note="the pipeline runs on the host"),
    ),
)
def double_type(site: Site) -> None:
    """Reports element types that the NPU does not have, and gives placeholders of learning rates the type of the variables."""
    parent = site.script.walked.parents.get(id(site.node))
    if not in_pipeline(site) and not isinstance(parent, (cst.Comparison, cst.ComparisonTarget)):
        kind, written = site.name.rpartition(".")[2], site.source(site.node)
        is_real = kind in _WITH_FLOAT32 and written.endswith(f".{kind}")
        if is_real and _is_of_rate(site):
            site.replace(site.node.attr, "float32")
            return site.fixed(
                "The learning rate is float32 now, as the NPU has no float64; the optimizer casts the rate to the variables' "
                "type anyhow. Nothing is left to do."
            )
        if kind in _WITH_FLOAT32 and _is_of_metric(site):
            return site.info(
                "A metric in float64 runs on the host. Networks of the vendor's model zoo keep theirs so (DeeplabV3_ID0047): the "
                "training of the model does not wait for it."
            )
        return _say(site, _advice(kind), f"{written.removesuffix(kind)}float32" if is_real else "")


def _is_of_metric(site: Site) -> bool:
    """Whether a type is that of a metric's variable, which TensorFlow's own metrics make of float64 as well."""
    for ancestor in site.script.walked.ancestors(site.node):
        if isinstance(ancestor, cst.Call) and site.source(ancestor.func).rpartition(".")[2] == "metric_variable":
            return True
    function: Any = site.scope.function
    made = function is not None and any(
        site.source(call.func).rpartition(".")[2] == "metric_variable"
        for call, _ in site.script.calls_in(*site.script.tree.span(function.node))
    )
    return bool(made)


def _is_of_rate(site: Site) -> bool:
    """Whether a type is that of a placeholder which optimizers get as their rate and which is fed, and nothing else."""
    walked = site.script.walked
    arg: Any = walked.parents.get(id(site.node))
    made: Any = walked.parents.get(id(arg))
    assigned: Any = walked.parents.get(id(made))
    if (
        not isinstance(made, cst.Call)
        or site.resolve(made.func) != "tensorflow.placeholder"
        or not isinstance(assigned, cst.Assign)
    ):
        return False
    target = assigned.targets[0].target
    if len(assigned.targets) != 1 or not isinstance(target, (cst.Name, cst.Attribute)):
        return False
    written = site.source(target)
    uses = [(n, s) for n, s in walked.references if site.source(n) == written or site.source(n).startswith(f"{written}.")]
    return len(uses) > 1 and all(_only_sets_rate(site, node, scope) for node, scope in uses if node is not target)


def _only_sets_rate(site: Site, node: cst.CSTNode, scope: Scope) -> bool:
    holder: Any = site.script.walked.parents.get(id(node))
    if isinstance(holder, cst.DictElement):
        return holder.key is node
    call: Any = site.script.walked.parents.get(id(holder)) if isinstance(holder, cst.Arg) else None
    if not isinstance(call, cst.Call):
        return False
    is_optimizer = _OPTIMIZER.fullmatch(site.script.name_of(call.func, scope) or "") is not None
    return is_optimizer and parameter_of(call, holder, ("learning_rate",)) == "learning_rate"


@part_of(
    double_type,
    matches=tuple(f"tensorflow.{name}" for name in (*_DTYPE_AT, *_MAKERS)),
    examples=(
        Example.same("x = tf.cast(y, 'float64')", level="manual"),
        Example.same("tf.keras.backend.set_floatx('float64')", level="manual"),
        Example.same("x = tf.cast(y, 'float32')", note="the NPU's own type"),
    ),
)
def double_call(call: Call) -> None:
    """Reports calls that make float64 or complex tensors."""
    name = call.name.removeprefix("tensorflow.")
    if name in _MAKERS:
        if not in_pipeline(call):
            _say(call, f"The result does not exist on the NPU: write {_MAKERS[name]}.")
        return
    value = call.value("dtype" if name != "keras.backend.set_floatx" else "value", _DTYPE_AT[name])
    kind = text_of(value, call.scope) if value is not None else None
    if kind in _TYPES and not in_pipeline(call):
        _say(call, _advice(kind))
