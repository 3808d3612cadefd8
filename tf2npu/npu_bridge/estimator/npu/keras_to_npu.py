"""Keras models as NPUEstimators."""

from __future__ import annotations

import os
from typing import Any

import tensorflow as tf
from npu_bridge.estimator.npu.npu_config import NPURunConfig
from npu_bridge.estimator.npu.npu_estimator import NPUEstimator
from tensorflow_estimator.python.estimator import keras_lib


def model_to_npu_estimator(
    keras_model: Any = None,
    keras_model_path: str | None = None,
    custom_objects: dict[str, Any] | None = None,
    model_dir: str | None = None,
    checkpoint_format: str = "saver",
    config: NPURunConfig | None = None,
    job_start_file: str = "",
) -> NPUEstimator:
    """An NPUEstimator that trains a compiled Keras model; the model's present weights are where it starts.

    Raises: ValueError unless exactly one of model and path is given, for a model that is not compiled, for a remote path.
    Source: ``tf.keras.estimator.model_to_estimator``.
    """
    if (keras_model is None) == (keras_model_path is None):
        raise ValueError("give exactly one of keras_model and keras_model_path")
    if keras_model_path is not None:
        if keras_model_path.startswith(("gs://", "storage.googleapis.com")):
            raise ValueError(f"{keras_model_path} is not a local file")
        keras_model = tf.keras.models.load_model(keras_model_path, custom_objects)
    if not getattr(keras_model, "optimizer", None):
        raise ValueError("the Keras model is not compiled; call compile() before model_to_npu_estimator")
    model_fn = keras_lib._create_keras_model_fn(keras_model, custom_objects, checkpoint_format == "saver")
    estimator = NPUEstimator(model_fn, model_dir=model_dir, config=config, job_start_file=job_start_file)
    if keras_model._is_graph_network or keras_model.built:
        os.makedirs(estimator.model_dir, exist_ok=True)
        keras_lib._save_first_checkpoint(keras_model, custom_objects, estimator.config, checkpoint_format == "saver")
    return estimator
