"""Gradients of float64, which come from whole numbers that numpy divides."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.config import Config
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.files.script_kinds import is_unit_test
from tf2npu.scanner.sites import Call
from tf2npu.scanner.tree_walk import dotted_name

_TF = Config(distributed="tf", select=frozenset({"NPU426"}))
_DATASETS = tuple(f"tensorflow.keras.datasets.{name}.load_data" for name in ("mnist", "fashion_mnist", "cifar10", "cifar100"))
_READERS = (
    "tensorflow.estimator.inputs.numpy_input_fn", "tensorflow.data.Dataset.from_tensor_slices",
    "tensorflow.data.Dataset.from_tensors",
)  # fmt: skip
_CAST = re.compile(r"float32|float16|to_float\(|set_floatx")
_HEAD = "from tensorflow import keras\nimport tensorflow as tf\n(x, y), (a, b) = keras.datasets.mnist.load_data()\n"
_READ = "\nf = tf.estimator.inputs.numpy_input_fn({'x': x}, y)"


@rule(
    id="NPU426",
    title="Gradients of float64",
    matches=_DATASETS,
    why="Whole numbers divided by numpy are float64, and so become the layers that read them; HCCL averages no float64.",
    done_when="The dtype of what is fed or read prints as float32, and no variable of the model is float64.",
    source="npu_bridge.hccl.hccl_ops.allreduce: int8, int16, int32, int64, float16, float32, bfloat16; numpy.true_divide",
    examples=(
        Example.same(
            f"{_HEAD}x = x / 255.0{_READ}",
            config=_TF,
            level="manual",
            write=f"import numpy as np\n{_HEAD}x = (x / 255.0).astype(np.float32){_READ}",
        ),
        Example.same(f"{_HEAD}x = x.reshape(-1, 784) / 255{_READ}", config=_TF, level="manual"),
        Example.same(f"{_HEAD}x = x / 255.0{_READ}", note="one device"),
        Example.same(f"{_HEAD}x = x // 2{_READ}", note="whole numbers stay whole", config=_TF),
        Example.same(
            f"{_HEAD}x = x / 255.0{_READ}\ndef model_fn(features):\n    return tf.cast(features['x'], tf.float32)",
            note="cast in the model",
            config=_TF,
        ),
    ),
)
def double_gradients(call: Call) -> None:
    """Reports images that become float64, and the model's gradients with them."""
    script = call.script
    if script.config.distributed == "none" or is_unit_test(script) or _CAST.search(script.text):
        return
    if not any(script.name_of(node.func, scope) in _READERS for node, scope in script.walked.calls):
        return  # what is fed, and what Keras reads, is cast
    names = _images(call)
    for node, scope in script.walked.references:
        division = _division(call, node) if dotted_name(node).partition(".")[0] in names else None
        if division is not None and scope is call.scope:
            call.fix.site = script.tree.span(division)
            call.manual(
                "Whole numbers divided by numpy are float64, and so are then the model's variables and gradients, which HCCL "
                f"does not average. Write ({call.source(division)}).astype(np.float32)."
            )


def _images(call: Call) -> set[str]:
    """Names that get the images, the first of each pair."""
    assign: Any = call.script.walked.parents.get(id(call.node))
    target = assign.targets[0].target if isinstance(assign, cst.Assign) else None
    pairs = [element.value for element in target.elements] if isinstance(target, cst.Tuple) else []
    firsts = [pair.elements[0].value for pair in pairs if isinstance(pair, cst.Tuple)]
    return {first.value for first in firsts if isinstance(first, cst.Name)}


def _division(call: Call, name: cst.BaseExpression) -> cst.BinaryOperation | None:
    """The division by a number of an array, or of the array in another shape."""
    below: cst.CSTNode = name
    for ancestor in call.script.walked.ancestors(name):
        if isinstance(ancestor, cst.BinaryOperation):
            is_divided = isinstance(ancestor.operator, cst.Divide) and ancestor.left is below
            return ancestor if is_divided and isinstance(ancestor.right, (cst.Integer, cst.Float)) else None
        if isinstance(ancestor, cst.Call) and not _keeps_type(ancestor):
            return None
        if not isinstance(ancestor, (cst.Attribute, cst.Call, cst.Arg)):
            return None
        below = ancestor
    return None


def _keeps_type(call: cst.Call) -> bool:
    name: Any = getattr(call.func, "attr", None)
    return name is not None and name.value in ("reshape", "expand_dims", "transpose")
