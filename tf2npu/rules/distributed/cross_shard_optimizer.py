"""The optimizer that averages gradients over the cores of a TPU."""

from __future__ import annotations

import libcst as cst

from tf2npu.config import Config
from tf2npu.rules.base import Example, rule
from tf2npu.rules.distributed.tf_distribute import OPTIMIZERS, is_on
from tf2npu.rules.facts.parentheses import is_atom
from tf2npu.rules.facts.tpu_branches import is_for_tpu
from tf2npu.scanner.sites import Call

_TF = Config(distributed="tf")


@rule(
    id="NPU427",
    title="Optimizer over the cores of a TPU",
    matches=("tensorflow.tpu.CrossShardOptimizer", "tensorflow.estimator.tpu.CrossShardOptimizer"),
    why="Its gradients go through CrossReplicaSum, an op that a TPU alone has.",
    done_when="The loss of `tf2npu run --devices 2` falls as that of one process with the batch of both ranks.",
    source="tf.tpu.CrossShardOptimizer(opt, reduction, name, group_assignment) of TensorFlow 1.15",
    examples=(
        Example("def f(opt):\n    return tf.contrib.tpu.CrossShardOptimizer(opt)", "def f(opt):\n    return opt"),
        Example(
            "def f(opt):\n    return tf.tpu.CrossShardOptimizer(opt=opt, name='c')",
            "def f(opt):\n    return npu_distributed_optimizer_wrapper(opt)",
            config=_TF,
        ),
        Example(
            "opt = tf.tpu.CrossShardOptimizer(tf.train.AdamOptimizer(0.1))",
            "opt = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer(0.1))",
            note="wrapped where it is made",
            config=_TF,
        ),
        Example(
            "opt = tf.train.AdamOptimizer(0.1)\nopt = tf.tpu.CrossShardOptimizer(opt)",
            "opt = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer(0.1))\nopt = opt",
            config=_TF,
        ),
        Example.same("if FLAGS.use_tpu:\n    opt = tf.tpu.CrossShardOptimizer(opt)", note="not taken", level="info"),
        Example.same("opt = tf.tpu.CrossShardOptimizer(opt, reduction=r)", note="a sum or a mean", level="manual"),
        Example.same("opt = tf.tpu.CrossShardOptimizer(opt, group_assignment=[[0]])", note="groups", level="unsupported"),
        Example.same("opt = mylib.CrossShardOptimizer(opt)", note="not TensorFlow's"),
    ),
)
def cross_shard_optimizer(call: Call) -> None:
    """Puts the inner optimizer in the place of one that a TPU alone runs, wrapped where ranks average."""
    if is_for_tpu(call):
        return call.info("This runs on a TPU only, where CrossReplicaSum is: make sure this branch is not taken (use_tpu=False).")
    inner, reduction, groups = call.arg("opt", 0), call.value("reduction", 1), call.value("group_assignment", 3)
    if call.has_star_args or inner is None:
        return call.manual("The arguments come out of *args or **kwargs: use the inner optimizer itself.")
    if groups is not None and call.resolve(groups) != "None":
        return call.unsupported("Groups of cores have no counterpart here: average by hand, with npu_allreduce(g, group=name).")
    if reduction is not None and not (call.resolve(reduction) or "").endswith("Reduction.MEAN"):
        return call.manual(
            "Use the inner optimizer itself. Ranks average their gradients: where the reduction is a sum, multiply the loss by "
            "get_rank_size()."
        )
    start, end = call.script.tree.span(call.node)
    first, last = call.script.tree.span(inner.value)
    if is_on(call) and not _is_wrapped(call, inner.value):
        before, after = f"{call.need('npu_distributed_optimizer_wrapper')}(", ")"
    else:
        before, after = ("", "") if is_atom(inner.value) else ("(", ")")
    call.replace_range(start, first, before)
    call.replace_range(last, end, after)
    return call.fixed("The inner optimizer is used: CrossReplicaSum, which this one adds up with, is an op of a TPU.")


def _is_wrapped(call: Call, value: cst.BaseExpression) -> bool:
    """Whether the optimizer is made in this file, where it is wrapped, whichever of several it is."""
    if isinstance(value, cst.Call):
        return call.resolve(value.func) in OPTIMIZERS
    if not isinstance(value, cst.Name):
        return False
    given = [binding for binding in call.scope.lookup(value.value) if binding.node is not call.node]
    return bool(given) and all(isinstance(b.node, cst.Call) and _is_wrapped(call, b.node) for b in given)
