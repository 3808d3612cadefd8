"""Servers of a TensorFlow cluster."""

from __future__ import annotations

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.constant_values import text_of
from tf2npu.scanner.sites import Call


@rule(
    id="NPU956",
    title="Server of a cluster",
    matches=("tensorflow.train.Server",),
    why="A session with a server's target runs in that server by gRPC; NPUs work together over HCCL, each with its own process.",
    source="TensorFlow adapter porting guide: distributed training is data parallel, one process a device, over HCCL",
    examples=(
        Example.same(
            "server = tf.train.Server(cluster, 'worker', 0)",
            level="unsupported",
            write="rank = get_rank_id()  # one process on each NPU, started with RANK_ID and RANK_SIZE",
        ),
        Example.same("server = tf.train.Server.create_local_server()", note="one of this process alone"),
        Example.same("server = http.Server(cluster)", note="not TensorFlow's"),
    ),
)
def cluster_server(call: Call) -> None:
    """Reports servers that processes of a cluster reach each other by."""
    call.unsupported(
        "A cluster of parameter servers and workers is not supported on NPUs: leave the server and the session's target out, "
        "start one process on each NPU, and convert with --distributed tf."
    )


@rule(
    id="NPU956",
    title="Server of a cluster",
    matches=("tensorflow.Session", "tensorflow.InteractiveSession"),
    why="A session with a target runs in the process that listens there, not in this one, which has the NPU.",
    source="tf.Session(target, ...) of TensorFlow 1.15",
    examples=(
        Example.same(
            "s = tf.Session('grpc://10.0.0.2:8470', config=npu_config_proto())\ns.close()",
            level="unsupported",
            write="s = tf.Session(config=npu_config_proto())\ns.close()",
        ),
        Example.same(
            "r = tf.contrib.cluster_resolver.TPUClusterResolver(tpu='a')\n"
            "with tf.Session(target=r.get_master(), config=npu_config_proto()) as s:\n    pass",
            note="of a TPU",
            level="unsupported",
        ),
        Example.same("with tf.Session(TPU_ADDRESS, config=npu_config_proto()) as s:\n    pass", level="unsupported"),
        Example.same("with tf.Session('', config=npu_config_proto()) as s:\n    pass", note="this process"),
        Example.same("with tf.Session(FLAGS.master, config=npu_config_proto()) as s:\n    pass", note="may be empty"),
        Example.same("with tf.Session(server.target, config=npu_config_proto()) as s:\n    pass", note="said at the server"),
    ),
)
def session_elsewhere(call: Call) -> None:
    """Reports sessions that run on a TPU or in another process."""
    target = call.value("target", 0)
    if target is None:
        return
    text = text_of(target, call.scope)
    owner = target.func.value if isinstance(target, cst.Call) and isinstance(target.func, cst.Attribute) else target
    is_tpu = "tpu" in call.source(target).lower() or (call.resolve(owner) or "").endswith("TPUClusterResolver()")
    if (text or "").startswith("grpc://") or (text is None and is_tpu):
        call.unsupported("This session runs where its target is, not here on the NPU: leave the target out.")
