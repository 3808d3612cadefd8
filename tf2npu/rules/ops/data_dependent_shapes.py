"""Ops whose result has as many elements as the data decides."""

from __future__ import annotations

import re

from tf2npu.frameworks.tensorflow1.scripts import tensorflow_name
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.pipelines.input_pipeline import in_pipeline, looks_like_input
from tf2npu.rules.facts.written_code import called, can_be_repeated, given
from tf2npu.scanner.sites import Call

_INSTEAD = {
    "boolean_mask": "tf.where(mask, x, tf.zeros_like(x)) (with a mask of x's rank; divide means by the number that is kept)",
    "where": "tf.where(condition, x, tf.zeros_like(x)), which keeps the shape of x",
    "unique": "tf.data.experimental.unique() in the pipeline, or pad to a fixed length",
    "unique_with_counts": "tf.math.unsorted_segment_sum over a fixed number of segments",
    "setdiff1d": "a mask of fixed length",
    "dynamic_partition": "tf.where with masks in the place of partitions",
    "image.non_max_suppression": "tf.image.non_max_suppression_padded(..., pad_to_max_output_size=True)",
    "bincount": "tf.math.unsorted_segment_sum with a fixed number of segments",
    "sparse_to_dense": "tf.scatter_nd with a static output shape",
    "sparse.to_dense": "tf.scatter_nd with a static output shape",
    "sparse_tensor_to_dense": "tf.scatter_nd with a static output shape",
}

_SEEN = {
    "boolean_mask": "EastV2_ID1404, PixelLink_ID3056",
    "where": "CTPN_ID0053, RANDLA-NET_ID0850",
    "unique": "Elmo_ID0656",
    "unique_with_counts": "Gitloss_ID1277, Discriminate_Loss_Function_ID1093",
    "sparse.to_dense": "VGAE_ID2868",
    "sparse_tensor_to_dense": "VGAE_ID2868",
}
"""Networks whose training has the op in its graph, on the NPU and without mix_compile_mode.

Source: the ModelZoo-TensorFlow repository, where their record says FuncStatus and PrecisionStatus OK; the published list has
all of these ops but those of sparse tensors as supported without a remark.
"""
_MASKED = (
    "keep = {tf}.reshape({mask}, {tf}.concat([{tf}.shape({mask}), {tf}.ones_like({tf}.shape({x})[{tf}.rank({mask}):])], 0))"
    "  # {x}'s rank\n"
    "kept = {tf}.where({tf}.broadcast_to(keep, {tf}.shape({x})), {x}, {tf}.zeros_like({x}))"
)
"""Zeros in the place of what a mask leaves out, also where the mask has fewer dimensions: tf.where of 1.15 takes one or all."""
_NAMES = re.compile(r"\b(?:keep|kept|values)\b")
"""Names that the code gives, and that may mean something else where they are used."""
_DENSE = ("sparse.to_dense", "sparse_tensor_to_dense")
_MOST_BY_POSITION = 5
"""Arguments that non_max_suppression and non_max_suppression_padded of TensorFlow 1.15 have in the same order."""


@rule(
    id="NPU921",
    title="Shapes that depend on the data",
    matches=tuple(f"tensorflow.{name}" for name in _INSTEAD),
    why="The graph is compiled for fixed shapes: such an op makes everything behind it dynamic, which is slow or not supported.",
    done_when="The shape of the result prints with a number for every dimension but that of the batch.",
    source="TensorFlow adapter porting guide: dynamic shapes; shape functions of TensorFlow 1.15's ops",
    examples=(
        Example.same(
            "y = tf.boolean_mask(x, m)",
            note="seen to train on the NPU",
            level="info",
            write="y = tf.where(m, x, tf.zeros_like(x))",
        ),
        Example.same("i = tf.where(c)", note="seen to train on the NPU", level="info"),
        Example.same("d = tf.setdiff1d(a, b)", level="manual"),
        Example.same("y = tf.where(c, a, b)", note="as many elements as a"),
        Example.same("d = tf.data.Dataset.range(3).filter(lambda x: tf.size(tf.where(x)) > 0)", note="runs on the host"),
    ),
)
def data_dependent_shape(call: Call) -> None:
    """Reports ops whose result has as many elements as the data decides."""
    name = call.name.removeprefix("tensorflow.")
    if name == "where" and (call.has_star_args or call.arg("x", 1) is not None):
        return
    if name == "bincount" and call.arg("minlength", 2) is not None and call.arg("maxlength", 3) is not None:
        return
    message = (
        f"The result's shape depends on the data, which is slow or unsupported on an NPU. Write {_INSTEAD[name]}; or move the op "
        "into the tf.data pipeline, which runs on the host."
    )
    if in_pipeline(call):
        return
    if name in _SEEN:
        call.info(
            f"The result's shape depends on the data. An NPU trains with such ops (as the vendor's {_SEEN[name]} do), but "
            f"slowly. For speed write {_INSTEAD[name]}, or move the op into tf.data.",
            _code(call, name),
        )
    elif looks_like_input(call.script):
        call.info(f"If the op is outside of a tf.data pipeline: {message}")
    else:
        call.manual(message, _code(call, name))


def _code(call: Call, name: str) -> str:
    """Code with a fixed shape, with the arguments that are given here; "" where they do not tell enough."""
    tf = tensorflow_name(call.script) or ("array_ops" if call.source(call.node.func) == "array_ops.where" else "")
    if not tf or call.has_star_args:
        return ""
    if name == "boolean_mask":
        return _masked(call, tf)
    if name == "where" and (condition := given(call, "condition", 0)):
        return f"{tf}.where({condition}, x, {tf}.zeros_like(x))  # x: what is taken from these places"
    if name == "image.non_max_suppression" and len(call.positional_args) <= _MOST_BY_POSITION:
        padded = called(call, f"{tf}.image.non_max_suppression_padded").rstrip().removesuffix(")").rstrip().removesuffix(",")
        return f"selected, n_selected = {padded}, pad_to_max_output_size=True)" if padded else ""
    if name in _DENSE and can_be_repeated(call.value("sp_input", 0)):
        sparse = given(call, "sp_input", 0)
        return f"{tf}.scatter_nd({sparse}.indices, {sparse}.values, shape)  # shape: a list of numbers"
    return ""


def _masked(call: Call, tf: str) -> str:
    """The tensor with zeros in the place of what the mask leaves out; "" for a mask of other dimensions than the first ones."""
    x, mask = given(call, "tensor", 0), given(call, "mask", 1)
    if not x or not mask or call.arg("axis", 3) is not None or _NAMES.search(f"{x} {mask}"):
        return ""
    lines = []
    if not can_be_repeated(call.value("mask", 1)):
        lines.append(f"keep = {mask}")
        mask = "keep"
    if not can_be_repeated(call.value("tensor", 0)):
        lines.append(f"values = {x}")
        x = "values"
    return "\n".join([*lines, _MASKED.format(tf=tf, x=x, mask=mask)])
