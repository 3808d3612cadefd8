"""Names and parameters of tf.contrib against those recorded from TensorFlow 1.15."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures" / "shim"
WANTED = json.loads((FIXTURES / "contrib_signatures.json").read_text())["modules"]
# What is not here; asking for one of them says so.
GONE = {
    "data": {"LMDBDataset"},
    "framework": {
        "RecordInput", "convolutional_delta_orthogonal", "convolutional_orthogonal_1d", "convolutional_orthogonal_2d",
        "convolutional_orthogonal_3d", "fuse_op", "load_and_remap_matrix_initializer", "load_embedding_initializer",
        "load_linear_multiclass_bias_initializer", "load_variable_slot_initializer", "zero_initializer",
    },
    "image": {
        "bipartite_match", "connected_components", "interpolate_spline", "single_image_random_dot_stereograms",
        "sparse_image_warp",
    },
    "layers": {
        "SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY", "bucketized_column", "check_feature_columns",
        "create_feature_spec_for_parsing", "crossed_column", "embedding_column", "feature_column", "infer_real_valued_columns",
        "input_from_feature_columns", "joint_weighted_sum_from_feature_columns", "make_place_holder_tensors_for_base_features",
        "multi_class_target", "one_hot_column", "parse_feature_columns_from_examples",
        "parse_feature_columns_from_sequence_examples", "real_valued_column", "regression_target", "scattered_embedding_column",
        "sequence_input_from_feature_columns", "shared_embedding_columns", "sparse_column_with_hash_bucket",
        "sparse_column_with_integerized_feature", "sparse_column_with_keys", "sparse_column_with_vocabulary_file",
        "transform_features", "weighted_sparse_column", "weighted_sum_from_feature_columns",
    },
    "opt": {
        "AGNCustomGetter", "AGNOptimizer", "AdamGSOptimizer", "DropStaleGradientOptimizer",
        "ElasticAverageCustomGetter", "ElasticAverageOptimizer", "GGTOptimizer",
        "LazyAdamGSOptimizer", "ModelAverageCustomGetter", "ModelAverageOptimizer", "RegAdagradOptimizer",
        "ShampooOptimizer",
    },
    "rnn": {"BidirectionalGridLSTMCell", "GridLSTMCell", "TimeFreqLSTMCell"},
    "staging": {"absolute_import", "division", "print_function"},
    "tpu": {"TPUDistributionStrategy", "keras_to_tpu_model", "profiler"},
    "training": {
        "FeedingQueueRunner", "GreedyLoadBalancingStrategy", "NextQueuedSequenceBatch", "RandomStrategy",
        "SequenceQueueingStateSaver", "batch_sequences_with_states", "byte_size_load_fn",
        "rejection_sample", "resample_at_rate", "stratified_sample", "weighted_resample",
    },
    "util": {"loader"},
}  # fmt: skip
# TensorFlow 2.15 put a parameter of its own ahead of "name".
GREW_INSIDE = {
    "tpu.InfeedQueue", "lookup.MutableDenseHashTable", "lookup.MutableHashTable", "lookup.index_table_from_file",
    "lookup.index_to_string_table_from_file",
}  # fmt: skip


@pytest.fixture(scope="module")
def found():
    spec = importlib.util.spec_from_file_location("contrib_signatures", FIXTURES / "contrib_signatures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.signatures(WANTED)


@pytest.mark.parametrize("path", sorted(WANTED))
def test_names_are_there(path, found):
    assert set(WANTED[path]) - set(found[path]) == GONE.get(path, set())


@pytest.mark.parametrize("path", sorted(WANTED))
def test_parameters_begin_with_those_of_tensorflow_1_15(path, found):
    different = {}
    for name, parameters in found[path].items():
        wanted = [parameter.rstrip("=") for parameter in WANTED[path][name] or ()]
        ours = [parameter.rstrip("=") for parameter in parameters or ()]
        if ours[: len(wanted)] != wanted and f"{path}.{name}" not in GREW_INSIDE:
            different[name] = (wanted, ours)
    assert different == {}


@pytest.mark.parametrize("path", sorted(GONE))
def test_a_name_that_is_gone_says_so(path):
    module = importlib.import_module(f"tensorflow.contrib.{path}")
    for name in GONE[path]:
        with pytest.raises(AttributeError, match=f"tf.contrib.{path}.{name} is not available"):
            getattr(module, name)


@pytest.mark.parametrize(
    ("statement", "same"),
    [
        ("from tensorflow.contrib.framework.python.ops import add_arg_scope as x", "tensorflow.contrib.framework.add_arg_scope"),
        ("from tensorflow.contrib.framework.python.ops.arg_scope import add_arg_scope as x", "tf_slim.add_arg_scope"),
        ("from tensorflow.contrib.layers.python.layers.layers import batch_norm as x", "tf_slim.batch_norm"),
        ("from tensorflow.contrib.layers.python.layers import initializers as x", "tf_slim.layers.initializers"),
        ("from tensorflow.contrib.slim.nets import resnet_v1 as x", "tf_slim.nets.resnet_v1"),
        ("from tensorflow.contrib.slim.python.slim.nets.inception_v3 import inception_v3_base as x",
         "tf_slim.nets.inception_v3.inception_v3_base"),
        ("from tensorflow.contrib.rnn.python.ops.core_rnn_cell import LSTMStateTuple as x",
         "tensorflow.nn.rnn_cell.LSTMStateTuple"),
        ("from tensorflow.contrib.seq2seq.python.ops.helper import Helper as x", "tensorflow.contrib.seq2seq.Helper"),
        ("from tensorflow.contrib.seq2seq.python.ops import decoder; x = decoder.Decoder", "tensorflow.contrib.seq2seq.Decoder"),
        ("from tensorflow.contrib.training.python.training.hparam import HParams as x", "tensorflow.contrib.training.HParams"),
        ("from tensorflow.contrib.training.python.training import evaluation; x = evaluation.evaluate_once",
         "tensorflow.contrib.training.evaluate_once"),
        ("from tensorflow.contrib.tpu.python.tpu import tpu_estimator; x = tpu_estimator.TPUEstimator",
         "tensorflow.estimator.tpu.TPUEstimator"),
        ("from tensorflow.contrib.tpu.python.tpu import tpu_function as x", "tensorflow.python.tpu.tpu_function"),
        ("from tensorflow.contrib.offline_train.python.npu.npu_config import NPURunConfig as x",
         "npu_bridge.estimator.npu.npu_config.NPURunConfig"),
        ("import tensorflow.contrib.keras as kr; x = kr.layers.Dense", "tensorflow.keras.layers.Dense"),
        ("from tensorflow.contrib.tfprof import model_analyzer; x = model_analyzer.Profiler",
         "tensorflow.python.profiler.model_analyzer.Profiler"),
        ("from tensorflow.contrib.learn.python.learn.datasets.mnist import DataSet as x",
         "tensorflow.examples.tutorials.mnist.input_data.DataSet"),
        ("from tensorflow.contrib.learn.python.learn.datasets import base; x = base.Datasets",
         "tensorflow.contrib.learn.python.learn.datasets.mnist.Datasets"),
        ("from tensorflow.contrib.learn.python.learn.preprocessing import tokenizer as x",
         "tensorflow.contrib.learn.preprocessing.tokenizer"),
        ("from tensorflow.contrib.learn.python.learn import monitored_session; x = monitored_session.MonitoredSession",
         "tensorflow.train.MonitoredSession"),
        ("from tensorflow.contrib.learn.python.learn.estimators.model_fn import ModeKeys as x",
         "tensorflow.contrib.learn.ModeKeys"),
        ("from tensorflow.contrib.framework.python.ops import audio_ops; x = audio_ops.decode_wav",
         "tensorflow.audio.decode_wav"),
        ("from tensorflow.contrib.framework.python.framework.tensor_util import with_same_shape as x",
         "tensorflow.contrib.framework.with_same_shape"),
        ("from tensorflow.contrib.seq2seq.python.ops.decoder import _transpose_batch_time as x",
         "tensorflow.python.ops.rnn._transpose_batch_time"),
        ("from tensorflow.python import pywrap_tensorflow; x = pywrap_tensorflow.NewCheckpointReader",
         "tensorflow.train.NewCheckpointReader"),
        ("from tensorflow.python import summary; x = summary.FileWriter", "tensorflow.summary.FileWriter"),
        ("from tensorflow.python import graph_util as x", "tensorflow.python.framework.graph_util"),
        ("from tensorflow.python import context as x", "tensorflow.python.eager.context"),
        ("from tensorflow.python.training.tracking import graph_view; x = graph_view.ObjectGraphView",
         "tensorflow.python.checkpoint.graph_view.ObjectGraphView"),
        ("import tensorflow.python.training.tracking.util as u; x = u.object_metadata",
         "tensorflow.python.checkpoint.checkpoint.object_metadata"),
        ("from tensorflow.python.saved_model.utils_impl import get_variables_path as x",
         "tensorflow.python.saved_model.path_helpers.get_variables_path"),
        ("from tensorflow.compat.v1.app import flags as x", "tensorflow.flags"),
        ("import tensorflow as tf; x = tf.compat.v1.app.flags", "tensorflow.flags"),
        ("import tensorflow as tf; x = tf.contrib.layers.python.layers.utils.collect_named_outputs",
         "tf_slim.layers.utils.collect_named_outputs"),
        ("from tensorflow_core.contrib.rnn import LSTMCell as x", "tensorflow.nn.rnn_cell.LSTMCell"),
        ("from tensorflow_core.core.protobuf.rewriter_config_pb2 import RewriterConfig as x",
         "tensorflow.core.protobuf.rewriter_config_pb2.RewriterConfig"),
        ("import tensorflow as tf; x = tf.contrib.framework.nest", "tensorflow.python.util.nest"),
    ],
)  # fmt: skip
def test_private_paths_lead_to_the_same_objects(statement, same):
    names: dict = {}
    exec(statement, names)
    parts = same.split(".")
    for n in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:n]))
        except ImportError:
            continue
        break
    for part in parts[n:]:
        value = getattr(value, part)
    assert names["x"] is value


def test_dense_layers_of_old_cells(graph):
    import tensorflow as tf
    from tensorflow.contrib.rnn.python.ops.core_rnn_cell import _Linear, _linear
    from tensorflow.contrib.rnn.python.ops.rnn_cell import _Linear as same

    assert same is _Linear
    from tensorflow.python.keras.engine import network

    a, b = tf.ones([2, 3]), tf.ones([2, 1])
    with tf.variable_scope("one"):
        layer = _Linear([a, b], 5, True)
    with tf.variable_scope("two"):
        alone = _linear(a, 2, False)
    assert [v.name for v in tf.global_variables()] == ["one/kernel:0", "one/bias:0", "two/kernel:0"]
    assert layer([a, b]).shape.as_list() == [2, 5] and alone.shape.as_list() == [2, 2]
    with pytest.raises(ValueError, match="must be specified"):
        _linear([], 2, True)
    assert network.Network is type(tf.keras.Model(x := tf.keras.Input([1]), x))


def test_keras_layers_under_their_old_private_name(graph):
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,)), tf.keras.layers.Dense(1)])
    assert [type(layer).__name__ for layer in model._layers] == ["InputLayer", "Dense", "Dense"]
    kept = model._layers.copy()
    model._layers.clear()
    assert model.layers == []
    model._layers.extend(kept)
    assert [layer.units for layer in model.layers] == [2, 1]


def test_the_projector_of_contrib_writes_what_tensorboard_reads(tmp_path):
    import tensorflow as tf
    from tensorflow.contrib.tensorboard.plugins import projector

    config = projector.ProjectorConfig()
    config.embeddings.add().tensor_name = "table"
    with tf.Graph().as_default():
        projector.visualize_embeddings(tf.summary.FileWriter(str(tmp_path)), config)
    assert 'tensor_name: "table"' in (tmp_path / "projector_config.pbtxt").read_text()
