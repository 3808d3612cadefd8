"""Horovod's collectives on tensors, and what has no counterpart."""

from __future__ import annotations

import libcst as cst

from tf2npu.config import Config
from tf2npu.rules.base import Example, rule
from tf2npu.rules.horovod import HVD, SOURCE, WHY, is_on, names_of, short_name
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
    is_known = not call.has_star_args and not keywords - allowed and sum(not _is_name(a) for a in call.args) <= 2
    if tensor is None or not is_known or _averages_by_horovod(call):
        call.unsupported(f"This form of {kind} has no counterpart; see npu_allreduce and hccl_ops.")
        return
    {"allreduce": _allreduce, "allgather": _allgather, "broadcast": _broadcast}[kind](call, tensor)
    call.fixed("The collective runs on the NPU.")


def _is_name(arg: cst.Arg) -> bool:
    return arg.keyword is not None and arg.keyword.value == "name"


def _averages_by_horovod(call: Call) -> bool:
    """Whether the import of Horovod is the answer to the question if to average."""
    average = call.value("average", 1)
    return isinstance(average, cst.Name) and (call.resolve(average) or "").startswith("horovod.")


def _allreduce(call: Call, tensor: cst.Arg) -> None:
    call.replace_callee(call.need("npu_allreduce"))
    if tensor.keyword is not None:
        call.rename_keyword(tensor, "values")
    average = call.arg("average", 1)
    if average is not None:
        _reduction(call, average)
    _drop_name(call)


def _reduction(call: Call, average: cst.Arg) -> None:
    start, (value, end) = call.script.tree.span(average)[0], call.script.tree.span(average.value)
    text = {"True": "'mean'", "False": "'sum'"}.get(call.source(average.value))
    if text is not None:
        return call.replace_range(start, end, f"reduction={text}")
    if start < value:
        call.replace_range(start, value, "")
    is_open = isinstance(average.value, (cst.IfExp, cst.Lambda, cst.NamedExpr)) and not average.value.lpar
    left, right = ("(", ")") if is_open else ("", "")
    return call.wrap(average.value, f"reduction='mean' if {left}", f"{right} else 'sum'")


def _allgather(call: Call, tensor: cst.Arg) -> None:
    call.replace_callee(f"{call.need('hccl_ops')}.allgather")
    name = call.arg("name", 1)
    if name is not None:
        call.remove_args([name])
    call.enclose_generator()
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
    id="NPU407",
    title="Horovod broadcast of all variables",
    on="reference",
    matches=names_of("broadcast_global_variables"),
    why=WHY,
    source="npu_bridge.estimator.npu.npu_hook.broadcast_global_variables(root_rank), for the trainable variables",
    examples=(
        Example(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nf = hvd.broadcast_global_variables",
            "from npu_bridge.estimator.npu import npu_hook\nimport tensorflow as tf\nf = npu_hook.broadcast_global_variables",
            config=HVD,
        ),
        Example.same("import horovod.tensorflow as hvd\nf = hvd.broadcast_global_variables", note="without the option"),
    ),
)
def broadcast_of_all_passed_on(site: Site) -> None:
    """Broadcasts the variables of one rank where the function is passed on."""
    _broadcast_all(site, site.node)


@rule(
    id="NPU407",
    title="Horovod broadcast of all variables",
    matches=names_of("broadcast_global_variables"),
    why=WHY,
    source="npu_bridge.estimator.npu.npu_hook.broadcast_global_variables(root_rank), for the trainable variables",
    examples=(
        Example(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nsess.run(hvd.broadcast_global_variables(root_rank=0))",
            "from npu_bridge.estimator.npu import npu_hook\nimport tensorflow as tf\n"
            "sess.run(npu_hook.broadcast_global_variables(root_rank=0))",
            config=HVD,
        ),
        Example.same("import mine as hvd\nhvd.broadcast_global_variables(0)", note="not Horovod's", config=HVD),
    ),
)
def broadcast_of_all(call: Call) -> None:
    """Broadcasts the variables of one rank."""
    _broadcast_all(call, call.node.func)
    if call.fix.changes and call.script.config.target.adapter == "2021" and not call.has_star_args:
        call.add_keyword(f"index={call.need('get_npu_rank_id')}()")  # which that release asks for


def _broadcast_all(site: Site, function: cst.BaseExpression) -> None:
    if not is_on(site):
        return None
    if site.script.config.target.adapter == "2021" and not isinstance(site, Call):
        return site.manual("Write lambda root: npu_hook.broadcast_global_variables(root, get_rank_id()).")
    if site.script.imported_as("npu_bridge.estimator.npu:npu_hook") != "npu_hook" and site.scope.lookup("npu_hook"):
        return site.manual("Write npu_bridge.estimator.npu.npu_hook.broadcast_global_variables(root_rank).")
    site.need_module("npu_bridge.estimator.npu", "npu_hook")
    site.replace(function, "npu_hook.broadcast_global_variables")
    site.fixed("The variables of one rank are broadcast by the NPU's collectives.")
    return site.info(
        "Only trainable variables are broadcast on the NPU. Where training goes on from a checkpoint, let every rank restore it: "
        "the slots of the optimizer and the global step are not sent."
    )


_ADVICE = {
    "callbacks.MetricAverageCallback": (
        "Take it out: each rank then logs its own metrics. For the mean over the ranks run npu_allreduce(tf.constant(value)) in "
        "tf.keras.backend.get_session() at the end of an epoch."
    ),
    "callbacks.LearningRateWarmupCallback": (
        "Write tf.keras.callbacks.LearningRateScheduler(lambda epoch, lr: full * min(1., 1. / n + epoch / warmup_epochs * "
        "(1 - 1. / n))), with n = get_npu_rank_size() and full the rate for all ranks."
    ),
    "callbacks.LearningRateScheduleCallback": (
        "Write tf.keras.callbacks.LearningRateScheduler(lambda epoch, lr: initial_lr * multiplier(epoch)), one for all the "
        "ranges of epochs."
    ),
    "Compression.fp16": "The NPU sends gradients as they are: leave the compression out.",
    "Compression.none": "The NPU sends gradients as they are: leave the compression out.",
    "broadcast_variables": (
        "Build tf.group(*[tf.assign(v, b) for v, b in zip(variables, hccl_ops.broadcast(variables, root_rank=0))]) and run it "
        "after the initialiser, or use NPUBroadcastGlobalVariablesHook."
    ),
    "load_model": (
        "Write model = tf.keras.models.load_model(path), and compile it anew with "
        "npu_distributed_optimizer_wrapper(model.optimizer)."
    ),
    "alltoall": (
        "With equal parts: n = tf.size(t, tf.int64) // get_npu_rank_size(), c = tf.fill([get_npu_rank_size()], n), "
        "d = n * tf.range(get_npu_rank_size(), dtype=tf.int64), and tf.reshape(hccl_ops.all_to_all_v(tf.reshape(t, [-1]), c, d, "
        "c, d), tf.shape(t))."
    ),
}

# What asks which libraries Horovod was built with; none of them is used on the NPU.
_BUILDS = (
    *(f"{library}_built" for library in ("ccl", "cuda", "ddl", "gloo", "mpi", "nccl", "rocm")),
    "gloo_enabled", "mpi_enabled", "mpi_threads_supported",
)  # fmt: skip


@rule(
    id="NPU406",
    title="Horovod without a counterpart",
    on="reference",
    matches=names_of(*_ADVICE, *_BUILDS),
    why=WHY,
    source=f"{SOURCE}; hccl_ops.all_to_all_v; horovod.tensorflow 0.20 for alltoall",
    examples=(
        Example.same(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nf = hvd.load_model",
            level="unsupported",
            config=HVD,
            write="import tensorflow as tf\nf = tf.keras.models.load_model",
        ),
        Example.same("import horovod.tensorflow as hvd\nf = hvd.load_model", note="without --distributed horovod"),
    ),
)
def without_counterpart(site: Site) -> None:
    """Reports what the NPU's collectives do not have, and what to write in its place."""
    _advise(site)


@rule(
    id="NPU406",
    title="Horovod without a counterpart",
    matches=names_of(*_ADVICE, *_BUILDS),
    why=WHY,
    source=f"{SOURCE}; hccl_ops.all_to_all_v; horovod.tensorflow 0.20 for alltoall",
    examples=(
        Example.same(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\ny = hvd.alltoall(x)",
            level="unsupported",
            config=HVD,
        ),
        Example.same(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nscale = hvd.local_size() if hvd.nccl_built() else 1",
            note="the code chooses by how Horovod was built",
            level="manual",
            config=Config(distributed="horovod", select=frozenset({"NPU406"})),
            write="import tensorflow as tf\nscale = 1",
        ),
    ),
)
def call_without_counterpart(call: Call) -> None:
    """Reports what the NPU's collectives do not have, and what to write in its place."""
    _advise(call)


def _advise(site: Site) -> None:
    name = short_name(site.name) or ""
    if is_on(site) and name in _BUILDS:
        site.manual("The NPU uses none of the libraries of Horovod: write False, or take out the code that asks for them.")
    elif is_on(site):
        site.unsupported(_ADVICE[name])
