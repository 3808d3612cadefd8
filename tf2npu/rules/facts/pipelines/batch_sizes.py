"""Batches of one size: `drop_remainder=True` where that is proven to be harmless."""

from __future__ import annotations

import libcst as cst

from tf2npu.rules.facts.pipelines.dataset_context import (
    Context,
    context_of,
    feeds_evaluation,
    is_batched_again,
    is_named_for_evaluation,
    smallest_size,
)
from tf2npu.rules.facts.pipelines.dataset_feeds import fed_element
from tf2npu.scanner.sites import Call

_DATASET = "tensorflow.data.Dataset()"
POSITION = {
    f"{_DATASET}.batch": 1,
    f"{_DATASET}.padded_batch": 3,
    "tensorflow.data.experimental.map_and_batch": 3,
}
_VARIABLES = ("tensorflow.Variable()", "tensorflow.get_variable()")
_EVALUATION = (
    "This batch feeds evaluation or prediction: dropping the last, smaller batch would lose examples. "
    "Choose a batch size that divides their number, or pad the data and drop what the padding gives: "
    "ds = ds.concatenate(ds.take(-total % batch_size)).batch(batch_size, drop_remainder=True), then keep `total` results."
)
_INNER = (
    "What this gives is batched or taken apart again further on, so it stays as it is. Pass drop_remainder=True here too if "
    "the NPU's graph has to know this size."
)
_PADDED = (
    "An open size in padded_shapes (None or -1) changes from batch to batch; an NPU compiles the graph again for each new "
    "size, slowly. For speed give fixed sizes."
)
_STAR = "The arguments come out of *args or **kwargs: for training, pass drop_remainder=True."
_UNPROVEN = (
    "If the batches feed training, add drop_remainder=True: an NPU compiles again for a smaller last batch. The converter "
    "cannot tell whether losing the last examples matters (--unsafe-fixes adds it)."
)


def use_one_size(call: Call, context: Context | None = None) -> None:
    """Has a batch that feeds training drop the smaller one at the end of the data, or says why not.

    context: the use of the batch, where the caller knows it.
    """
    if call.has_star_args:
        return call.info(_STAR)
    if call.name.endswith(".padded_batch") and _may_vary(call):
        call.info(_PADDED)
    given = call.arg("drop_remainder", POSITION[call.name])
    value = call.resolve(given.value) if given is not None else "False"
    context = context or context_of(call)
    if value == "True" or (value != "False" and _is_right(call, given, context)):
        return None
    if value != "False":
        return call.info(
            "When this is False the last batch is smaller, and the NPU compiles the graph a second time: write True "
            "unless every example counts."
        )
    if is_batched_again(call):
        return call.info(_INNER)
    wanted = _wanted(call, context)
    if not wanted:
        return call.info(_EVALUATION if context.kind == "eval" else _UNPROVEN)
    fed = fed_element(call.script)
    if fed:
        return call.info(
            f"{fed} gets what this gives and is fed as well, so it stays as it is: with drop_remainder=True only this number of "
            "rows could be fed. Pass it if all that is fed has them, or feed a placeholder and leave the iterator to training."
        )
    if given is None:
        call.add_keyword(f"drop_remainder={wanted}")
    else:
        call.replace(given.value, wanted)
    return call.fixed(_said(context))


def report_unknown(call: Call) -> None:
    """Says what to do with a batch of something that may be a dataset."""
    if call.arg("drop_remainder") is not None or len(call.args) > 4 or not call.args:
        return None
    size = call.value("batch_size", 0)
    if size is not None and call.resolve(size) in _VARIABLES:
        return call.unsupported("A variable must not be part of the input pipeline: use a constant or a placeholder.")
    message = "If this is a tf.data.Dataset that feeds training, pass drop_remainder=True: the NPU wants batches of one size."
    if call.has_star_args:
        return call.info("If this is a tf.data.Dataset: " + _STAR)
    if is_named_for_evaluation(call) or feeds_evaluation(call):
        return call.info("If this is a tf.data.Dataset: " + _EVALUATION)
    return call.info(message)


def _may_vary(call: Call) -> bool:
    """Whether padded shapes are not all given as numbers."""
    shapes = call.value("padded_shapes", 1)
    return shapes is None or not _is_fixed(shapes)


def _is_fixed(node: cst.BaseExpression) -> bool:
    if isinstance(node, (cst.List, cst.Tuple, cst.Dict)):
        return all(_is_fixed(element.value) for element in node.elements)
    return isinstance(node, cst.Integer)


def _wanted(call: Call, context: Context) -> str:
    if context.kind == "endless":
        return "True"
    size, batch = smallest_size(call), call.value("batch_size", 1 if "map_and_batch" in call.name else 0)
    if size is not None and isinstance(batch, cst.Integer) and size < int(batch.value.replace("_", ""), 0):
        return ""
    if context.kind == "train":
        return "True"
    if context.kind == "param":
        return context.parameter
    return "True" if context.kind == "unknown" and call.allows_unsafe() else ""


def _is_right(call: Call, given: cst.Arg | None, context: Context) -> bool:
    """Whether the expression given is the parameter that tells training from evaluation."""
    return given is not None and context.kind == "param" and call.source(given.value) in (context.parameter, *context.others)


def _said(context: Context) -> str:
    if context.kind == "endless":
        return (
            "drop_remainder=True was added, so that an NPU compiles one batch size. The dataset repeats for ever, so that no "
            "example is lost. Nothing is left to do."
        )
    if context.kind == "param":
        return (
            f"Training batches ({context.parameter} is true) all have one size by drop_remainder; evaluation still sees every "
            "example."
        )
    if context.kind == "unknown":
        return "Taken for training data, as --unsafe-fixes asks for: the last, smaller batch of the data is left out."
    return "Training batches all have one size; drop_remainder=True leaves out the last, smaller batch of the data."
