"""The advice on input queues can be followed at the call that it stands at."""

from __future__ import annotations

import pytest

from tf2npu.engine.convert_file import convert_source

TF = "import tensorflow as tf\n"


def finding(code: str) -> tuple[str, str, str]:
    """Level and message of the one finding, and the text that comes out."""
    result = convert_source(TF + code, "m.py")
    (found,) = [f for f in result.findings if f.rule == "NPU911"]
    return found.level.value, found.message, result.after.decode() if result.after else TF + code


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("tf.train.batch([a], 8, num_threads=4)", "tf.train.batch([a], 8, num_threads=1)"),
        ("tf.train.batch([a], 8, FLAGS.threads)", "tf.train.batch([a], 8, 1)"),
        ("N = 2\ntf.train.shuffle_batch([a], 8, 100, 50, N)", "N = 2\ntf.train.shuffle_batch([a], 8, 100, 50, 1)"),
        ("tf.train.maybe_batch([a], keep, 8, num_threads=max(n, 2))", "tf.train.maybe_batch([a], keep, 8, num_threads=1)"),
    ],
)
def test_several_threads_become_the_one_that_an_npu_host_takes(code: str, after: str) -> None:
    level, _, text = finding(code)
    assert level == "fixed" and text.endswith(after)


@pytest.mark.parametrize(
    "code",
    [
        "tf.train.batch([a], 8)", "tf.train.batch([a], 8, num_threads=1)", "tf.train.batch([a], 8, 1)",
        "ONE = 1\ntf.train.shuffle_batch([a], 8, 100, 50, num_threads=ONE)", "tf.train.string_input_producer(files)",
        "tf.train.slice_input_producer([a, b], 1)", "tf.train.start_queue_runners(coord=coord)",
    ],
)  # fmt: skip
def test_what_has_one_thread_runs_as_it_is(code: str) -> None:
    level, message, text = finding(code)
    assert level == "info" and "runs as it is" in message and text == TF + code


@pytest.mark.parametrize(
    "code",
    [
        "tf.train.shuffle_batch_join(parts, 8, 100, 50)", "tf.train.maybe_batch_join(parts, keep, 8)",
        "tf.train.QueueRunner(queue, [op] * 4)", "def f(**kw):\n    return tf.train.batch([a], **kw)",
    ],
)  # fmt: skip
def test_as_many_threads_as_a_list_or_the_caller_says_need_a_person(code: str) -> None:
    assert finding(code)[0] == "manual"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("tf.train.string_input_producer(files)", "from_tensor_slices(files)"),
        ("tf.train.shuffle_batch([a], 8, 100, 50)", "dataset.shuffle(capacity).batch("),
        ("tf.train.batch_join(parts, 8)", "dataset.interleave("),
        ("tf.train.start_queue_runners(sess)", "Delete the line"),
    ],
)
def test_what_tf_data_has_in_its_place_is_named(code: str, words: str) -> None:
    assert words in finding(code)[1]


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("r = tf.WholeFileReader()\nk, v = r.read(q)\n", "k = q.dequeue()\nv = tf.read_file(k)\n"),
        ("def f(q):\n    r = tf.WholeFileReader()\n    _, v = r.read(q)\n", "def f(q):\n    v = tf.read_file(q.dequeue())\n"),
        ("r = tf.WholeFileReader()\nkv = r.read(q)\n", None),
        ("r = tf.WholeFileReader()\nk, v = r.read(q)\nn = r.num_records_produced()\n", None),
        ("r = tf.WholeFileReader()\nr = mine(r)\nk, v = r.read(q)\n", None),
        ("def f(r):\n    return r\nr = tf.WholeFileReader()\nf(r)\nk, v = r.read(q)\n", None),
    ],
)
def test_a_whole_file_is_read_without_a_reader_where_that_is_the_same(code: str, after: str | None) -> None:
    result = convert_source(TF + code, "m.py")
    (found,) = [f for f in result.findings if f.rule == "NPU924"]
    assert found.level.value == ("unsupported" if after is None else "fixed")
    assert (result.after or result.before).decode() == TF + (code if after is None else after)
