"""Branches of an input function: a batch that only evaluation reaches is no training batch, whatever tells it."""

from __future__ import annotations

import pytest

from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Level

BY_MODE = """import tensorflow as tf
def input_fn(mode, n):
    ds = tf.data.TFRecordDataset('f')
    if {test}:
        {then}
    else:
        {other}
    return ds
e.train(lambda: input_fn(tf.estimator.ModeKeys.TRAIN, 3))
e.evaluate(lambda: input_fn(tf.estimator.ModeKeys.EVAL, 3))
e.predict(lambda: input_fn(tf.estimator.ModeKeys.PREDICT, 3))
"""
BY_FLAG = BY_MODE.replace("tf.estimator.ModeKeys.TRAIN", "True").replace("tf.estimator.ModeKeys.EVAL", "False")
BY_FLAG = BY_FLAG.replace("tf.estimator.ModeKeys.PREDICT", "False")
IS_TRAIN = "mode == tf.estimator.ModeKeys.TRAIN"
BATCH, FULL = "ds = ds.batch(n)", "ds = ds.batch(n, drop_remainder=True)"


def batches(source: str) -> tuple[str, list[Level]]:
    """The converted text, and the levels of what is said of batches."""
    result = convert_source(source, "input.py")
    text = result.after.decode()
    assert convert_source(text, "input.py").after.decode() == text
    return text, [f.level for f in result.findings if f.rule == "NPU601"]


@pytest.mark.parametrize(
    ("frame", "test"),
    [
        (BY_MODE, IS_TRAIN),
        (BY_MODE, "not mode != tf.estimator.ModeKeys.TRAIN"),
        (BY_MODE, f"n > 2 and ({IS_TRAIN})"),
        (BY_FLAG, "mode"),
        (BY_FLAG, "(mode)"),
        (BY_FLAG, "not not mode and n"),
    ],
)
def test_what_is_true_in_training_only_tells_its_branch(frame: str, test: str) -> None:
    text, levels = batches(frame.format(test=test, then=BATCH, other="ds = ds.skip(1)"))
    assert FULL in text and levels == [Level.FIXED]


@pytest.mark.parametrize(
    ("frame", "test"),
    [
        (BY_MODE, "mode != tf.estimator.ModeKeys.TRAIN"),
        (BY_MODE, "mode == tf.estimator.ModeKeys.EVAL"),
        (BY_MODE, "mode == tf.estimator.ModeKeys.PREDICT"),
        (BY_MODE, f"not ({IS_TRAIN})"),
        (BY_FLAG, "not mode"),
        (BY_FLAG, "n and not mode"),
    ],
)
def test_what_holds_outside_of_training_keeps_its_batch_and_is_told(frame: str, test: str) -> None:
    text, levels = batches(frame.format(test=test, then=BATCH, other="ds = ds.skip(1)"))
    assert BATCH in text and levels == [Level.INFO]


def test_the_other_branch_of_training_is_evaluation() -> None:
    text, levels = batches(BY_MODE.format(test=IS_TRAIN, then="ds = ds.repeat()", other=BATCH))
    assert BATCH in text and levels == [Level.INFO]
    text, levels = batches(BY_FLAG.format(test="not mode or n > 3", then="ds = ds.skip(1)", other=BATCH))
    assert FULL in text and levels == [Level.FIXED]


@pytest.mark.parametrize(
    ("frame", "test", "then", "other"),
    [
        (BY_MODE, "mode == tf.estimator.ModeKeys.EVAL", "ds = ds.skip(1)", BATCH),
        (BY_MODE, f"{IS_TRAIN} or n > 3", BATCH, "ds = ds.skip(1)"),
        (BY_MODE, f"{IS_TRAIN} and n > 3", "ds = ds.skip(1)", BATCH),
        (BY_MODE, "n == tf.estimator.ModeKeys.TRAIN", BATCH, "ds = ds.skip(1)"),
    ],
)
def test_a_branch_that_both_may_reach_asks_the_mode(frame: str, test: str, then: str, other: str) -> None:
    text, levels = batches(frame.format(test=test, then=then, other=other))
    assert f"ds.batch(n, drop_remainder=({IS_TRAIN}))" in text and levels == [Level.FIXED]
