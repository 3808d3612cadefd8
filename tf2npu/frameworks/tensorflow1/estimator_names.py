"""Estimators and their configs by qualified name: which class takes a config where, and which arguments the NPU lacks."""

from __future__ import annotations

ESTIMATOR = "tensorflow.estimator.Estimator"
TPU_ESTIMATOR = "tensorflow.estimator.tpu.TPUEstimator"
RUN_CONFIG = "tensorflow.estimator.RunConfig"
CONFIG_POSITION = 2
"""The position of `config` among the arguments of tf.estimator.Estimator, counted from 0."""
RUN_CONFIG_PARAMETERS = (
    "model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs",
    "session_config", "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps", "train_distribute",
    "device_fn", "protocol", "eval_distribute", "experimental_distribute", "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
)  # fmt: skip
# Parameters of RunConfig that NPURunConfig does not have, and why nothing is lost without them.
REMOVED = {
    "train_distribute": "to train on several NPUs, convert with --distributed tf",
    "eval_distribute": "to train on several NPUs, convert with --distributed tf",
    "experimental_distribute": "to train on several NPUs, convert with --distributed tf",
    "device_fn": "the NPU places the graph itself",
    "protocol": "servers of a cluster are not used",
    "experimental_max_worker_delay_secs": "there are no workers that start one after another",
    "session_creation_timeout_secs": "there is no session to wait for",
}
_CANNED = {
    "BaselineClassifier": 5, "BaselineEstimator": 3, "BaselineRegressor": 4, "BoostedTreesClassifier": 13,
    "BoostedTreesEstimator": 12, "BoostedTreesRegressor": 12, "DNNClassifier": 10, "DNNEstimator": 8, "DNNRegressor": 9,
    "DNNLinearCombinedClassifier": 12, "DNNLinearCombinedEstimator": 10, "DNNLinearCombinedRegressor": 11,
    "LinearClassifier": 6, "LinearEstimator": 4, "LinearRegressor": 5,
}  # fmt: skip
_OF_CONTRIB = {
    "estimator.DNNClassifierWithLayerAnnotations": 10, "estimator.DNNRegressorWithLayerAnnotations": 9,
    "estimator.RNNClassifier": 12, "estimator.RNNEstimator": 10, "factorization.KMeansClustering": 9,
    "timeseries.ARRegressor": 12, "timeseries.StructuralEnsembleRegressor": 11, "timeseries.TimeSeriesRegressor": 4,
}  # fmt: skip
_OF_V2 = {
    "BaselineClassifier": 5, "BaselineEstimator": 3, "BaselineRegressor": 4, "DNNClassifier": 9, "DNNEstimator": 7,
    "DNNLinearCombinedClassifier": 11, "DNNLinearCombinedEstimator": 9, "DNNLinearCombinedRegressor": 10, "DNNRegressor": 8,
    "LinearClassifier": 6, "LinearEstimator": 4, "LinearRegressor": 5,
}  # fmt: skip
# Canned Estimators, and the position of `config` in TensorFlow 1.15.
CANNED = {f"tensorflow.estimator.{name}": position for name, position in _CANNED.items()}
CANNED |= {f"tensorflow.compat.v2.estimator.{name}": position for name, position in _OF_V2.items()}
CANNED |= {f"tensorflow.contrib.{name}": position for name, position in _OF_CONTRIB.items()}
MODEL_TO_ESTIMATOR = "tensorflow.keras.estimator.model_to_estimator"
WRAPPED = {**CANNED, MODEL_TO_ESTIMATOR: 4}  # what takes a RunConfig and stays, and the position of `config`
