"""The first broadcast: variables of all ranks start from those of rank 0, also where no hook does it."""

from __future__ import annotations

from tf2npu.config import Config
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.files.script_kinds import is_unit_test
from tf2npu.scanner.sites import Call

_TF = Config(distributed="tf")
_CODE = (
    "tf.group(*[tf.assign(v, b) for v, b in zip(tf.trainable_variables(), "
    "hccl_ops.broadcast(tf.trainable_variables(), root_rank=0))])"
)
_MATCHES = ("tensorflow.global_variables_initializer", "tensorflow.initialize_all_variables", "tensorflow.train.Supervisor")


@rule(
    id="NPU421",
    title="Broadcast of the first values",
    once=True,
    matches=_MATCHES,
    why="Each rank draws initial values of its own; averaged gradients of different models train nothing.",
    done_when="Print a sum of the variables before the first step of `tf2npu run --devices 2`: both ranks print the same number.",
    source="npu_bridge.hccl.hccl_ops.broadcast; TensorFlow adapter porting guide: sess.run in distributed training",
    examples=(
        Example.same(
            "init = tf.global_variables_initializer()\ntrain = tf.train.AdamOptimizer(0.1).minimize(loss)",
            config=Config(distributed="tf", select=frozenset({"NPU421"})),
            level="manual",
            write="init = tf.global_variables_initializer()\ntrain = tf.train.AdamOptimizer(0.1).minimize(loss)\n"
            "first = hccl_ops.broadcast(tf.trainable_variables(), root_rank=0)\n"
            "send = tf.group(*[tf.assign(v, b) for v, b in zip(tf.trainable_variables(), first)])",
        ),
        Example.same("init = tf.global_variables_initializer()", note="nothing is trained here", config=_TF),
        Example.same("init = tf.global_variables_initializer()", note="one device"),
    ),
)
def first_broadcast(call: Call) -> None:
    """Reports where the initial variables of rank 0 have to be sent to all ranks."""
    script = call.script
    facts = script.project.files.get(script.path)
    if script.config.distributed != "tf" or facts is None or not facts.trains or "hccl_ops.broadcast" in script.text:
        return
    if is_unit_test(script):
        return
    call.manual(
        f"All ranks must start from the variables of rank 0: build {_CODE} with the graph and run it once after the "
        "initializer, before the graph is finalised. Estimators and monitored sessions have a hook for it."
    )
