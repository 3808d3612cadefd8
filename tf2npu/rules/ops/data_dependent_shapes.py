"""Ops whose result has as many elements as the data decides."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.input_pipeline import in_pipeline, looks_like_input
from tf2npu.scanner.sites import Call

_INSTEAD = {
    "boolean_mask": "x * tf.cast(mask, x.dtype), and divide by tf.reduce_sum(mask) where a mean is taken",
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


@rule(
    id="NPU921",
    title="Shapes that depend on the data",
    matches=tuple(f"tensorflow.{name}" for name in _INSTEAD),
    why="The graph is compiled for fixed shapes: such an op makes everything behind it dynamic, which is slow or not supported.",
    done_when="The shape of the result prints with a number for every dimension but that of the batch.",
    source="TensorFlow adapter porting guide: dynamic shapes; shape functions of TensorFlow 1.15's ops",
    examples=(
        Example.same("y = tf.boolean_mask(x, m)", level="manual", write="y = x * tf.cast(m, x.dtype)"),
        Example.same("i = tf.where(c)", level="manual"),
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
    message = f"The shape of the result depends on the data. Write {_INSTEAD[name]}; or move it into the input pipeline."
    if in_pipeline(call):
        return
    if looks_like_input(call.script):
        call.info(f"If this is no part of the input pipeline: {message}")
    else:
        call.manual(message)
