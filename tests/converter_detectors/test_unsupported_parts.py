"""Parts of TensorFlow 1 that have no place on the NPU are reported under each of their names."""

from __future__ import annotations

import pytest

from tf2npu.convert import convert_source

TF = "import tensorflow as tf\n"


def levels(code: str, rule: str) -> list[str]:
    return [f.level.value for f in convert_source(TF + code, "m.py").findings if f.rule == rule]


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("from tensorflow.contrib.learn import LinearRegressor\ne = LinearRegressor([])", "NPU913"),
        ("from tensorflow.contrib.learn.python.learn import learn_runner\nlearn_runner.run(f, 'd')", "NPU913"),
        ("from tensorflow.contrib import learn\ns = learn.ModelFnOps(mode, p, loss, op)", "NPU913"),
        ("server = tf.train.Server(cluster, job_name='worker', task_index=0)", "NPU956"),
        ("server = tf.distribute.Server(cluster)", "NPU956"),
        ("from tensorflow.python.training.server_lib import Server\ns = Server(cluster)", "NPU956"),
        ("tf.keras.mixed_precision.experimental.set_policy('mixed_float16')", "NPU507"),
        ("p = tf.keras.mixed_precision.experimental.Policy(FLAGS.policy)", "NPU507"),
    ],
)
def test_it_is_reported(code: str, rule: str) -> None:
    assert levels(code, rule) == ["unsupported"]


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("is_training = mode == tf.contrib.learn.ModeKeys.TRAIN", "NPU913"),
        ("d = tf.contrib.learn.datasets.load_dataset('iris')", "NPU913"),
        ("v = tf.contrib.learn.preprocessing.VocabularyProcessor(9)", "NPU913"),
        ("server = tf.train.Server.create_local_server()", "NPU956"),
        ("spec = tf.train.ClusterSpec({'worker': ['a:1']})", "NPU956"),
        ("tf.keras.mixed_precision.experimental.set_policy('float32')", "NPU507"),
    ],
)
def test_what_works_is_not(code: str, rule: str) -> None:
    assert levels(code, rule) == []
