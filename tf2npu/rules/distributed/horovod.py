"""Horovod: with `--distributed horovod` its calls become those of the NPU's collectives; otherwise it is only reported."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.config import Config
from tf2npu.findings import Level
from tf2npu.frameworks.horovod.names import names_of, short_name
from tf2npu.frameworks.horovod.project import horovod_in
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.distributed.tf_distribute import RANKS_AGREE
from tf2npu.rules.facts.files.script_kinds import is_eager
from tf2npu.rules.facts.load_time import start_when_loaded
from tf2npu.rules.facts.removal_conditions import only_without, uses_of_targets
from tf2npu.rules.facts.start.npu_start import at_exit, bracket_entry, start_lines, wants_keras_session, wants_resources
from tf2npu.rules.facts.uncalled_references import passed_on
from tf2npu.scanner.names import root_of
from tf2npu.scanner.sites import Call, Site, parameter_of
from tf2npu.scanner.tree_walk import dotted_name

HVD = Config(distributed="horovod")
KERAS = "horovod.tensorflow.keras."
SOURCE = "npu_bridge.npu_init and hccl.manage.api; horovod.tensorflow 0.19"
WHY = "Horovod's collectives run on GPUs; those of the NPU are reached through npu_bridge."
RANKS = {
    "rank": "get_npu_rank_id",
    "local_rank": "get_npu_local_rank_id",
    "size": "get_npu_rank_size",
    "local_size": "get_npu_local_rank_size",
}
_CHANGES_VALUES = ("compression", "op", "backward_passes_per_step", "gradient_predivide_factor")
# Parameters by position.
_POSITIONS = {
    "horovod.tensorflow.DistributedOptimizer": (
        "optimizer", "name", "use_locking", "device_dense", "device_sparse", "compression", "sparse_as_dense",
        "backward_passes_per_step", "op",
    ),
    "horovod.tensorflow.keras.DistributedOptimizer": (
        "optimizer", "name", "device_dense", "device_sparse", "compression", "sparse_as_dense",
    ),
}  # fmt: skip
_HARMLESS = ("name", "use_locking", "device_dense", "device_sparse", "device")


def is_on(site: Site) -> bool:
    """Whether Horovod is to be converted; in a program without a graph nothing of it can be."""
    return site.script.config.distributed == "horovod" and not is_eager(site.script)


def is_told_by_use(site: Site) -> bool:
    """Whether no import tells what Horovod this is, that of TensorFlow or that of Keras, and only its uses say it is one."""
    node = site.node.func if isinstance(site, Call) else site.node
    bindings = site.scope.lookup(dotted_name(node).partition(".")[0])
    facts = site.script.project.files.get(site.script.path)
    imported = {seen.api for kind, seen in facts.distribution if kind == "horovod"} if facts is not None else set()
    if imported and not any(f"{api}.".startswith(KERAS) for api in imported):
        return False
    stars = [
        star.target for star in site.scope.module.stars if star.level or root_of(star.target) not in ("npu_bridge", "tensorflow")
    ]
    return all(binding.kind in ("param", "other") for binding in bindings) and bool(bindings or not stars)


@rule(
    id="NPU402",
    title="Horovod ranks",
    on="reference",
    matches=names_of(*RANKS),
    why=WHY,
    source=SOURCE,
    examples=(
        Example(
            "import tensorflow as tf\nfrom horovod.tensorflow import rank, size\nf = rank",
            "from npu_bridge.npu_init import get_npu_rank_id\nimport tensorflow as tf\nf = get_npu_rank_id",
            config=HVD,
        ),
        Example.same("import horovod.tensorflow as hvd\nf = hvd.rank", note="without --distributed horovod"),
        Example.same("import my_ranks as hvd\nf = hvd.rank", note="not Horovod's", config=HVD),
    ),
)
def rank_reference(site: Site) -> None:
    """Uses the NPU's functions for ranks and sizes where they are passed on."""
    if is_on(site):
        site.replace(site.node, site.need(RANKS[site.name.rpartition(".")[2]]))
        site.fixed("Rank and size come from the NPU's collectives.")


@part_of(
    rank_reference,
    matches=names_of(*RANKS),
    examples=(
        Example(
            "import tensorflow as tf\nimport horovod.tensorflow as hv\nlr = 0.1 * hv.size()",
            "from npu_bridge.npu_init import get_npu_rank_size\nimport tensorflow as tf\nlr = 0.1 * get_npu_rank_size()",
            config=HVD,
        ),
    ),
)
def rank_call(call: Call) -> None:
    """Asks the NPU's collectives for ranks and sizes."""
    if is_on(call):
        call.replace_callee(call.need(RANKS[call.name.rpartition(".")[2]]))
        call.fixed("Rank and size come from the NPU's collectives.")


_RANKS_START = "`tf2npu run --devices 2` starts two ranks, and both end with exit code 0."


@rule(
    id="NPU403",
    title="Horovod start and end",
    matches=names_of("init", "shutdown"),
    why="The NPU's resources are started before anything else in the entry script and released at its end.",
    done_when=_RANKS_START,
    source="npu_bridge.npu_init.init_resource, shutdown_resource, close_session",
    examples=(
        Example(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\ndef main(_):\n    hvd.init()\n"
            "if __name__ == '__main__':\n    tf.app.run()",
            "from npu_bridge.npu_init import close_session, init_resource, shutdown_resource\n"
            "import tensorflow as tf\ndef main(_):\n    pass\nif __name__ == '__main__':\n"
            "    npu_sess, npu_shutdown = init_resource()\n    try:\n        tf.app.run()\n    finally:\n"
            "        shutdown_resource(npu_sess, npu_shutdown)\n        close_session(npu_sess)",
            config=HVD,
        ),
        Example(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nhvd.init()\nrate = 0.1 * hvd.size()\n"
            "if __name__ == '__main__':\n    tf.app.run()",
            "from npu_bridge.npu_init import close_session, get_npu_rank_size, init_resource, shutdown_resource\n"
            "import tensorflow as tf\nimport atexit\nnpu_sess, npu_shutdown = init_resource()\n"
            "atexit.register(close_session, npu_sess)\natexit.register(shutdown_resource, npu_sess, npu_shutdown)\n"
            "rate = 0.1 * get_npu_rank_size()\nif __name__ == '__main__':\n    tf.app.run()",
            note="started before the guard, as ranks are asked for there",
            config=HVD,
        ),
        Example.same("import horovod.tensorflow as hvd\nhvd.init()", note="without --distributed horovod"),
        Example.same("import my_ranks as hvd\nhvd.init()", note="not Horovod's", config=HVD),
    ),
)
def init_and_shutdown(call: Call) -> None:
    """Takes out Horovod's own start and end: the entry script does it for the NPU, or this place where there is none."""
    if not is_on(call):
        return
    script = call.script
    has_entry = script.config.names_entries or script.path in horovod_in(script.project).started
    is_start = call.name.endswith(".init") and script.config.is_enabled("NPU403")
    if is_start and start_when_loaded(script) is call.node:
        _start_here(call, "The NPU's resources are started here and released when the run is over.")
    elif is_start and not has_entry:
        _start_here(
            call, "No script of this tree starts this code: the NPU's resources are started here, which must happen once."
        )
    else:
        call.take_out()
        call.fixed("Taken out: the entry script starts and releases the NPU's resources.")
    if call.args:
        call.manual("The ranks that take part are given by the rank table on the NPU, not by an argument.")


def _start_here(call: Call, message: str) -> None:
    """Start the NPU's resources where Horovod was started, and release them at the end of the process."""
    script = call.script
    statement: Any = script.walked.parents.get(id(call.node))
    line: Any = script.walked.parents.get(id(statement))
    is_alone = isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1
    start, end = script.tree.span(call.node)
    comments = script.comments(start, end)
    if not isinstance(statement, cst.Expr) or (comments and not is_alone):
        return call.manual("No script of this tree starts this code: run init_resource() of npu_bridge.npu_init here.")
    opening, closing = start_lines(call, True, wants_keras_session(script) and start_when_loaded(script) is call.node)
    lines = ["import atexit", *opening, *at_exit(closing)]
    below = script.newline_at(start) + script.text[script.lines.line_start(start) : start]
    if start_when_loaded(script) is call.node and script.path in script.project.imported:
        step = script.tree.module.default_indent
        lines = ['if __name__ == "__main__":', *(step + line for line in lines)]
    call.replace_range(start, end, (below if is_alone else "; ").join([*comments, *lines]))
    return call.fixed(message)


@part_of(init_and_shutdown, on="module")
def resources(site: Site) -> None:
    """Starts the NPU's resources in the entry script and releases them whatever happens."""
    script = site.script
    if script.config.distributed == "horovod" and wants_resources(script) and start_when_loaded(script) is None:
        bracket_entry(site, True, wants_keras_session(script))
        if not site.fix.changes:
            return
        site.fixed("The NPU's resources are started here and released when the run is over.")


_WRAPPERS = {
    "DistributedOptimizer": "npu_distributed_optimizer_wrapper",
    "BroadcastGlobalVariablesHook": "NPUBroadcastGlobalVariablesHook",
    "callbacks.BroadcastGlobalVariablesCallback": "NPUBroadcastGlobalVariablesCallback",
}
_TAKES = {
    "npu_distributed_optimizer_wrapper": "which takes the optimizer alone",
    "NPUBroadcastGlobalVariablesHook": "which takes root_rank and index=get_npu_rank_id()",
    "NPUBroadcastGlobalVariablesCallback": "which takes root_rank",
}


@rule(
    id="NPU404",
    title="Horovod optimizer and broadcast",
    on="reference",
    matches=names_of(*_WRAPPERS),
    why=WHY,
    done_when=RANKS_AGREE,
    source="npu_bridge.npu_init.npu_distributed_optimizer_wrapper, NPUBroadcastGlobalVariablesHook",
    examples=(
        Example(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nwrap = hvd.DistributedOptimizer\nopt = wrap(opt)",
            "from npu_bridge.npu_init import npu_distributed_optimizer_wrapper\nimport tensorflow as tf\n"
            "wrap = npu_distributed_optimizer_wrapper\nopt = npu_distributed_optimizer_wrapper(opt)",
            config=HVD,
        ),
        Example.same(
            "import horovod.tensorflow as hvd\nmake(wrap=hvd.DistributedOptimizer)",
            note="called elsewhere",
            level="manual",
            config=HVD,
        ),
        Example.same("import horovod.tensorflow as hvd\nmake(wrap=hvd.DistributedOptimizer)", note="without the option"),
    ),
)
def optimizer_and_broadcast_named(site: Site) -> None:
    """Gives the name for one of them to that of the NPU, and reports one that is called elsewhere."""
    if not is_on(site):
        return
    symbol = _WRAPPERS[short_name(site.name) or ""]
    advice = f"It is called elsewhere: hand on {symbol} of npu_bridge.npu_init, {_TAKES[symbol]}."
    if site.is_alias():
        assign: Any = site.script.walked.parents.get(id(site.node))
        site.replace(site.node, site.need(symbol))
        site.fixed("Gradients and initial variables go through the NPU's collectives.")
        only_without(site, uses_of_targets(site, assign), Level.MANUAL, lambda used: advice)
    elif passed_on(site) is not None:
        site.manual(advice)


@part_of(
    optimizer_and_broadcast_named,
    matches=names_of(*_WRAPPERS),
    examples=(
        Example(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nopt = hvd.DistributedOptimizer(opt)",
            "from npu_bridge.npu_init import npu_distributed_optimizer_wrapper\nimport tensorflow as tf\n"
            "opt = npu_distributed_optimizer_wrapper(opt)",
            config=HVD,
        ),
        Example(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nh = hvd.BroadcastGlobalVariablesHook(root_rank=2)",
            "from npu_bridge.npu_init import NPUBroadcastGlobalVariablesHook, get_npu_rank_id\n"
            "import tensorflow as tf\nh = NPUBroadcastGlobalVariablesHook(root_rank=2, index=get_npu_rank_id())",
            config=HVD,
        ),
        Example(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\n"
            "opt = hvd.DistributedOptimizer(opt, sparse_as_dense=True)",
            "from npu_bridge.npu_init import npu_distributed_optimizer_wrapper\nimport tensorflow as tf\n"
            "opt = npu_distributed_optimizer_wrapper(opt)",
            note="how gradients are made dense is said",
            level="unsupported",
            config=HVD,
        ),
        Example.same("import horovod.tensorflow as hvd\nopt = hvd.DistributedOptimizer(opt)", note="without the option"),
        Example.same("import my_ranks as hvd\nopt = hvd.DistributedOptimizer(opt)", note="not Horovod's", config=HVD),
    ),
)
def optimizer_and_broadcast(call: Call) -> None:
    """Uses the NPU's distributed optimizer and its broadcast of the initial variables."""
    if not is_on(call):
        return
    if call.has_star_args:
        call.manual("The arguments come out of *args or **kwargs; use the NPU's optimizer wrapper or hook by hand.")
        return
    kind = call.name.rpartition(".")[2]
    kept = call.arg("optimizer" if kind == "DistributedOptimizer" else "root_rank", 0)
    removed = [arg for arg in call.args if arg is not kept]
    if removed and kept is None and kind != "DistributedOptimizer":
        call.manual("root_rank is missing here, without which Horovod stops; write it, and convert again.")
        return
    if removed:
        call.remove_args(removed)
    for arg in removed:
        report_removed(call, arg)
    call.replace_callee(call.need(_WRAPPERS[short_name(call.name) or ""]))
    if kind == "BroadcastGlobalVariablesHook":
        _index_after(call, kept)
    call.fixed("Gradients and initial variables go through the NPU's collectives.")


def report_removed(call: Call, arg: cst.Arg) -> None:
    """An argument that changes what is computed does not go without a word; a name or a device may."""
    name = parameter_of(call.node, arg, _POSITIONS.get(call.name, ("root_rank", "device")))
    value = " ".join(call.source(arg.value).split())
    text = f"{name}={value}" if name else value
    if _is_default(call, arg, name) or name in _HARMLESS:
        call.info(f"{text} was removed: the NPU's collectives have no such setting.")
    elif name == "sparse_as_dense":
        call.unsupported(
            f"{text} was removed: the NPU gathers slices, of which every rank must have as many. To average dense gradients, "
            "leave the optimizer unwrapped and apply [(npu_allreduce(tf.convert_to_tensor(g)), v) for g, v in "
            "optimizer.compute_gradients(loss) if g is not None]."
        )
    elif name in _CHANGES_VALUES:
        call.unsupported(f"{text} was removed: the NPU averages gradients as they are. Check that training still converges.")
    else:
        call.manual(f"{text} was removed: the NPU's collectives have no such setting. Check that nothing else relies on it.")


def _is_default(call: Call, arg: cst.Arg, parameter: str) -> bool:
    """Whether an argument says what Horovod does anyway."""
    value: Any = arg.value
    if isinstance(value, (cst.Name, cst.Attribute)):
        name = call.resolve(value) or ""
        return name in ("None", "False") or name.endswith((".Compression.none", ".NoneCompressor", ".Average"))
    is_one = isinstance(value, (cst.Integer, cst.Float)) and value.evaluated_value == 1
    return is_one and parameter in ("backward_passes_per_step", "gradient_predivide_factor")


def _index_after(call: Call, root: cst.Arg | None) -> None:
    index = f"index={call.need('get_npu_rank_id')}()"
    if root is None:
        call.add_keyword(f"root_rank=0, {index}")
    else:
        call.enclose_generator()
        call.insert(call.script.tree.span(root.value)[1], f", {index}")
