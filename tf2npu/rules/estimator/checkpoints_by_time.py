"""Checkpoints that are written by the clock."""

from __future__ import annotations

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.files.script_kinds import is_distributed
from tf2npu.rules.facts.rank_conditions import enclosing_block, mentions_rank
from tf2npu.scanner.sites import Call

_SECONDS = {
    "tensorflow.estimator.RunConfig": "save_checkpoints_secs",
    "tensorflow.estimator.tpu.RunConfig": "save_checkpoints_secs",
    "npu_bridge.npu_init.NPURunConfig": "save_checkpoints_secs",
    "tensorflow.train.CheckpointSaverHook": "save_secs",
    "npu_bridge.npu_init.NPUCheckpointSaverHook": "save_secs",
    "tensorflow.train.MonitoredTrainingSession": "save_checkpoint_secs",
}
_STEPS = {
    "save_checkpoints_secs": "save_checkpoints_steps",
    "save_secs": "save_steps",
    "save_checkpoint_secs": "save_checkpoint_steps",
}


@rule(
    id="NPU929",
    title="Checkpoints by time",
    matches=tuple(_SECONDS),
    why="On several NPUs each process looks at its own clock: one saves while the others wait in a collective.",
    done_when="Both ranks of `tf2npu run --devices 2` save at the same steps, and come to the end.",
    source="TensorFlow adapter porting guide: save_checkpoints_steps in distributed training, 0 on ranks that do not save",
    examples=(
        Example.same(
            "h = tf.train.CheckpointSaverHook('d', save_secs=600)",
            level="info",
            write="h = tf.train.CheckpointSaverHook('d', save_steps=100)",
        ),
        Example.same(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nh = tf.train.CheckpointSaverHook('d', save_secs=600)",
            level="manual",
        ),
        Example.same(
            "c = make(tf.contrib.tpu.RunConfig(save_checkpoints_steps=100 if get_rank_id() == 0 else None))",
            level="manual",
            write="c = make(tf.contrib.tpu.RunConfig(save_checkpoints_steps=100 if get_rank_id() == 0 else 0))",
        ),
        Example.same("h = tf.train.CheckpointSaverHook('d', save_steps=100)", note="by steps"),
        Example.same("h = tf.train.CheckpointSaverHook('d', save_secs=None, save_steps=100)", note="by steps"),
    ),
)
def checkpoints_by_time(call: Call) -> None:
    """Reports checkpoints by seconds, and steps of None on some ranks."""
    keyword = _SECONDS[call.name]
    steps = _STEPS[keyword]
    seconds = call.value(keyword)
    if seconds is not None and call.resolve(seconds) != "None":
        if is_distributed(call.script):
            call.manual(
                f"Write {steps}=N in the place of {keyword}: ranks that save at different steps wait for each other for ever."
            )
        else:
            call.info(f"On several NPUs this has to be {steps}=N: each process has its own clock.")
    value = call.value(steps)
    is_none = value is not None and call.resolve(value) == "None" and enclosing_block(call.script, call.node) is not None
    if is_none or _is_none_on_some_ranks(call, value):
        message = f"Write {steps}=0 for a rank that saves nothing: None means TensorFlow's default of every 600 seconds."
        call.manual(message, _with_zero(call, steps, value))


def _with_zero(call: Call, steps: str, value: cst.BaseExpression | None) -> str:
    """The argument, or the variable that is given, with 0 where it is None."""
    chosen = _chosen(call, value)
    if not isinstance(chosen, cst.IfExp):
        return f"{steps}=0"
    parts = ["0" if call.source(part) == "None" else call.source(part) for part in (chosen.body, chosen.orelse)]
    name = f"{call.source(value)} = " if isinstance(value, cst.Name) else f"{steps}="
    return f"{name}{parts[0]} if {call.source(chosen.test)} else {parts[1]}"


def _chosen(call: Call, value: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """The value that is given for the steps, also through a variable; None where that is not bound to one value alone."""
    if isinstance(value, cst.Name) and value.value != "None":
        bindings = call.scope.lookup(value.value)
        return bindings[0].node if len(bindings) == 1 and bindings[0].kind == "value" else None
    return value


def _is_none_on_some_ranks(call: Call, value: cst.BaseExpression | None) -> bool:
    """Whether the steps are `n if rank == 0 else None`, where they are given or in the variable that is."""
    value = _chosen(call, value)
    if not isinstance(value, cst.IfExp) or not mentions_rank(call.source(value.test)):
        return False
    return any(isinstance(part, cst.Name) and part.value == "None" for part in (value.body, value.orelse))
