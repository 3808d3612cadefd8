"""Calls that only a TPU understands."""

from __future__ import annotations

import libcst as cst

from tf2npu.config import Config
from tf2npu.frameworks.tensorflow1.dialect import is_for_2
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.constant_values import text_of
from tf2npu.rules.facts.start.entry_block import is_guard
from tf2npu.rules.facts.tpu_branches import is_for_tpu
from tf2npu.rules.facts.written_code import given
from tf2npu.scanner.sites import Call

_INSTEAD = {
    "bfloat16_scope": "leave the scope out; set precision_mode='allow_mix_precision' in the NPU's config for mixed precision",
    "cross_replica_sum": "use hccl_ops.allreduce(x, 'sum')",
    "initialize_system": "leave it out: the NPU's session starts the device",
    "shutdown_system": "leave it out: the NPU's session releases the device",
    "outside_compilation": "use npu_scope.without_npu_compile_scope() with mix_compile_mode=True",
    "rewrite": "call the function itself",
    "replicate": "start one process on each NPU",
    "shard": "start one process on each NPU, with dataset.shard(get_rank_size(), get_rank_id())",
    "batch_parallel": "start one process on each NPU, with dataset.shard(get_rank_size(), get_rank_id())",
    "core": "leave it out",
    "experimental.initialize_tpu_system": "leave it out: the NPU's session starts the device",
    "experimental.embedding_column": "use tf.feature_column.embedding_column",
    "experimental.shared_embedding_columns": "use tf.feature_column.shared_embedding_columns",
    "InfeedQueue": "use tf.data",
    "infeed_enqueue": "use tf.data",
    "outfeed_enqueue_tuple": "use npu_ops.outfeed_enqueue_op, or fetch the tensors",
    "keras_to_tpu_model": "use keras_to_npu.model_to_npu_estimator, or Keras as it is",
    "TPUDistributionStrategy": "leave it out",
}
_INSTEAD_2 = {
    "bfloat16_scope": "leave the scope out; set npu.global_options().precision_mode = 'allow_mix_precision' for mixed precision",
    "cross_replica_sum": "use npu.distribute.all_reduce(x, 'sum')",
    "initialize_system": "leave it out: npu.open() starts the device",
    "shutdown_system": "leave it out: the device is released when the script ends",
    "outside_compilation": "call the function itself: what the NPU cannot run stays on the CPU",
    "shard": "start one process on each NPU, with npu.distribute.shard_and_rebatch_dataset",
    "batch_parallel": "start one process on each NPU, with npu.distribute.shard_and_rebatch_dataset",
    "experimental.initialize_tpu_system": "leave it out: npu.open() starts the device",
    "outfeed_enqueue_tuple": "return the tensors from the function",
    "keras_to_tpu_model": "use Keras as it is",
}
"""The answers that are others in a script for TensorFlow 2."""
_ROOTS = ("tensorflow.tpu", "tensorflow.estimator.tpu")
_RESOLVERS = (
    "tensorflow.distribute.cluster_resolver.TPUClusterResolver", "tensorflow.contrib.cluster_resolver.TPUClusterResolver",
    "tensorflow.contrib.cluster_resolver.python.training.tpu_cluster_resolver.TPUClusterResolver",
)  # fmt: skip


@rule(
    id="NPU943",
    title="TPU calls",
    matches=(*(f"{root}.{name}" for root in _ROOTS for name in _INSTEAD), *_RESOLVERS),
    why="These ops exist on a TPU only.",
    done_when="The script starts where there is no TPU: `tf2npu run` passes this line.",
    source="the vendor's published support levels for TensorFlow 1.15: tf.tpu is not supported",
    examples=(
        Example.same("with tf.contrib.tpu.bfloat16_scope():\n    y = f(x)", level="unsupported", write="y = f(x)"),
        Example.same("if FLAGS.tpu_name:\n    r = tf.contrib.cluster_resolver.TPUClusterResolver(FLAGS.tpu_name)", level="info"),
        Example.same("r = tf.contrib.cluster_resolver.TPUClusterResolver(FLAGS.tpu if FLAGS.use_tpu else '')", level="info"),
        Example.same("r = tf.contrib.cluster_resolver.TPUClusterResolver(name)", level="manual"),
        Example.same("if __name__ == '__main__':\n    r = tf.contrib.cluster_resolver.TPUClusterResolver(name)", level="manual"),
        Example.same("r = tf.contrib.cluster_resolver.TPUClusterResolver('')", note="looks for nothing", level="info"),
        Example.same("if FLAGS.use_tpu:\n    y = tf.contrib.tpu.cross_replica_sum(x)", note="not taken", level="info"),
        Example.same(
            "y = tf.compat.v1.tpu.cross_replica_sum(x)", level="unsupported", config=Config(dialect="tf2"),
            write="y = npu.distribute.all_reduce(x, 'sum')",
        ),
        Example.same("with tf.name_scope('a'):\n    y = f(x)", note="works anywhere"),
        Example.same("def cross_replica_sum(x):\n    return x\ny = cross_replica_sum(x)", note="the user's own"),
    ),
)  # fmt: skip
def tpu_call(call: Call) -> None:
    """Reports calls that only a TPU understands and names what the NPU has."""
    if call.name in _RESOLVERS:
        return _resolver(call)
    root = next(root for root in _ROOTS if call.name.startswith(f"{root}."))
    name = call.name[len(root) + 1 :]
    instead = (is_for_2(call.script) and _INSTEAD_2.get(name)) or _INSTEAD[name]
    message = f"This runs on a TPU only: {instead}."
    return call.info(message) if is_for_tpu(call) else call.unsupported(message, _code(call))


def _code(call: Call) -> str:
    """The sum over all ranks; "" for one over groups of them, which have to be made first, and for other calls."""
    x = given(call, "x", 0) if call.name.endswith(".cross_replica_sum") and len(call.args) == 1 else ""
    if x and is_for_2(call.script):
        return f"npu.distribute.all_reduce({x}, 'sum')  # import npu_device as npu"
    return f"hccl_ops.allreduce({x}, 'sum')  # from npu_bridge.npu_init import hccl_ops" if x else ""


def _resolver(call: Call) -> None:
    """A person's work where nothing shows that it is made for a TPU only.

    An empty name looks for nothing. Source: TPUClusterResolver of TensorFlow 1.15, whose master is '' then; others raise.
    """
    named = call.arg("tpu", 0)
    value = named.value if named is not None else None
    is_chosen = isinstance(value, (cst.IfExp, cst.BooleanOperation)) or text_of(value, call.scope) in ("", "local")
    if is_chosen or any(_is_choice(ancestor) for ancestor in call.script.walked.ancestors(call.node)):
        call.info("There is no TPU to look for: make sure this branch is not taken (use_tpu=False).")
    elif is_for_2(call.script):
        call.manual(
            "There is no TPU to look for, and this fails where none is found: make the resolver, and the strategy that gets it, "
            "only where a TPU is asked for."
        )
    else:
        call.manual(
            "There is no TPU to look for, and this fails where none is found: make the resolver only where a TPU is asked for, "
            "and give cluster=None or master='' elsewhere."
        )


def _is_choice(node: cst.CSTNode) -> bool:
    """A condition but that of a script's own run, or a function whose name says that it is for TPUs."""
    if isinstance(node, cst.FunctionDef):
        return "tpu" in node.name.value.lower()
    return isinstance(node, (cst.If, cst.IfExp)) and not is_guard(node.test)
