"""Batches of one size in scripts for TensorFlow 2."""

from __future__ import annotations

import re

from tf2npu.config import Config
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.pipelines.batch_sizes import report_unknown, use_one_size
from tf2npu.rules.facts.pipelines.dataset_context import Context, context_of, holders
from tf2npu.rules.facts.training.loops import TRAIN, roles_in_loops
from tf2npu.scanner.sites import Call

_TF2 = Config(dialect="tf2")
_DATASET = "tensorflow.data.Dataset()"
_NOT_TRAINING = re.compile(r"eval|test|val|infer|pred|dev", re.IGNORECASE)
_STEP = "def step(x):\n    o.apply_gradients(zip(g(x), v))\n"


@rule(
    id="NPU803",
    title="drop_remainder in TensorFlow 2",
    matches=(f"{_DATASET}.batch", f"{_DATASET}.padded_batch"),
    why="A function is compiled for the shapes that it is called with: a smaller last batch means one more compilation.",
    done_when="The log of a run tells one signature for the function of a training step.",
    source="TensorFlow 2 adapter porting guide: drop_remainder; tf.data.Dataset.batch of TensorFlow 2.15",
    examples=(
        Example(
            f"{_STEP}ds = tf.data.Dataset.range(9).batch(4)\ndef main():\n    for x in ds:\n        step(x)",
            f"{_STEP}ds = tf.data.Dataset.range(9).batch(4, drop_remainder=True)\ndef main():\n    for x in ds:\n        step(x)",
            note="a loop that applies gradients",
            config=_TF2,
        ),
        Example(
            "def main(m):\n    ds = tf.data.Dataset.range(9).batch(4)\n    m.fit(ds, epochs=2)",
            "def main(m):\n    ds = tf.data.Dataset.range(9).batch(4, drop_remainder=True)\n    m.fit(ds, epochs=2)",
            config=_TF2,
        ),
        Example.same(
            "ds = tf.data.Dataset.range(9).batch(4)\ndef train(m):\n    m.fit(ds, epochs=2)",
            note="used in a function, where it may be something else",
            level="info",
            config=_TF2,
        ),
        Example.same(
            "def main(m):\n    ds = tf.data.Dataset.range(9).batch(4)\n    m.evaluate(ds)",
            note="no example may be lost",
            level="info",
            config=_TF2,
        ),
        Example.same("ds = tf.data.Dataset.range(9).batch(4, drop_remainder=True)", note="done already", config=_TF2),
    ),
)
def drop_remainder_of_2(call: Call) -> None:
    """Drops the last, smaller batch of training data."""
    context = context_of(call)
    use_one_size(call, Context("train") if context.kind == "unknown" and _is_trained_with(call) else context)


def _is_trained_with(call: Call) -> bool:
    """Whether all loops over what is batched apply gradients."""
    roles, found = roles_in_loops(call.script), set()
    names = holders(call)
    for name in names:
        found |= roles.get((id(call.scope.lookup_scope(name)), name), set())
    return found == {TRAIN} and not any(_NOT_TRAINING.search(name) for name in names)


@part_of(
    drop_remainder_of_2,
    on="unknown_method",
    matches=("batch",),
    examples=(
        Example.same("def f(d):\n    return d.batch(32)", note="what d is, is not known here", level="info", config=_TF2),
        Example.same("class Loader:\n    def batch(self, n):\n        return n\nb = Loader().batch(32)", config=_TF2),
    ),
)
def unknown_batch_of_2(call: Call) -> None:
    """Reports a batch of something that may be a dataset."""
    report_unknown(call)
