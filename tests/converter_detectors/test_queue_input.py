"""What is said about input queues can be done at the call it is said about."""

from __future__ import annotations

import pytest

from tf2npu.convert import convert_source

TF = "import tensorflow as tf\n"


RUNS = ("start_queue_runners", "tf.train.batch(", "shuffle_batch(")
"""What the published list calls supported: with one thread it runs on an NPU as it is."""


def message(code: str) -> str:
    (finding,) = [f for f in convert_source(TF + code, "m.py").findings if f.rule == "NPU911"]
    is_left = "num_threads=1" in finding.message or not any(name in code for name in RUNS)
    assert finding.level.value == ("manual" if is_left else "info")
    return finding.message


@pytest.mark.parametrize(
    ("code", "is_advised"),
    [
        ("tf.train.batch([a], 8, num_threads=4)", True),
        ("tf.train.batch([a], 8, FLAGS.threads)", True),
        ("N = 2\ntf.train.shuffle_batch([a], 8, 100, 50, N)", True),
        ("def f(**kw):\n    return tf.train.batch([a], **kw)", True),
        ("tf.train.batch([a], 8)", False),
        ("tf.train.batch([a], 8, num_threads=1)", False),
        ("tf.train.batch([a], 8, 1)", False),
        ("ONE = 1\ntf.train.shuffle_batch([a], 8, 100, 50, num_threads=ONE)", False),
        ("tf.train.string_input_producer(files)", False),
        ("tf.train.slice_input_producer([a, b], 1)", False),
        ("tf.train.shuffle_batch_join(parts, 8, 100, 50)", False),
        ("tf.train.maybe_batch_join(parts, keep, 8)", False),
        ("tf.train.start_queue_runners(coord=coord)", False),
        ("tf.train.QueueRunner(queue, [op] * 4)", False),
    ],
)
def test_one_thread_is_advised_where_there_are_several(code: str, is_advised: bool) -> None:
    assert ("num_threads=1" in message(code)) is is_advised


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("tf.train.string_input_producer(files)", "from_tensor_slices(files)"),
        ("tf.train.shuffle_batch([a], 8, 100, 50)", "dataset.shuffle(capacity).batch("),
        ("tf.train.batch_join(parts, 8)", "dataset.interleave("),
        ("tf.train.start_queue_runners(sess)", "take it out"),
    ],
)
def test_what_tf_data_has_in_its_place_is_named(code: str, words: str) -> None:
    assert words in message(code)
