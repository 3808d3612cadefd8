"""Batches of one size: `drop_remainder=True` where that is proven to be harmless."""

from __future__ import annotations

from tf2npu.config import Config
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.pipelines.batch_sizes import POSITION, report_unknown, use_one_size
from tf2npu.scanner.sites import Call

_DATASET = "tensorflow.data.Dataset()"


@rule(
    id="NPU601",
    title="drop_remainder",
    matches=tuple(POSITION),
    why="The NPU compiles a graph for fixed shapes, once more for a smaller last batch, and anew for each shape that varies.",
    done_when="The summary of `tf2npu run` tells 0 new shapes for an epoch of training.",
    source="TensorFlow adapter porting guide: drop_remainder; tf.data.Dataset.batch of TensorFlow 1.15",
    examples=(
        Example(
            "ds = tf.data.Dataset.range(9).repeat().batch(4)",
            "ds = tf.data.Dataset.range(9).repeat().batch(4, drop_remainder=True)",
            note="an endless dataset has no last batch, so no value changes",
        ),
        Example(
            "def train_fn():\n    return tf.data.TFRecordDataset('f').batch(32)\n"
            "e = tf.estimator.Estimator(fn, config=npu_run_config_init())\ne.train(train_fn)",
            "def train_fn():\n    return tf.data.TFRecordDataset('f').batch(32, drop_remainder=True)\n"
            "e = tf.estimator.Estimator(fn, config=npu_run_config_init())\ne.train(train_fn)",
            config=Config(select=frozenset({"NPU6"})),
        ),
        Example(
            "def input_fn(training):\n    return tf.data.TFRecordDataset('f').batch(32)\n"
            "e.train(lambda: input_fn(True))\ne.evaluate(lambda: input_fn(False))",
            "def input_fn(training):\n    return tf.data.TFRecordDataset('f').batch(32, drop_remainder=training)\n"
            "e.train(lambda: input_fn(True))\ne.evaluate(lambda: input_fn(False))",
        ),
        Example(
            "def input_fn(mode):\n    return tf.data.TFRecordDataset('f').batch(32)\n"
            "e.train(lambda: input_fn(tf.estimator.ModeKeys.TRAIN))\ne.evaluate(lambda: input_fn(tf.estimator.ModeKeys.EVAL))",
            "def input_fn(mode):\n    return tf.data.TFRecordDataset('f').batch(32, "
            "drop_remainder=(mode == tf.estimator.ModeKeys.TRAIN))\n"
            "e.train(lambda: input_fn(tf.estimator.ModeKeys.TRAIN))\ne.evaluate(lambda: input_fn(tf.estimator.ModeKeys.EVAL))",
        ),
        Example.same("ds = tf.data.TFRecordDataset('f').batch(8)", note="used for what?", level="info"),
        Example.same(
            "x = tf.data.Dataset.range(9).repeat().batch(4).make_one_shot_iterator().get_next()\ns.run(y, {x: test})",
            note="whatever is fed may have another size",
            level="info",
        ),
        Example.same("ds = tf.data.TFRecordDataset('f').batch(8, True)", note="done already"),
        Example.same("ds = tf.data.TFRecordDataset('f').batch(**kw)", note="may be in kw", level="info"),
    ),
)
def drop_remainder(call: Call) -> None:
    """Drops the last, smaller batch of training data."""
    use_one_size(call)


@part_of(
    drop_remainder,
    on="unknown_method",
    matches=("batch",),
    examples=(
        Example.same("def f(d):\n    return d.batch(32)", note="what d is, is not known here", level="info"),
        Example.same("def f(pred_ds):\n    return pred_ds.batch(8)", note="predictions must not be lost", level="info"),
        Example.same("def f(d, kw):\n    return d.batch(**kw)", note="drop_remainder may be in kw", level="info"),
        Example.same("class Loader(object):\n    def batch(self, n):\n        return n\nb = Loader().batch(32)"),
    ),
)
def unknown_batch(call: Call) -> None:
    """Reports a batch of something that may be a dataset."""
    report_unknown(call)


@rule(
    id="NPU602",
    title="One-shot iterator",
    matches=(f"{_DATASET}.make_one_shot_iterator", "tensorflow.data.make_one_shot_iterator"),
    why="Several steps in one call of the device (iterations_per_loop) need an iterator that is initialised.",
    source="TensorFlow adapter porting guide: iteration offload",
    examples=(
        Example.same(
            "it = tf.data.Dataset.range(9).make_one_shot_iterator()",
            note="works as it is",
            level="info",
            write="it = tf.data.Dataset.range(9).make_initializable_iterator()",
        ),
        Example.same("it = tf.data.Dataset.range(9).make_initializable_iterator()", note="what offload wants"),
    ),
)
def one_shot_iterator(call: Call) -> None:
    """Reports iterators that do not allow several steps in one call."""
    call.info(
        "The one-shot iterator works as it is. Only to set iterations_per_loop above 1 on an NPU, write "
        "make_initializable_iterator and run its initializer before training."
    )
