"""Replacements for names of TensorFlow 1.15, most of them of tf.contrib, that TensorFlow 2.15 does not have."""

from __future__ import annotations

_COMPILED = "ops of the script's own: these came as compiled code, so that a copy of the Python code does not help"
_TREES = "gradient boosting of another library (scikit-learn, XGBoost): its operations came as compiled code"
_COLUMN = "tf.feature_column."
_PROBABILITY = 'the package tensorflow-probability, with which this works as it is: pip install "tf2npu[probability]"'
_INSTEAD = {
    "autograph": "tf.autograph",
    "boosted_trees": _TREES,
    "cloud": "tf.data with files on a local disk",
    "deprecated": "tf.summary",
    "distribute.CollectiveAllReduceStrategy": "tf.distribute.experimental.MultiWorkerMirroredStrategy",
    "distributions": _PROBABILITY,
    "distributions.ConditionalDistribution": "",
    "distributions.ConditionalTransformedDistribution": "",
    "distributions.VectorDiffeomixture": "",
    "distributions.VectorSinhArcsinhDiag": "",
    "distributions.assign_log_moving_mean_exp": "tf.train.ExponentialMovingAverage",
    "distributions.assign_moving_mean_variance": "tf.train.ExponentialMovingAverage",
    "distributions.bijectors.ConditionalBijector": "",
    "distributions.estimator_head_distribution_regression": "tf.estimator.RegressionHead",
    "distributions.moving_mean_variance": "tf.train.ExponentialMovingAverage",
    "distributions.quadrature_scheme_softmaxnormal_gauss_hermite": "",
    "distributions.quadrature_scheme_softmaxnormal_quantiles": "",
    "eager": "tf.keras for networks and metrics, tf.data for iterators, tf.train.Checkpoint for savers",
    "estimator.BoostedTreesClassifier": _TREES,
    "estimator.BoostedTreesEstimator": _TREES,
    "estimator.BoostedTreesRegressor": _TREES,
    "estimator.binary_classification_head": "tf.estimator.BinaryClassHead",
    "estimator.logistic_regression_head": "tf.estimator.LogisticRegressionHead",
    "estimator.multi_class_head": "tf.estimator.MultiClassHead",
    "estimator.multi_head": "tf.estimator.MultiHead",
    "estimator.multi_label_head": "tf.estimator.MultiLabelHead",
    "estimator.poisson_regression_head": "tf.estimator.PoissonRegressionHead",
    "estimator.regression_head": "tf.estimator.RegressionHead",
    "factorization": "tf.estimator.experimental.KMeans for k-means; the rest came as compiled code",
    "feature_column": "tf.feature_column",
    "ffmpeg": "tf.audio",
    "gan": "the package tensorflow_gan",
    "graph_editor": "graph_editor.reroute_ts and graph_editor.copy_with_input_replacements",
    "image.bipartite_match": _COMPILED,
    "image.connected_components": "scipy.ndimage.label in tf.py_func",
    "image.single_image_random_dot_stereograms": _COMPILED,
    "input_pipeline": "tf.data",
    "layers.bucketized_column": _COLUMN + "bucketized_column",
    "layers.create_feature_spec_for_parsing": _COLUMN + "make_parse_example_spec",
    "layers.crossed_column": _COLUMN + "crossed_column",
    "layers.embedding_column": _COLUMN + "embedding_column",
    "layers.input_from_feature_columns": _COLUMN + "input_layer",
    "layers.one_hot_column": _COLUMN + "indicator_column",
    "layers.real_valued_column": _COLUMN + "numeric_column",
    "layers.shared_embedding_columns": _COLUMN + "shared_embedding_columns",
    "layers.sparse_column_with_hash_bucket": _COLUMN + "categorical_column_with_hash_bucket",
    "layers.sparse_column_with_integerized_feature": _COLUMN + "categorical_column_with_identity",
    "layers.sparse_column_with_keys": _COLUMN + "categorical_column_with_vocabulary_list",
    "layers.sparse_column_with_vocabulary_file": _COLUMN + "categorical_column_with_vocabulary_file",
    "layers.weighted_sparse_column": _COLUMN + "weighted_categorical_column",
    "layers.weighted_sum_from_feature_columns": _COLUMN + "linear_model",
    "learn": "tf.estimator",
    "learn.datasets": "the loader of another library (sklearn.datasets)",
    "learn.preprocessing": "",
    "memory_stats": "the run log, which says how much memory a step takes",
    "periodic_resample": _COMPILED,
    "python.util.tf_export.estimator_export": "estimator_export of tensorflow_estimator.python.estimator.estimator_export",
    "quantization": "tf.quantization",
    "reduce_slice_ops": _COMPILED,
    "saved_model": "tf.saved_model",
    "tensor_forest": "a forest of another library (scikit-learn): its operations came as compiled code",
    "tensorboard": "the package tensorboard",
    "tensorrt": "nothing: the device compiles the graph itself",
    "tfprof.ProfileContext": "tf.profiler.profile with the run metadata of a step",
}


def instead_of(path: str) -> str:
    """The replacement for ``tf.contrib.<path>`` or ``tf.<path>``, or for the longest part of the path that has one; "" where only
    a copy of its code is known.
    """
    parts = path.split(".")
    heads = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((_INSTEAD[head] for head in heads if head in _INSTEAD), "")
