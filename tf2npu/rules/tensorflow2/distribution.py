"""Distributed training in scripts for TensorFlow 2: reported, as each NPU is driven by a process of its own."""

from __future__ import annotations

from tf2npu.config import Config
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.asked_distribution import to_convert
from tf2npu.rules.facts.training.distribution_plan import distribution_plan
from tf2npu.rules.facts.uncalled_references import passed_on
from tf2npu.scanner.sites import Call, Site

_TF2 = Config(dialect="tf2")
_MIRRORED = (
    "tensorflow.distribute.MirroredStrategy", "tensorflow.distribute.MultiWorkerMirroredStrategy",
    "tensorflow.distribute.experimental.MultiWorkerMirroredStrategy", "tensorflow.distribute.OneDeviceStrategy",
    "tensorflow.distribute.experimental.CentralStorageStrategy",
)  # fmt: skip
_REFUSED = (
    "tensorflow.distribute.experimental.ParameterServerStrategy", "tensorflow.distribute.ParameterServerStrategy",
    "tensorflow.distribute.TPUStrategy", "tensorflow.distribute.experimental.TPUStrategy",
    "tensorflow.experimental.dtensor.create_mesh", "tensorflow.experimental.dtensor.create_distributed_mesh",
    "tensorflow.experimental.dtensor.initialize_accelerator_system",
)  # fmt: skip


@rule(
    id="NPU812",
    title="Distributed training in TensorFlow 2",
    matches=_MIRRORED,
    why="On NPUs each process holds one replica and averages gradients by npu.distribute: a strategy sees one device.",
    done_when="Print a sum of the variables after ten steps of two processes: both print the same number.",
    source="npu_device.distribute: broadcast, all_reduce, npu_distributed_keras_optimizer_wrapper, shard_and_rebatch_dataset",
    examples=(
        Example.same(
            "s = tf.distribute.MirroredStrategy()",
            level="manual",
            config=_TF2,
            write="o = npu.distribute.npu_distributed_keras_optimizer_wrapper(o)",
        ),
        Example.same("s = my.distribute.MirroredStrategy()", note="the user's own", config=_TF2),
        Example.same("s = tf.distribute.get_strategy()", note="the default, which is none", config=_TF2),
    ),
)
def strategy_of_2(call: Call) -> None:
    """Takes the default strategy, which does nothing, where all of a script is distributed; else reports the strategy."""
    plan = distribution_plan(call.script)
    if not plan.is_whole or id(call.node) not in plan.strategies:
        call.manual(f"{_ADVICE}{to_convert(call, ' Convert with --distributed tf to have it done where all places are seen.')}")
        return
    module = call.source(call.node.func).rpartition(".distribute.")[0]
    call.replace(call.node, f"{module}.distribute.get_strategy()")
    call.fixed("The default strategy: each process has one replica, and npu.distribute does what the strategy did.")


_ADVICE = (
    "A strategy sees one NPU. To train on several, start a process for each and take the strategy out: wrap the optimizer in "
    "npu.distribute.npu_distributed_keras_optimizer_wrapper, call npu.distribute.broadcast(model.trainable_variables) after the "
    "model is built, and batch with the size that npu.distribute.shard_and_rebatch_dataset returns."
)


@part_of(
    strategy_of_2,
    on="reference",
    matches=(*_MIRRORED, *_REFUSED),
    examples=(
        Example.same(
            "kinds = {'mirrored': tf.distribute.MirroredStrategy}", note="called elsewhere", level="manual", config=_TF2
        ),
        Example.same("ok = isinstance(s, tf.distribute.MirroredStrategy)", note="only asked for", config=_TF2),
    ),
)
def strategy_class_of_2(site: Site) -> None:
    """Reports the class of a strategy that is passed on, chosen or extended."""
    if passed_on(site) is not None:
        site.manual(_ADVICE)


@part_of(
    strategy_of_2,
    matches=_REFUSED,
    why="npu_device drives one NPU in a process, and has neither parameter servers nor meshes of devices.",
    examples=(
        Example.same(
            "s = tf.distribute.experimental.ParameterServerStrategy(r)", level="unsupported", config=_TF2,
        ),
        Example.same("p = tf.train.ClusterSpec({})", note="a description alone", config=_TF2),
    ),
)  # fmt: skip
def refused_strategy(call: Call) -> None:
    """Reports kinds of distribution that npu_device does not have."""
    call.unsupported(
        "npu_device has no parameter servers, TPUs and DTensor: it refuses this. Train data parallel, a process for each NPU, "
        "with npu.distribute in the place of the strategy."
    )
