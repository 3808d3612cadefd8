"""Training on several NPUs: what npu.distribute has to do in a script for TensorFlow 2 that is run once for each of them."""

from __future__ import annotations

from tf2npu.config import Config
from tf2npu.frameworks.tensorflow2.framework import ALIAS
from tf2npu.frameworks.tensorflow2.optimizers import OPTIMIZERS
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.start.entry_block import insert_behind
from tf2npu.rules.facts.training.distribution_plan import MIRRORED, distribution_plan
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Call, Site

_RANKS = Config(dialect="tf2", distributed="tf")
_WRAPPER = "distribute.npu_distributed_keras_optimizer_wrapper"
_HEAD = "import tensorflow as tf\nimport npu_device as npu\nnpu.open().as_default()\n"
_MODEL = "m = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])\n"
_BROADCAST = "npu.distribute.broadcast(m.trainable_variables)\n"
_DATA = "d = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(9).batch(8)\n"
_SHARDED = (
    "npu_dataset, npu_batch_size = npu.distribute.shard_and_rebatch_dataset(tf.data.Dataset.from_tensor_slices((x, y)), 8)\n"
    "d = npu_dataset.shuffle(9).batch(npu_batch_size, drop_remainder=True)\n"
)
_TAPE = (
    "@tf.function\ndef step(b):\n    with tf.GradientTape() as t:\n        l = loss(m(b))\n"
    "    g = {}\n    o.apply_gradients(zip(g, m.trainable_variables))\n"
)
_GRADIENT = "t.gradient(l, m.trainable_variables)"


@rule(
    id="NPU813",
    title="Ranks of TensorFlow 2",
    on="module",
    why="Each rank begins with variables of its own and sees its own data: without npu.distribute each trains another model.",
    done_when="Print a sum of the variables after ten steps of two processes: both print the same number.",
    source="npu_device.distribute: broadcast, all_reduce, npu_distributed_keras_optimizer_wrapper, shard_and_rebatch_dataset",
    examples=(
        Example(
            f"import tensorflow as tf\n{_DATA}{_MODEL}m.compile('sgd', 'mse')\nm.fit(d, epochs=2)",
            f"{_HEAD}{_SHARDED}{_MODEL}{_BROADCAST}m.compile(npu.{_WRAPPER}('sgd'), 'mse')\nm.fit(d, epochs=2)",
            config=_RANKS,
        ),
        Example(
            f"import tensorflow as tf\n{_DATA}{_MODEL}o = tf.keras.optimizers.SGD()\n{_TAPE.format(_GRADIENT)}"
            "for b in d:\n    step(b)",
            f"{_HEAD}{_SHARDED}{_MODEL}{_BROADCAST}o = tf.keras.optimizers.SGD()\n"
            f"{_TAPE.format(f'npu.distribute.all_reduce({_GRADIENT})')}for b in d:\n    step(b)",
            config=_RANKS,
        ),
        Example.same(
            "m = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nd = tf.data.Dataset.range(9).batch(8, drop_remainder=True)\n"
            "m.compile('sgd', 'mse')\nm.fit(d, epochs=2)",
            note="built by its first batch", level="manual", config=_RANKS,
        ),
        Example.same(f"{_MODEL}m.compile('sgd', 'mse')\nm.fit(x, y, epochs=2)", note="arrays", level="manual", config=_RANKS),
    ),
)  # fmt: skip
def several_ranks(site: Site) -> None:
    """Has every rank begin with the variables of the first, where all of the training is distributed; else says why not."""
    plan = distribution_plan(site.script)
    for node, scope, reason in plan.reasons:
        one = Site(site.script, site.fix.rule, node, scope)
        if node is site.script.tree.module:
            one.fix.site = (0, 0)
        one.manual(f"Stays for one NPU, as not all of it can be distributed: {reason}. Then convert it again.")
        site.fix.findings += one.fix.findings
    if plan.reasons:
        site.fix.site = (0, 0)
    if not plan.is_whole:
        return
    npu = site.need(ALIAS)
    for statement, name in plan.models:
        insert_behind(site, statement, [f"{npu}.distribute.broadcast({name}.trainable_variables)"])
    site.fix.site = (site.fix.changes[0].start,) * 2
    site.fixed("Every rank begins with the variables of rank 0.")
    site.info("Every rank writes what the script writes: save and print where npu.open().worker_id is 0.")


@part_of(
    several_ranks,
    on="call",
    matches=OPTIMIZERS,
    examples=(
        Example(
            f"import tensorflow as tf\n{_DATA}{_MODEL}m.compile(tf.keras.optimizers.Adam(0.1), 'mse')\nm.fit(d, epochs=2)",
            f"{_HEAD}{_SHARDED}{_MODEL}{_BROADCAST}m.compile(npu.{_WRAPPER}(tf.keras.optimizers.Adam(0.1)), 'mse')\n"
            "m.fit(d, epochs=2)",
            config=_RANKS,
        ),
        Example(
            f"import tensorflow as tf\n{_DATA}{_MODEL}m.compile(tf.optimizers.Adam(0.1), 'mse')\nm.fit(d, epochs=2)",
            f"{_HEAD}{_SHARDED}{_MODEL}{_BROADCAST}m.compile(npu.{_WRAPPER}(tf.optimizers.Adam(0.1)), 'mse')\nm.fit(d, epochs=2)",
            config=_RANKS,
        ),
        Example.same("o = tf.keras.optimizers.Adam(0.1)", note="trains nothing here", config=_RANKS),
    ),
)
def optimizer_of_ranks(call: Call) -> None:
    """Wraps an optimizer of `fit`, so that gradients are averaged over the ranks."""
    plan = distribution_plan(call.script)
    if plan.is_whole and id(call.node) in plan.optimizers:
        call.wrap_in_call(call.node, f"{call.need(ALIAS)}.{_WRAPPER}")
        call.fixed("Gradients are averaged over the ranks.")


@part_of(
    several_ranks,
    on="call",
    matches=("tensorflow.keras.Model().compile", "tensorflow.keras.Sequential().compile"),
    examples=(Example.same("m = tf.keras.Sequential()\nm.compile('sgd', 'mse')", note="one NPU", config=Config(dialect="tf2")),),
)
def optimizer_by_its_name(call: Call) -> None:
    """Wraps an optimizer that `compile` gets as a text."""
    plan = distribution_plan(call.script)
    arg = plan.strings.get(id(call.node)) if plan.is_whole else None
    if arg is not None:
        call.wrap_in_call(arg.value, f"{call.need(ALIAS)}.{_WRAPPER}")
        call.fixed("Gradients are averaged over the ranks.")


@part_of(
    several_ranks,
    on="call",
    matches=("tensorflow.GradientTape().gradient",),
    examples=(Example.same("with tf.GradientTape() as t:\n    l = f(x)\ng = t.gradient(l, x)", config=_RANKS),),
)
def gradients_of_ranks(call: Call) -> None:
    """Averages gradients over the ranks."""
    plan = distribution_plan(call.script)
    if plan.is_whole and id(call.node) in plan.gradients:
        call.wrap_in_call(call.node, f"{call.need(ALIAS)}.distribute.all_reduce")
        call.fixed("Gradients are averaged over the ranks.")


@part_of(
    several_ranks,
    on="module",
    examples=(
        Example.same("d = tf.data.Dataset.range(9).batch(3)", note="trains nothing here", level="manual", config=_RANKS),
    ),
)  # fmt: skip
def batches_of_ranks(site: Site) -> None:
    """Gives each rank its part of the data, and of each batch."""
    plan, script = distribution_plan(site.script), site.script
    if not plan.is_whole:
        return
    npu, dataset, size = site.need(ALIAS), _free(script, "npu_dataset"), _free(script, "npu_batch_size")
    for batch in plan.batches.values():
        start = script.tree.span(batch.statement)[0]
        line_start = script.lines.line_start(start)
        arguments = f"{site.source(batch.source)}, {site.source(batch.size.value)}"
        made = f"{dataset}, {size} = {npu}.distribute.shard_and_rebatch_dataset({arguments})"
        site.insert(line_start, f"{script.text[line_start:start]}{made}{script.newline_at(start)}")
        site.replace(batch.source, dataset)
        site.replace(batch.size.value, size)
    site.fix.site = min(c.start for c in site.fix.changes), max(c.end for c in site.fix.changes)
    site.fixed("Each rank reads its part of the data; the batches of all ranks together have the size that stood here.")


def _free(script: Script, name: str) -> str:
    """The name, or one like it that the file does not have."""
    while name in script.text:
        name += "_"
    return name


@part_of(
    several_ranks,
    on="reference",
    matches=tuple(f"{name}().num_replicas_in_sync" for name in MIRRORED),
    examples=(
        Example.same(
            "s = tf.distribute.MirroredStrategy()\nn = s.num_replicas_in_sync", note="one NPU", config=Config(dialect="tf2")
        ),
    ),
)  # fmt: skip
def number_of_ranks(site: Site) -> None:
    """Asks npu_device for the number of ranks, which the default strategy does not know."""
    if distribution_plan(site.script).is_whole:
        site.replace(site.node, f"{site.need(ALIAS)}.open().workers_num")
        site.fixed("The number of ranks is that of processes, one for each NPU.")
