"""Horovod in scripts for TensorFlow 2: npu.distribute does what it did, where all of its uses are known."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.config import Config
from tf2npu.findings import Level
from tf2npu.frameworks.horovod.names import names_of
from tf2npu.frameworks.tensorflow2.framework import ALIAS
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.removal_conditions import only_without
from tf2npu.rules.facts.replaced_statement import write_instead
from tf2npu.rules.facts.training.horovod_plan import Counterpart, Kind, horovod_plan
from tf2npu.scanner.import_names import imported_modules
from tf2npu.scanner.names import root_of
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Call, Site

_HOROVOD = Config(dialect="tf2", distributed="horovod")
_HEAD = "import tensorflow as tf\nimport horovod.tensorflow as hvd\n"
_OPENED = "import tensorflow as tf\nimport npu_device as npu\nnpu.open().as_default()\n"
_CALLBACK = "NPUBroadcastGlobalVariablesCallback"
_OF_BOTH = (
    "init", "shutdown", "rank", "size", "local_rank", "local_size", "broadcast_variables", "allreduce", "DistributedOptimizer",
)  # fmt: skip
_CALLED = (
    *names_of(*_OF_BOTH),
    "horovod.tensorflow.DistributedGradientTape",
    "horovod.tensorflow.keras.callbacks.BroadcastGlobalVariablesCallback",
    "horovod.tensorflow.keras.callbacks.MetricAverageCallback",
)


@rule(
    id="NPU816",
    title="Horovod in TensorFlow 2",
    matches=_CALLED,
    why="Horovod drives no NPU: each NPU is driven by a process of its own, and npu.distribute is what they do together.",
    done_when="Print a sum of the variables after ten steps of two processes: both print the same number.",
    source="npu_device.distribute; horovod.tensorflow of Horovod 0.28",
    examples=(
        Example(
            f"{_HEAD}hvd.init()\no = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1 * hvd.size()))\n"
            "if hvd.rank() == 0:\n    print(o)\n@tf.function\ndef f(x):\n    return x\nf(1.0)",
            f"{_OPENED}o = npu.distribute.npu_distributed_keras_optimizer_wrapper(tf.keras.optimizers.SGD(0.1 * "
            "npu.open().workers_num))\nif npu.open().worker_id == 0:\n    print(o)\n@tf.function\ndef f(x):\n    return x\n"
            "f(1.0)",
            config=_HOROVOD,
        ),
        Example(
            f"{_HEAD}hvd.init()\n@tf.function\ndef f(x):\n    with tf.GradientTape() as t:\n        l = m(x)\n"
            "    t = hvd.DistributedGradientTape(t)\n    return t.gradient(l, m.variables)\nf(x)",
            f"{_OPENED}@tf.function\ndef f(x):\n    with tf.GradientTape() as t:\n        l = m(x)\n"
            "    return npu.distribute.all_reduce(t.gradient(l, m.variables))\nf(x)",
            config=_HOROVOD,
        ),
        Example.same(
            f"{_HEAD}hvd.init()\nprint(hvd.allgather(x))", note="nothing stands for it", level="manual", config=_HOROVOD
        ),
        Example.same(f"{_HEAD}hvd.init()", note="one NPU", level="manual", config=Config(dialect="tf2")),
    ),
)
def horovod_call(call: Call) -> None:
    """Writes npu.distribute, or the handle of the device, in the place of a function of Horovod."""
    plan = horovod_plan(call.script)
    counterpart = plan.counterparts.get(id(call.node)) if plan.is_whole else None
    if counterpart is None:
        return
    if counterpart.kind is Kind.GONE:
        _take_out(call)
    elif counterpart.kind is Kind.VALUE:
        call.replace(call.node, f"{call.need(ALIAS)}.open().{counterpart.name}")
        call.fixed("The ranks of the job are those of npu_device.")
    elif counterpart.kind is Kind.OF_SERVER:
        call.need_module("hccl.manage.api", counterpart.name)
        call.replace(call.node.func, counterpart.name)
        call.fixed("The ranks of this server are those of HCCL.")
    elif counterpart.kind is Kind.FUNCTION:
        call.replace(call.node.func, f"{call.need(ALIAS)}.{counterpart.name}")
        call.fixed("npu.distribute does here what Horovod did.")
    elif counterpart.kind is Kind.BROADCAST:
        call.need_module("npu_device.distribute.npu_callbacks", _CALLBACK)
        call.replace(call.node.func, _CALLBACK)
        call.fixed("Every rank begins with the variables of one.")
    else:
        _average(call, counterpart)


def _take_out(call: Call) -> None:
    """Take out a statement, or an element of a list."""
    parent: Any = call.script.walked.parents.get(id(call.node))
    if isinstance(parent, cst.Element):
        _take_out_element(call, parent)
        call.fixed("Taken out: metrics are those of each rank, and nothing here decides by them.")
        return
    if not call.delete_statement(parent):
        write_instead(call, parent, "pass")
    call.fixed("Taken out: npu_device joins the job when it is opened.")


def _take_out_element(call: Call, element: cst.Element) -> None:
    """Take out an element of a list with the comma between it and the next one, or the one before."""
    script = call.script
    elements: Any = script.walked.parents[id(element)]
    items = list(elements.elements)
    place = items.index(element)
    start, end = script.tree.span(element.value)
    if place + 1 < len(items):
        end = script.tree.span(items[place + 1].value)[0]
    else:
        start = script.tree.span(items[place - 1].value)[1]
    call.replace_range(start, end, "")


def _average(call: Call, tape: Counterpart) -> None:
    """Average what a tape gives in the place of wrapping the tape."""
    statement: Any = call.script.walked.parents.get(id(call.node))
    if not call.delete_statement(statement):
        write_instead(call, statement, "pass")
    for gradient in tape.gradients:
        call.wrap_in_call(gradient, f"{call.need(ALIAS)}.distribute.all_reduce")
    call.fixed("Gradients are averaged over the ranks.")


@part_of(
    horovod_call,
    on="module",
    examples=(
        Example.same(f"{_HEAD}hvd.init()\nf = hvd.rank", note="handed on", level="manual", config=_HOROVOD),
        Example.same("import tensorflow as tf\nprint(tf.ones(1))", note="no Horovod", config=_HOROVOD),
    ),
)
def horovod_left(site: Site) -> None:
    """Says what is in the way where not all uses of Horovod can be converted: none is then."""
    for node, scope, reason in horovod_plan(site.script).reasons:
        one = Site(site.script, site.fix.rule, node, scope)
        one.manual(f"Stays with Horovod, as not all of it can be converted: {reason}. Then convert it again.")
        site.fix.findings += one.fix.findings
    site.fix.site = (0, 0)


@part_of(
    horovod_call,
    on="import",
    examples=(
        Example.same(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nhvd.init()", level="manual", config=Config(dialect="tf2")
        ),
        Example.same("import tensorflow as tf\nimport horovods", note="another package", config=Config(dialect="tf2")),
    ),
)
def horovod_import_of_2(site: Site) -> None:
    """Takes the import of Horovod out where nothing uses it any more; else reports it, as Horovod drives no NPU."""
    if not any(root_of(module) == "horovod" for module in imported_modules(site.node)):
        return
    script: Script = site.script
    plan = horovod_plan(script)
    if script.config.distributed == "horovod" and plan.is_whole:
        if not site.delete_statement(site.node):
            write_instead(site, site.node, "pass")
        site.fixed("Taken out: what this import gives is no longer used.")
        only_without(site, plan.uses, Level.MANUAL, _LEFT.format)
    elif not plan.reasons:
        site.manual(_ADVICE)


_LEFT = "Horovod drives no NPU, and {} is still used here: take it out."
_ADVICE = (
    "Horovod drives no NPU: convert with --distributed horovod to train on several. Or take it out to train on one. "
    "npu.distribute has broadcast, all_reduce and npu_distributed_keras_optimizer_wrapper."
)
