"""Horovod's collectives on tensors, and what has no counterpart."""

from __future__ import annotations

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.rules.horovod import HVD, SOURCE, WHY, is_on, names_of
from tf2npu.scanner.sites import Call, Site


@rule(
    id="NPU405",
    title="Horovod collectives",
    matches=names_of("allreduce", "allgather", "broadcast"),
    why=WHY,
    source="npu_bridge.npu_init.npu_allreduce; npu_bridge.hccl.hccl_ops",
    examples=(
        Example(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\ng = hvd.allreduce(t)",
            "from npu_bridge.npu_init import npu_allreduce\nimport tensorflow as tf\ng = npu_allreduce(t)",
            config=HVD,
        ),
        Example(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nb = hvd.broadcast(t, 0)",
            "from npu_bridge.npu_init import hccl_ops\nimport tensorflow as tf\nb = hccl_ops.broadcast([t], 0)[0]",
            config=HVD,
        ),
        Example.same("import horovod.tensorflow as hvd\ng = hvd.allreduce(t)", note="without --distributed horovod"),
        Example.same("import my_ranks as hvd\ng = hvd.allreduce(t)", note="not Horovod's", config=HVD),
    ),
)
def collectives(call: Call) -> None:
    """Uses the NPU's collectives on tensors."""
    if not is_on(call):
        return
    kind = call.name.rpartition(".")[2]
    allowed = {"allreduce": {"average"}, "allgather": set(), "broadcast": {"root_rank"}}[kind] | {"tensor", "name"}
    keywords = {arg.keyword.value for arg in call.args if arg.keyword is not None}
    tensor = call.arg("tensor", 0)
    if call.has_star_args or keywords - allowed or tensor is None or sum(not _is_name(a) for a in call.args) > 2:
        call.unsupported(f"This form of {kind} has no counterpart; see npu_allreduce and hccl_ops.")
        return
    {"allreduce": _allreduce, "allgather": _allgather, "broadcast": _broadcast}[kind](call, tensor)
    call.fixed("The collective runs on the NPU.")


def _is_name(arg: cst.Arg) -> bool:
    return arg.keyword is not None and arg.keyword.value == "name"


def _allreduce(call: Call, tensor: cst.Arg) -> None:
    call.replace_callee(call.need("npu_allreduce"))
    if tensor.keyword is not None:
        call.rename_keyword(tensor, "values")
    average = call.arg("average", 1)
    if average is not None:
        value = call.source(average.value)
        text = {"True": "'mean'", "False": "'sum'"}.get(value, f"'mean' if {value} else 'sum'")
        call.replace_range(call.script.tree.span(average)[0], call.script.tree.span(average.value)[1], f"reduction={text}")
    _drop_name(call)


def _allgather(call: Call, tensor: cst.Arg) -> None:
    call.replace_callee(f"{call.need('hccl_ops')}.allgather")
    name = call.arg("name", 1)
    if name is not None:
        call.remove_args([name])
    call.insert(call.script.tree.span(tensor.value)[1], f", rank_size={call.need('get_npu_rank_size')}()")


def _broadcast(call: Call, tensor: cst.Arg) -> None:
    call.replace_callee(f"{call.need('hccl_ops')}.broadcast")
    call.wrap(tensor.value, "[", "]")
    call.wrap(call.node, "", "[0]")
    _drop_name(call)


def _drop_name(call: Call) -> None:
    arg = call.arg("name")
    if arg is not None:
        call.remove_args([arg])


@rule(
    id="NPU406",
    title="Horovod without a counterpart",
    on="reference",
    matches=names_of(
        "callbacks.MetricAverageCallback", "callbacks.LearningRateWarmupCallback", "callbacks.LearningRateScheduleCallback",
        "Compression.fp16", "Compression.none", "broadcast_variables", "broadcast_global_variables", "load_model", "alltoall",
    ),
    why=WHY,
    source=SOURCE,
    examples=(
        Example.same(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nf = hvd.broadcast_global_variables",
            level="unsupported",
            config=HVD,
            write="import tensorflow as tf\nfrom npu_bridge.npu_init import NPUBroadcastGlobalVariablesHook\n"
            "hooks = [NPUBroadcastGlobalVariablesHook(0, 0)]",
        ),
        Example.same("import horovod.tensorflow as hvd\nf = hvd.load_model", note="without --distributed horovod"),
    ),
)  # fmt: skip
def without_counterpart(site: Site) -> None:
    """Reports what the NPU's collectives do not have."""
    if is_on(site):
        site.unsupported(_advice(site.name))


@rule(
    id="NPU406",
    title="Horovod without a counterpart",
    matches=names_of(
        "callbacks.MetricAverageCallback", "callbacks.LearningRateWarmupCallback", "callbacks.LearningRateScheduleCallback",
        "broadcast_variables", "broadcast_global_variables", "load_model", "alltoall",
    ),
    why=WHY,
    source=SOURCE,
    examples=(),
)  # fmt: skip
def call_without_counterpart(call: Call) -> None:
    """Reports what the NPU's collectives do not have."""
    if is_on(call):
        call.unsupported(_advice(call.name))


def _advice(name: str) -> str:
    if "broadcast" in name:
        return (
            "Build tf.group(*[tf.assign(v, b) for v, b in zip(tf.trainable_variables(), hccl_ops.broadcast("
            "tf.trainable_variables(), root_rank=0))]) and run it after the initialiser, or use NPUBroadcastGlobalVariablesHook."
        )
    return f"{name.rpartition('.')[2]} has no counterpart on the NPU: take it out, or do its work by hand."
