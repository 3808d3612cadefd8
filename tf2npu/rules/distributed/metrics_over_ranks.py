"""Metrics averaged over the ranks."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.config import Config
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.files.script_kinds import is_unit_test
from tf2npu.scanner.sites import Call

_TF = Config(distributed="tf")
_MEANS = ("accuracy", "mean", "mean_absolute_error", "mean_squared_error", "percentage_below")
_OTHERS = (
    "auc", "precision", "recall", "mean_iou", "mean_per_class_accuracy", "root_mean_squared_error", "precision_at_k",
    "recall_at_k", "average_precision_at_k", "mean_cosine_distance", "mean_relative_error", "false_negatives",
    "false_positives", "true_negatives", "true_positives",
)  # fmt: skip


@rule(
    id="NPU420",
    title="Metrics over all ranks",
    matches=tuple(f"tensorflow.metrics.{name}" for name in (*_MEANS, *_OTHERS)),
    why="Every rank evaluates its own part of the data, so its metric is that of a part.",
    done_when="With `tf2npu run --devices 2` the metric is that of one process over all the data.",
    source="npu_bridge.npu_init.npu_allreduce; TensorFlow adapter porting guide: ResNet-50, distributed evaluation",
    examples=(
        Example(
            "def model_fn(labels, p):\n    accuracy = tf.metrics.accuracy(labels, p)\n    return accuracy",
            "def model_fn(labels, p):\n    accuracy = tf.metrics.accuracy(labels, p)\n"
            "    accuracy = (npu_allreduce(accuracy[0]), accuracy[1])\n    return accuracy",
            config=_TF,
        ),
        Example.same("m = {'auc': tf.metrics.auc(labels, p)}", note="no mean of means", config=_TF, level="manual"),
        Example.same("accuracy = tf.metrics.accuracy(labels, p)", note="one device"),
    ),
)
def metric_over_ranks(call: Call) -> None:
    """Averages a metric over the ranks."""
    if call.script.config.distributed != "tf" or is_unit_test(call.script):
        return None
    assign: Any = call.script.walked.parents.get(id(call.node))
    line = call.script.walked.parents.get(id(assign))
    target = assign.targets[0].target if isinstance(assign, cst.Assign) and len(assign.targets) == 1 else None
    is_mean = call.name.rpartition(".")[2] in _MEANS
    if not is_mean or not isinstance(target, cst.Name) or not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return call.manual(_BY_HAND if is_mean else _NOT_A_MEAN)
    name = target.value
    if f"({name}[0])" in call.script.text or not _is_read(call, name):
        return None  # done already, or only the update is run
    start, end = call.script.tree.span(line)
    last = start + len(call.script.text[start:end].rstrip())
    indent = call.script.text[call.script.lines.line_start(start) : start]
    added = f"{name} = ({call.need('npu_allreduce')}({name}[0]), {name}[1])"
    call.insert(call.script.lines.line_end(last), f"{call.script.newline_at(start)}{indent}{added}")
    return call.fixed("The metric is the mean over all ranks; exact when all evaluate the same number of examples.")


def _is_read(call: Call, name: str) -> bool:
    """Whether anything but the update of a metric, `name[1]`, is used of it."""
    walked, owner = call.script.walked, call.scope.lookup_scope(name)
    uses = [n for n, s in walked.references if isinstance(n, cst.Name) and n.value == name and s.lookup_scope(name) is owner]
    updates = [use for use in uses if call.source(walked.parents[id(use)]) == f"{name}[1]"]
    return len(updates) < len(uses) or not uses


_BY_HAND = "Average it over the ranks: value, update = this metric; (npu_allreduce(value), update) in its place."
_NOT_A_MEAN = (
    "Every rank computes this for its own part of the data, and the mean over the ranks is another number: evaluate on one "
    "rank, or add up the counts behind it with hccl_ops.allreduce(count, 'sum')."
)
