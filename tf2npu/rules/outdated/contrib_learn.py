"""tf.contrib.learn, the forerunner of tf.estimator."""

from __future__ import annotations

from tf2npu.frameworks.tensorflow1.scripts import tensorflow_name, uses_tensorflow
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.files.file_uses import uses
from tf2npu.scanner.sites import Site

_LEARN = "tensorflow.contrib.learn"
# Names of modes and errors and the preparation of data work as they are.
_WORKING = ("ModeKeys", "NanLossDuringTrainingError", "datasets", "preprocessing")
_SAME_NAME = ("Estimator", "RunConfig", "DNNClassifier", "DNNRegressor", "LinearClassifier", "LinearRegressor",
    "DNNLinearCombinedClassifier", "DNNLinearCombinedRegressor")  # fmt: skip
_TRAIN_AND_EVALUATE = "tf.estimator.train_and_evaluate with a TrainSpec and an EvalSpec"
_INSTEAD = {
    **{name: f"tf.estimator.{name}" for name in _SAME_NAME},
    "Experiment": _TRAIN_AND_EVALUATE,
    "ExportStrategy": "tf.estimator.LatestExporter",
    "InputFnOps": "tf.estimator.export.ServingInputReceiver",
    "KMeansClustering": "tf.estimator.experimental.KMeans",
    "MetricSpec": "eval_metric_ops of tf.estimator.EstimatorSpec",
    "ModelFnOps": "tf.estimator.EstimatorSpec",
    "io": "tf.data",
    "learn_runner": _TRAIN_AND_EVALUATE,
    "monitors": "hooks (tf.train.SessionRunHook)",
    "read_batch_examples": "tf.data",
    "read_batch_features": "tf.data",
    "read_batch_record_features": "tf.data",
    "utils": "tf.estimator.export, and tf.estimator.LatestExporter for strategies of export",
}


@rule(
    id="NPU913",
    title="contrib.learn",
    once=True,
    on="module",
    matches=(_LEARN,),
    why="It is the forerunner of tf.estimator and knows neither the NPU's config nor its hooks.",
    done_when="With TensorFlow 1.15 the script is imported to its end, and `tf2npu run` trains it without this module.",
    source="TensorFlow adapter porting guide: tf.contrib.learn is not supported",
    examples=(
        Example.same(
            "e = tf.contrib.learn.DNNClassifier([1])",
            level="unsupported",
            write="e = tf.estimator.DNNClassifier([1], feature_columns)",
        ),
        Example.same("from tensorflow.contrib.learn import MetricSpec", level="unsupported"),
        Example.same("e = tf.contrib.layers.fully_connected(x, 3)", note="another part of contrib"),
        Example.same("is_training = mode == tf.contrib.learn.ModeKeys.TRAIN", note="a constant"),
    ),
)
def contrib_learn(site: Site) -> None:
    """Reports each part of tf.contrib.learn."""
    if "contrib" not in site.script.text or not uses_tensorflow(site.script):
        return
    for name in uses(site, _part):
        part = name.rpartition(".")[2]
        instead = _INSTEAD.get(part, "tf.estimator")
        tf = tensorflow_name(site.script)
        code = f"{tf}{instead.removeprefix('tf')}" if tf and instead.startswith("tf.") and " " not in instead else ""
        message = f"tf.contrib.learn is not supported on the NPU: in the place of its {part} use {instead}."
        site.unsupported(message, code if part != "io" and not part.startswith("read") else "")


def _part(name: str) -> str | None:
    """The part of tf.contrib.learn in a qualified name; None for what works, and for modules where nothing is used yet."""
    if not name.startswith(f"{_LEARN}."):
        return None
    below = name.removeprefix(f"{_LEARN}.").partition(".")[0]
    return None if below in ("python", *_WORKING) else f"{_LEARN}.{below}"
