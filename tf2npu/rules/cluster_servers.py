"""Servers of a TensorFlow cluster."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
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
