"""Horovod's collectives on tensors, and what has no counterpart."""

from __future__ import annotations

import libcst as cst

from tf2npu.config import Config
from tf2npu.frameworks.horovod.names import names_of, short_name
from tf2npu.frameworks.tensorflow1.project import tensorflow_in
from tf2npu.frameworks.tensorflow1.scripts import tensorflow_name
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.distributed.horovod import HVD, KERAS, SOURCE, WHY, is_on, is_told_by_use, report_removed
from tf2npu.scanner.sites import Call, Site

# What does at once what the functions for Keras do, which run their op themselves.
_AT_ONCE = {
    "allreduce": "tf.keras.backend.get_session().run(npu_allreduce(tf.constant(value, tf.float32)))",
    "allgather": "tf.keras.backend.get_session().run(hccl_ops.allgather(tf.constant(value), get_npu_rank_size()))",
    "broadcast": "tf.keras.backend.get_session().run(hccl_ops.broadcast([tf.constant(value)], root_rank)[0])",
}
_WHICH = "An op, or with Horovod for Keras its value: see npu_allreduce, hccl_ops and npu_hook.broadcast_global_variables."
_REMOVED = ("compression", "device_dense", "device_sparse")


_WITHOUT_HOROVOD = "No line calls Horovod any more, and `tf2npu run --devices 2` comes to the end of the script."


@rule(
    id="NPU405",
    title="Horovod collectives",
    matches=names_of("allreduce", "allgather", "broadcast"),
    why=WHY,
    done_when="With `tf2npu run --devices 2` both ranks get the number here that Horovod gives two processes.",
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
        Example.same(
            "import horovod.tensorflow.keras as hvd\nscore = hvd.allreduce(score)",
            note="not an op but its value",
            level="unsupported",
            config=HVD,
        ),
        Example.same("import my_ranks as hvd\ng = hvd.allreduce(t)", note="not Horovod's", config=HVD),
    ),
)
def collectives(call: Call) -> None:
    """Uses the NPU's collectives on tensors."""
    if not is_on(call):
        return None
    kind = call.name.rpartition(".")[2]
    if call.name.startswith(KERAS):
        return call.unsupported(f"This one returns the value itself: write {_AT_ONCE[kind]}.")
    if is_told_by_use(call):
        return call.manual(_WHICH)
    allowed = {"allreduce": {"average", "op", *_REMOVED}, "allgather": set(), "broadcast": {"root_rank"}}[kind]
    keywords = {arg.keyword.value for arg in call.args if arg.keyword is not None}
    tensor = call.arg("tensor", 0)
    is_known = not call.has_star_args and keywords <= allowed | {"tensor", "name"} and _n_positional(call) <= 2
    if tensor is None or not is_known or _is_reduced_otherwise(call):
        return call.unsupported(f"This form of {kind} has no counterpart: write it with npu_allreduce and hccl_ops.")
    {"allreduce": _allreduce, "allgather": _allgather, "broadcast": _broadcast}[kind](call, tensor)
    return call.fixed("The collective runs on the NPU.")


def _n_positional(call: Call) -> int:
    return len(call.positional_args)


def _is_reduced_otherwise(call: Call) -> bool:
    """Whether a sum or a mean is not what is asked for, or the import of Horovod is the answer to which of them."""
    average, op = call.value("average", 1), call.value("op")
    if op is not None and (average is not None or _reduction_of(call, op) is None):
        return True
    return isinstance(average, cst.Name) and (call.resolve(average) or "").startswith("horovod.")


def _reduction_of(call: Call, op: cst.BaseExpression) -> str | None:
    name = call.resolve(op) if isinstance(op, (cst.Name, cst.Attribute)) else None
    return {"Average": "mean", "Sum": "sum", "None": "mean"}.get((name or "").rpartition(".")[2])


def _allreduce(call: Call, tensor: cst.Arg) -> None:
    call.replace_callee(call.need("npu_allreduce"))
    if tensor.keyword is not None:
        call.rename_keyword(tensor, "values")
    average, op = call.arg("average", 1), call.arg("op")
    if average is not None:
        _reduction(call, average)
    removed = [arg for arg in call.args if arg.keyword is not None and arg.keyword.value in (*_REMOVED, "name")]
    if op is not None and _reduction_of(call, op.value) == "sum":
        call.replace_range(call.script.tree.span(op)[0], call.script.tree.span(op.value)[1], "reduction='sum'")
    elif op is not None:
        removed.append(op)
    if removed:
        call.remove_args(removed)
    for arg in removed:
        if arg is not op and arg is not call.arg("name"):
            report_removed(call, arg)


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
    done_when="Print a sum of the variables after ten steps of `tf2npu run --devices 2`: both ranks print the same number.",
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


@part_of(
    broadcast_of_all_passed_on,
    matches=names_of("broadcast_global_variables"),
    examples=(
        Example(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nsess.run(hvd.broadcast_global_variables(root_rank=0))",
            "from npu_bridge.estimator.npu import npu_hook\nimport tensorflow as tf\n"
            "sess.run(npu_hook.broadcast_global_variables(root_rank=0))",
            config=HVD,
        ),
        Example(
            "import tensorflow as tf\nimport horovod.tensorflow.keras as hvd\nm = tf.keras.Model()\n"
            "hvd.broadcast_global_variables(0)",
            "from npu_bridge.estimator.npu import npu_hook\nimport tensorflow as tf\nm = tf.keras.Model()\n"
            "tf.keras.backend.get_session().run(npu_hook.broadcast_global_variables(0))",
            note="the function for Keras runs the op itself",
            config=HVD,
        ),
        Example.same("import mine as hvd\nhvd.broadcast_global_variables(0)", note="not Horovod's", config=HVD),
    ),
)
def broadcast_of_all(call: Call) -> None:
    """Broadcasts the variables of one rank."""
    _broadcast_all(call, call.node.func)
    if call.fix.changes and call.name.startswith(KERAS):
        call.wrap(call.node, f"{tensorflow_name(call.script)}.keras.backend.get_session().run(", ")")
    if call.fix.changes and call.script.config.target.adapter == "2021" and not call.has_star_args:
        call.add_keyword(f"index={call.need('get_npu_rank_id')}()")  # which that release asks for


def _broadcast_all(site: Site, function: cst.BaseExpression) -> None:
    if not is_on(site):
        return None
    script = site.script
    is_net = script.path in tensorflow_in(script.project).keras_nets
    has_session = tensorflow_name(script) and is_net  # else one would be asked for
    if site.name.startswith(KERAS) and not (isinstance(site, Call) and has_session):
        return site.manual("Write tf.keras.backend.get_session().run(npu_hook.broadcast_global_variables(root_rank)).")
    if is_told_by_use(site):
        return site.manual(_WHICH)
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
    "broadcast_variables": (
        "Build tf.group(*[tf.assign(v, b) for v, b in zip(variables, hccl_ops.broadcast(variables, root_rank=0))]) and run it "
        "after the initialiser, or use NPUBroadcastGlobalVariablesHook."
    ),
    "load_model": (
        "Write model = tf.keras.models.load_model(path), and compile it anew with "
        "npu_distributed_optimizer_wrapper(model.optimizer)."
    ),
    "alltoall": (
        "With equal parts write n = tf.size(t, tf.int64) // get_npu_rank_size(), c = tf.fill([get_npu_rank_size()], n), "
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
    done_when=_WITHOUT_HOROVOD,
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


@part_of(
    without_counterpart,
    matches=names_of(*_ADVICE, *_BUILDS),
    examples=(
        Example.same(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\ny = hvd.alltoall(x)",
            level="unsupported",
            config=HVD,
        ),
        Example(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nscale = 4 if hvd.nccl_built() else 1",
            "import tensorflow as tf\nscale = 4 if False else 1",
            config=Config(distributed="horovod", unsafe_fixes=True),
        ),
        Example.same(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nscale = 4 if hvd.nccl_built() else 1",
            note="the code chooses by how Horovod was built",
            level="manual",
            config=HVD,
        ),
    ),
)
def call_without_counterpart(call: Call) -> None:
    """Reports what the NPU's collectives do not have, and what to write in its place."""
    _advise(call)


def _advise(site: Site) -> None:
    name = short_name(site.name) or ""
    if is_on(site) and name in _BUILDS:
        _answer(site)
    elif is_on(site):
        site.unsupported(_ADVICE[name])


def _answer(site: Site) -> None:
    """Reports a question about libraries, or with unsafe fixes puts the answer in its place; no assertion is made to fail."""
    is_asserted = any(isinstance(ancestor, cst.Assert) for ancestor in site.script.walked.ancestors(site.node))
    if not isinstance(site, Call) or is_asserted or site.name.endswith("threads_supported"):
        site.manual("The NPU uses none of the libraries of Horovod: write False, or take out the code that asks for them.")
    elif site.allows_unsafe():
        site.replace(site.node, "False")
        site.fixed("False in the place of a question about the libraries of Horovod: the NPU uses none of them.")
    else:
        site.manual(
            "The NPU uses none of the libraries of Horovod: write False, or take out the code that asks for them. --unsafe-fixes "
            "writes False."
        )
