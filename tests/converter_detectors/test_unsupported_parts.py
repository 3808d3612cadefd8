"""Parts of TensorFlow 1 that have no place on the NPU are reported under each of their names."""

from __future__ import annotations

import pytest

from tf2npu.engine.convert_file import convert_source

TF = "import tensorflow as tf\n"


def levels(code: str, rule: str) -> list[str]:
    return [f.level.value for f in convert_source(TF + code, "m.py").findings if f.rule == rule]


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("from tensorflow.contrib.learn import LinearRegressor\ne = LinearRegressor([])", "NPU913"),
        ("from tensorflow.contrib.learn.python.learn import learn_runner\nlearn_runner.run(f, 'd')", "NPU913"),
        ("from tensorflow.contrib import learn\ns = learn.ModelFnOps(mode, p, loss, op)", "NPU913"),
        ("from tensorflow.contrib.learn import MetricSpec", "NPU913"),  # the import alone ends a simulated run
        ("class B:\n    problem_type = tf.contrib.learn.ProblemType.LOGISTIC_REGRESSION", "NPU913"),
        ("import tensorflow.contrib.learn as learn\nx = learn.io.read_batch_features(p, 3, s, r)", "NPU913"),
        ("from tensorflow.contrib.learn.python.learn.estimators import run_config\nc = run_config.RunConfig()", "NPU913"),
        ("server = tf.train.Server(cluster, job_name='worker', task_index=0)", "NPU956"),
        ("server = tf.distribute.Server(cluster)", "NPU956"),
        ("x = tf.train.replica_device_setter(2)", "NPU956"),
        ("with tf.device(tf.train.replica_device_setter(2)):\n    pass", "NPU956"),
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
        ("from tensorflow.contrib import learn\nt = learn.ModeKeys.TRAIN", "NPU913"),
        ("from tensorflow.contrib.learn import NanLossDuringTrainingError", "NPU913"),
        ("from tensorflow.contrib.learn.python.learn.datasets import mnist\nd = mnist.read_data_sets(p)", "NPU913"),
        ("try:\n    from tensorflow.contrib.learn import Experiment\nexcept ImportError:\n    Experiment = None", "NPU913"),
        ("server = tf.train.Server.create_local_server()", "NPU956"),
        ("spec = tf.train.ClusterSpec({'worker': ['a:1']})", "NPU956"),
        ("tf.keras.mixed_precision.experimental.set_policy('float32')", "NPU507"),
        ("d = tf.train.replica_device_setter(ps_tasks=0, worker_device='/job:worker')", "NPU956"),
        ("d = tf.train.replica_device_setter()", "NPU956"),  # gives None, as TensorFlow 1.15 does
        ("c = tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell(8)", "NPU948"),
        ("c = tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(8)", "NPU948"),
    ],
)
def test_what_works_is_not(code: str, rule: str) -> None:
    assert levels(code, rule) == []


def test_a_device_setter_of_a_flag_is_told_by_its_default() -> None:
    code = "tf.flags.DEFINE_integer('n', {}, 's')\nd = tf.train.replica_device_setter(tf.flags.FLAGS.n)"
    assert levels(code.format(0), "NPU956") == ["info"]
    assert levels(code.format(2), "NPU956") == ["unsupported"]
    assert levels("d = tf.train.replica_device_setter(0, cluster=c)", "NPU956") == ["unsupported"]


def test_a_part_of_contrib_learn_is_reported_once_in_a_file() -> None:
    code = (
        "import tensorflow as tf\n" + "s = tf.contrib.learn.ModelFnOps(m, p, l, o)\n" * 3 + "r = tf.contrib.learn.RunConfig()\n"
    )
    said = [(f.span.line, f.message) for f in convert_source(code, "m.py").findings if f.rule == "NPU913"]
    assert [line for line, _ in said] == [2, 5]
    assert "use tf.estimator.EstimatorSpec" in said[0][1] and "the others: 3, 4." in said[0][1]
    assert "use tf.estimator.RunConfig" in said[1][1]


def test_what_is_used_of_an_object_of_contrib_learn_is_not_reported_again() -> None:
    code = (
        "import tensorflow as tf\nclass E(tf.contrib.learn.Experiment):\n    def steps(self):\n        return self.train_steps\n"
        "c = tf.contrib.learn.RunConfig()\nc.tf_config.gpu_options.allow_growth = True\n"
    )
    assert [f.span.line for f in convert_source(code, "m.py").findings if f.rule == "NPU913"] == [2, 5]
