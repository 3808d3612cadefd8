"""Checkpoints that all ranks save in one folder."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.config import Config
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.files.script_kinds import is_unit_test
from tf2npu.rules.facts.rank_conditions import enclosing_block, mentions_rank
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call

_ONLY = frozenset({"NPU425"})
_TF = Config(distributed="tf", select=_ONLY)
_HEAD = "import os\nimport tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
# Parameters that give the folder, with their positions.
_FOLDERS: dict[str, tuple[str, int | None]] = {
    "tensorflow.estimator.Estimator": ("model_dir", 1),
    "tensorflow.estimator.tpu.TPUEstimator": ("model_dir", 1),
    "tensorflow.estimator.RunConfig": ("model_dir", 0),
    "tensorflow.estimator.tpu.RunConfig": ("model_dir", None),
    "tensorflow.keras.estimator.model_to_estimator": ("model_dir", 3),
    "npu_bridge.npu_init.NPUEstimator": ("model_dir", 1),
    "npu_bridge.npu_init.NPURunConfig": ("model_dir", None),
    "tensorflow.train.MonitoredTrainingSession": ("checkpoint_dir", 2),
}
_INTERVALS = ("save_checkpoints_steps", "save_checkpoint_steps", "is_chief")


@rule(
    id="NPU425",
    title="Checkpoints of all ranks in one folder",
    once=True,
    matches=tuple(_FOLDERS),
    why="Ranks that save in one folder replace and merge each other's files while these are written; some runs end there.",
    done_when="For another rank than 0 save_checkpoints_steps is 0, or the code asks for the rank before it calls a Saver.",
    source="MergeV2Checkpoints of TensorFlow 1.15; TensorFlow adapter porting guide: 0 on ranks that do not save",
    examples=(
        Example.same(
            f"{_HEAD}c = NPURunConfig(model_dir='d', save_checkpoints_steps=100)",
            config=_TF,
            level="manual",
            write=f"{_HEAD}steps = 100 if int(os.getenv('RANK_ID', '0')) == 0 else 0\n"
            "c = NPURunConfig(model_dir='d', save_checkpoints_steps=steps)",
        ),
        Example.same("e = tf.estimator.Estimator(fn, FLAGS.model_dir, config)", config=_TF, level="manual"),
        Example.same(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nd = './model' if hvd.rank() == 0 else None\n"
            "e = tf.estimator.Estimator(fn, model_dir=d)",
            note="rank 0 alone has the folder",
            config=Config(distributed="horovod", select=_ONLY),
        ),
        Example.same("e = tf.estimator.Estimator(fn, config=config)", note="each rank makes a folder of its own", config=_TF),
        Example.same("e = tf.estimator.Estimator(fn, 'd', config)", note="one device", config=Config(select=_ONLY)),
    ),
)
def shared_checkpoints(call: Call) -> None:
    """Reports a folder in which all ranks save their checkpoints."""
    script = call.script
    if script.config.distributed == "none" or is_unit_test(script) or _saves_by_rank(script):
        return
    folder = call.value(*_FOLDERS[call.name])
    is_given = folder is not None and call.resolve(folder) != "None"
    if not is_given or enclosing_block(script, call.node) is not None or _differs(script, folder, call.scope):
        return
    steps = "save_checkpoint_steps" if call.name.endswith("Session") else "save_checkpoints_steps"
    call.manual(
        "All ranks save their checkpoints in this folder, where they replace and merge each other's files: some runs end in "
        f"MergeV2Checkpoints. Let rank 0 alone save, with {steps}=N if int(os.getenv('RANK_ID', '0')) == 0 else 0, "
        "or give the other ranks folders of their own. On the simulated device rank 0 alone writes."
    )


@fact
def _saves_by_rank(script: Script) -> bool:
    """Whether a call of the file is told by the rank how often to save, or whether to."""
    arguments = [(arg, scope) for node, scope in script.walked.calls for arg in node.args]
    intervals = [(a.value, scope) for a, scope in arguments if a.keyword is not None and a.keyword.value in _INTERVALS]
    return any(_differs(script, value, scope) for value, scope in intervals)


def _differs(script: Script, node: Any, scope: Scope, depth: int = 0) -> bool:
    """Whether a value is another one on some ranks, as far as it, what it is bound to and the blocks around that tell."""
    text = script.tree.source(node)
    if mentions_rank(text) or re.search(rf"(?<![\w.]){re.escape(text)}\s*=(?!=)[^\n]*\brank\b", script.text):
        return True
    if not isinstance(node, cst.Name) or depth > 2:
        return False
    bindings = [binding for binding in scope.lookup(node.value) if binding.kind == "value" and binding.scope is not None]
    return any(
        enclosing_block(script, binding.node) is not None or _differs(script, binding.node, binding.scope or scope, depth + 1)
        for binding in bindings
    )
