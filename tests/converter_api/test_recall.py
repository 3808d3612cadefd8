"""The count of references that recall is measured against, and recall on the examples that ship."""

from pathlib import Path

import pytest

from benchmarks.reference_recall import WANTED, matched, measure, references

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import tensorflow as tf\ntf.nn.relu(tf.x)", ["tensorflow.nn.relu", "tensorflow.x"]),
        ("import tensorflow.compat.v1 as t\n@t.f\nclass A(t.B):\n  c = t.d", [
            "tensorflow.compat.v1", "tensorflow.compat.v1.B", "tensorflow.compat.v1.d", "tensorflow.compat.v1.f"]),
        ("from tensorflow.keras.layers import Dense\nDense(1)", ["tensorflow.keras.layers.Dense"] * 2),
        ("def f(tf):\n  return tf.nn\nimport tensorflow as tf", []),
        ("import tensorflow as tf\nf = [tf.a for tf in x]", []),
        ("def f():\n  import tensorflow as tf\n  return lambda: tf.a\ntf.b", ["tensorflow.a"]),
        ("import tensorflow as tf\nL = tf.layers\nL.dense(1)", ["tensorflow.layers", "tensorflow.layers.dense"]),
        ("import horovod.tensorflow as hvd, os\nhvd.size(); os.path", ["horovod.tensorflow", "horovod.tensorflow.size"]),
    ],
)  # fmt: skip
def test_it_counts_what_a_reader_would(text, expected):
    assert sorted(name for name, _ in references(text)) == expected


def test_a_reference_is_matched_once():
    counted = [("tensorflow.compat.v1.nn.relu", 1), ("tensorflow.nn.relu", 2), ("tensorflow.flags.FLAGS.x", 3)]
    found, missed = matched(iter(counted), {"tensorflow.nn.relu": 1, "tensorflow.flags.FLAGS": 1})
    assert (found, missed) == (2, [("tensorflow.nn.relu", 2)])


def test_recall_on_the_examples():
    assert measure("examples", ROOT / "examples") >= WANTED
