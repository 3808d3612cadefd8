"""Collectives of NVIDIA's library."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

_CONTRIB = ("all_sum", "all_prod", "all_min", "all_max", "reduce_sum", "broadcast")
_TRY = (
    "try:\n    from tensorflow.python.ops import nccl_ops\nexcept ImportError:\n    import tensorflow.contrib.nccl as nccl_ops\n"
)


@rule(
    id="NPU949",
    title="NCCL",
    matches=(*(f"tensorflow.contrib.nccl.{name}" for name in _CONTRIB), "tensorflow.distribute.NcclAllReduce"),
    why="NCCL connects NVIDIA's GPUs within one process; NPUs are driven by one process each and connected by HCCL.",
    done_when="Both ranks of `tf2npu run --devices 2` get the sum of their two tensors here.",
    source="npu_bridge.hccl.hccl_ops",
    examples=(
        Example.same(
            "from tensorflow.contrib import nccl\ng = nccl.all_sum(grads)",
            level="unsupported",
            write="from npu_bridge.npu_init import hccl_ops\ng = [hccl_ops.allreduce(g, 'sum') for g in grads]",
        ),
        Example.same("c = tf.distribute.NcclAllReduce()", level="unsupported"),
        Example.same(_TRY + "g = nccl_ops.all_sum(grads)", level="unsupported"),
        Example.same("g = nccl.all_sum(grads)", note="not TensorFlow's"),
    ),
)
def nccl(call: Call) -> None:
    """Reports collectives of NCCL."""
    last = call.name.rpartition(".")[2]
    if last == "NcclAllReduce" and call.script.config.distributed == "tf":
        call.unsupported(
            "Take it out: npu_strategy.NPUStrategy() takes no cross_device_ops; the wrapped optimizer averages over HCCL."
        )
    elif last == "NcclAllReduce":
        call.unsupported(
            "Convert with --distributed tf and leave it out: then the wrapped optimizer averages gradients over HCCL."
        )
    elif last == "broadcast":
        call.unsupported("Start one process on each NPU and write hccl_ops.broadcast([tensor], 0).")
    else:
        kind = last.rpartition("_")[2]
        call.unsupported(
            f"Start one process on each NPU and write hccl_ops.allreduce(tensor, '{kind}') on the one tensor of each."
        )
