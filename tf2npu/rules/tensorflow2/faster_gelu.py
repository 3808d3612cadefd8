"""GELUs of scripts for TensorFlow 2, of which npu_device has a faster one."""

from __future__ import annotations

import re

import libcst as cst

from tf2npu.config import Config
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.gelu_function import formula_of
from tf2npu.scanner.sites import Call, Site

_TF2 = Config(dialect="tf2")
_FASTER = (
    "npu.ops.gelu is one operator of the NPU, in functions and models: x sigmoid(1.702 x), which differs from GELU by up to "
    "0.021. It can stand here where training bears that."
)
_HINT = re.compile(r"\b(?:tanh|erfc?)\b")
_LAYERS = tuple(
    f"tensorflow.keras.layers.{name}" for name in ("Activation", "Dense", "Conv1D", "Conv2D", "EinsumDense", "SeparableConv2D")
)


@rule(
    id="NPU818",
    title="GELU in TensorFlow 2",
    on=("call", "reference"),
    matches=("tensorflow.nn.gelu", "tensorflow.keras.activations.gelu"),
    why="The NPU has an operator for an approximation of GELU; TensorFlow's is several operators, forward and backward.",
    source="npu_device.ops.gelu: FastGelu; Hendrycks and Gimpel, arXiv 1606.08415, for its formula",
    examples=(
        Example.same("y = tf.nn.gelu(x)", level="info", config=_TF2, write="y = npu_device.ops.gelu(x)"),
        Example.same("layer = tf.keras.layers.Activation(tf.keras.activations.gelu)", level="info", config=_TF2),
        Example.same("y = tf.nn.relu(x)", note="another activation", config=_TF2),
        Example.same("y = mine.gelu(x)", note="not TensorFlow's", config=_TF2),
    ),
)
def faster_gelu(site: Site) -> None:
    """Names GELUs of TensorFlow and Keras."""
    site.info(_FASTER)


@part_of(
    faster_gelu,
    on="call",
    matches=_LAYERS,
    examples=(
        Example.same("layer = tf.keras.layers.Activation('gelu')", level="info", config=_TF2),
        Example.same("layer = tf.keras.layers.Dense(4, activation='gelu')", level="info", config=_TF2),
        Example.same("layer = tf.keras.layers.Dense(4, activation='relu')", config=_TF2),
    ),
)
def gelu_by_its_name(call: Call) -> None:
    """Names layers that ask for GELU by its name."""
    value = call.value("activation", 0 if call.name.endswith(".Activation") else 1 if call.name.endswith(".Dense") else None)
    if value is not None and call.source(value).strip("'\"") == "gelu":
        call.info(_FASTER)


@part_of(
    faster_gelu,
    on="function",
    matches=(),
    examples=(
        Example.same("def gelu(x):\n    return 0.5 * x * (1.0 + tf.math.erf(x / tf.sqrt(2.0)))", level="info", config=_TF2),
        Example.same(
            "def gelu(x):\n    cdf = 0.5 * (1.0 + tf.tanh(0.7978845608 * (x + 0.044715 * tf.pow(x, 3))))\n    return x * cdf",
            level="info", config=_TF2,
        ),
        Example.same("def gate(x):\n    return x * tf.tanh(x)", note="another function", config=_TF2),
    ),
)  # fmt: skip
def gelu_written_out(site: Site) -> None:
    """Names functions that compute GELU."""
    node: cst.FunctionDef = site.node
    if not _HINT.search(site.source(node.body)):
        return
    formula = formula_of(site, node, site.script.walked.scope_of[id(node)])
    if formula is not None and formula.kind():
        start, end = site.script.tree.span(node.name)
        site.fix.site = (start, end)
        site.info(_FASTER)
