"""Variables that functions of a dataset make or read."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.config import Config
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.pipelines.input_pipeline import dataset_functions
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.sites import Call, Site

_TF2 = Config(dialect="tf2")
_MAKERS = (
    "tensorflow.Variable", "tensorflow.keras.backend.variable", "tensorflow.random.Generator.from_seed",
    "tensorflow.random.Generator.from_non_deterministic_state", "tensorflow.random.get_global_generator",
)  # fmt: skip

_WITHOUT_VARIABLES = frozenset(
    f"{name}()"
    for name in (
        "Rescaling", "Resizing", "CenterCrop", "CategoryEncoding", "Hashing", "Discretization", "StringLookup", "IntegerLookup",
        "TextVectorization", "ZeroPadding1D", "ZeroPadding2D", "Cropping1D", "Cropping2D", "Flatten", "Reshape", "Permute",
        "RepeatVector", "Activation", "Concatenate", "Input",
    )
)  # fmt: skip
"""Layers that compute without variables; those that look words up have tables, which lie on the CPU."""


@rule(
    id="NPU808",
    title="Variable of a dataset's function",
    once=True,
    matches=_MAKERS,
    why="Datasets run on the CPU, and variables made after open() lie on the NPU: a function with both ends with an error.",
    done_when="The script reads a batch on an NPU host; what functions of datasets read was made on the CPU.",
    source="TensorFlow 2 adapter porting guide: variables of preprocessing under context.device('CPU:0')",
    examples=(
        Example.same(
            "def f(x):\n    return x * tf.Variable(2.0)\nd = tf.data.Dataset.range(3).map(f)",
            level="manual", config=_TF2, write="def f(x):\n    return x * 2.0\nd = tf.data.Dataset.range(3).map(f)",
        ),
        Example.same("def f(x):\n    return x * tf.Variable(2.0)\ny = f(a)", note="not of a dataset", config=_TF2),
        Example.same("v = tf.Variable(2.0)\nd = tf.data.Dataset.range(3).map(lambda x: x * 2)", note="not read", config=_TF2),
        Example.same(
            "def show(path):\n    x = tf.image.decode_image(tf.io.read_file(path))\n    return x * tf.Variable(2)\nshow('a.png')",
            note="reads a picture, eagerly", config=_TF2,
        ),
    ),
)  # fmt: skip
def variable_of_dataset(call: Call) -> None:
    """Reports variables that are made where a dataset runs."""
    if _is_in_pipeline(call):
        call.manual(
            "This variable is made where a dataset runs: make it outside of the function, in a block of context.device('CPU:0'), "
            "which tensorflow.python.eager has."
        )


@part_of(
    variable_of_dataset,
    on="module",
    matches=(),
    examples=(
        Example.same(
            "rng = tf.random.Generator.from_seed(1)\nd = tf.data.Dataset.range(3).map(lambda x: rng.normal([2]))",
            level="manual", config=_TF2,
        ),
        Example.same(
            "flip = tf.keras.layers.RandomFlip()\nd = tf.data.Dataset.range(3).map(lambda x: flip(x))",
            level="manual", config=_TF2,
        ),
        Example.same(
            "scale = tf.keras.layers.Rescaling(1 / 255)\nd = tf.data.Dataset.range(3).map(lambda x: scale(x))",
            note="no variable", config=_TF2,
        ),
        Example.same(
            "x = tf.keras.layers.Input([2])\nd = tf.data.Dataset.range(3).map(lambda i: i if x is None else i)",
            note="a tensor", config=_TF2,
        ),
        Example.same(
            "flip = tf.keras.layers.RandomFlip()\ndef net(x):\n    return flip(x)\nd = tf.data.Dataset.range(3).map(lambda x: x)",
            note="in the model", config=_TF2,
        ),
    ),
)  # fmt: skip
def read_by_dataset(site: Site) -> None:
    """Reports variables, generators and layers that functions of datasets read."""
    script, seen = site.script, set()
    for node, scope in script.walked.references if dataset_functions(script) else ():
        root = node
        while isinstance(root, cst.Attribute):
            root = root.value
        if (
            not isinstance(root, cst.Name)
            or not _is_inside(site, scope)
            or (id(scope.lookup_scope(root.value)), root.value) in seen
        ):
            continue
        kind = _state(site, root, scope)
        if kind:
            seen.add((id(scope.lookup_scope(root.value)), root.value))
            one = Site(script, site.fix.rule, root, scope, "")
            one.manual(
                f"A dataset's function reads {root.value}, {kind}: make it in a block of context.device('CPU:0'), which "
                "tensorflow.python.eager has."
            )
            site.fix.findings += one.fix.findings
            site.fix.site = one.fix.site


def _state(site: Site, root: cst.Name, scope: Scope) -> str:
    """The kind of state that a name holds, as a sentence has it; empty where it holds none."""
    name = site.script.name_of(root, scope) or ""
    if name == "tensorflow.Variable()":
        return "a variable"
    made: Any = scope.lookup(root.value)
    node = made[0].node if len(made) == 1 and made[0].kind == "value" else None
    maker = site.script.name_of(node.func, made[0].scope) if isinstance(node, cst.Call) else None
    if maker is not None and maker.startswith("tensorflow.random.Generator."):
        return "a generator with a variable"
    is_layer = name.startswith("tensorflow.keras.layers.") and name.rpartition(".")[2] not in _WITHOUT_VARIABLES
    if is_layer or name in ("tensorflow.keras.Sequential()", "tensorflow.keras.Model()"):
        return "which may hold variables"
    return ""


def _is_in_pipeline(site: Site) -> bool:
    return _is_inside(site, site.scope)


def _is_inside(site: Site, scope: Scope) -> bool:
    functions = dataset_functions(site.script)
    around: Scope | None = scope
    while around is not None:
        if id(around) in functions:
            return True
        around = around.parent
    return False
