"""`tensorflow` means TensorFlow 1 in a process with npu_bridge, whatever was imported how and when."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

NAMES = json.loads((Path(__file__).parents[1] / "fixtures" / "shim" / "tf_1_15_names.json").read_text())
# What TensorFlow 2.15 has no more and no one else carries on.
GONE = {
    "tensorflow.config": {"experimental_list_devices"},
    "tensorflow.data.experimental": {
        "MapVectorizationOptions", "StatsAggregator", "StatsOptions", "bytes_produced_stats", "latency_stats",
    },
    "tensorflow.estimator": {"BoostedTreesClassifier", "BoostedTreesEstimator", "BoostedTreesRegressor"},
    "tensorflow.keras": {"wrappers"},
    "tensorflow.keras.experimental": {
        "LinearCosineDecay", "NoisyLinearCosineDecay", "PeepholeLSTMCell", "export_saved_model", "load_from_saved_model",
        "terminate_keras_multiprocessing_pools",
    },
    "tensorflow.keras.utils": {"HDF5Matrix", "convert_all_kernels_in_model"},
    "tensorflow.lite.experimental": {"get_potentially_supported_ops", "nn"},
}  # fmt: skip
ABSENT_MODULES = {
    "tensorflow.keras.wrappers", "tensorflow.keras.wrappers.scikit_learn",
    "tensorflow.lite.experimental.nn",
}  # fmt: skip
DROPOUT_V1 = "(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None)"


@pytest.mark.parametrize("path", sorted(set(NAMES) - ABSENT_MODULES))
def test_every_public_name_of_tensorflow_1_15_is_there(path):
    import tensorflow as tf

    module = tf
    for part in path.split(".")[1:]:
        module = getattr(module, part)
    missing = {name for name in NAMES[path] if not hasattr(module, name)}
    assert missing == GONE.get(path, set())


WALK = f"""
import importlib, inspect, pkgutil, sys
import npu_bridge
import tensorflow as tf
v1 = sys.modules["tensorflow._api.v2.compat.v1"]
paths = sorted(name for name in sys.modules if name.startswith("tensorflow._api.v2.") and ".compat" not in name)
assert len(paths) > 60
wrong = []
for name in paths:
    public = "tensorflow" + name[len("tensorflow._api.v2"):]
    if public == "tensorflow.v2" or "__" in public:
        continue
    twin = sys.modules.get("tensorflow._api.v2.compat.v1" + name[len("tensorflow._api.v2"):])
    if twin is None:
        continue
    module = importlib.import_module(public)
    for attribute in vars(twin):
        if not attribute.startswith("_") and getattr(module, attribute, None) is not getattr(twin, attribute):
            if attribute != "rnn_cell" and not (public, attribute) in {{("tensorflow.distribute", "experimental"), ("tensorflow.lite", "experimental")}}:
                wrong.append((public, attribute))
    assert str(inspect.signature(tf.nn.dropout)) == "{DROPOUT_V1}", public
print(wrong)
"""  # noqa: E501


def test_every_public_submodule_resolves_to_its_v1_twin(fresh):
    assert fresh(WALK).stdout.strip() == "[]"


IMPORTS = {
    "from a submodule": "from tensorflow.nn import dropout",
    "a submodule": "import tensorflow.nn; from tensorflow import nn; dropout = nn.dropout",
    "a submodule as": "import tensorflow.nn as nn; dropout = nn.dropout",
    "importlib": "import importlib; dropout = importlib.import_module('tensorflow.nn').dropout",
    "attribute": "import tensorflow as tf; dropout = tf.nn.dropout",
    "compat": "import tensorflow.compat.v1 as tf; dropout = tf.nn.dropout",
}
CHECK = """
import inspect
import tensorflow as tf
assert str(inspect.signature(dropout)) == str(inspect.signature(tf.nn.dropout)) == SIGNATURE, inspect.signature(dropout)
from tensorflow.data import Iterator
assert Iterator.from_structure and tf.data.Iterator is Iterator
"""


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("order", ["npu_bridge first", "TensorFlow first"])
@pytest.mark.parametrize("spelling", IMPORTS)
def test_no_import_brings_the_v2_dropout_back(fresh, fresh_python, spelling, order):
    lines = ["import npu_bridge", IMPORTS[spelling]] if order == "npu_bridge first" else \
        ["import tensorflow, tensorflow.nn", "from tensorflow import nn as held", "import npu_bridge", IMPORTS[spelling],
         "assert held.dropout is dropout"]  # fmt: skip
    run = fresh_python if order == "npu_bridge first" else fresh
    run("\n".join([*lines, f"SIGNATURE = {DROPOUT_V1!r}", CHECK]))


def test_one_keras_for_all_spellings():
    import tensorflow as tf
    import tensorflow.python.keras.layers
    from tensorflow.keras.models import Model
    from tensorflow.python.keras import backend
    from tensorflow.python.keras.backend import get_session, set_session
    from tensorflow.python.keras.layers.core import Dense as OldDense
    from tensorflow.python.keras.layers.recurrent import LSTM
    from tensorflow.python.keras.models import Model as OldModel
    from tensorflow.python.keras.optimizers import Adam
    from tensorflow.python.keras.preprocessing.image import ImageDataGenerator

    assert set_session is tf.keras.backend.set_session is backend.set_session
    assert get_session is tf.keras.backend.get_session
    assert OldModel is Model is tf.keras.Model
    assert OldDense is tf.keras.layers.Dense and LSTM is tf.keras.layers.LSTM and Adam is tf.keras.optimizers.Adam
    assert ImageDataGenerator is tf.keras.preprocessing.image.ImageDataGenerator
    other = [
        name
        for name in dir(tf.keras.layers)
        if isinstance(getattr(tf.keras.layers, name), type)
        and getattr(tensorflow.python.keras.layers, name) is not getattr(tf.keras.layers, name)
    ]
    assert other == []


def test_private_spellings_of_layers_and_cells():
    import tensorflow as tf
    from tensorflow.python.layers import core, layers, normalization, pooling
    from tensorflow.python.layers.base import Layer
    from tensorflow.python.ops import rnn_cell, rnn_cell_impl

    assert Layer is tf.layers.Layer and core.Dense is layers.Dense is tf.layers.Dense
    assert normalization.BatchNormalization is tf.layers.BatchNormalization and pooling.MaxPooling2D is tf.layers.MaxPooling2D
    assert rnn_cell.LSTMCell is rnn_cell_impl.LSTMCell is tf.nn.rnn_cell.LSTMCell
    assert rnn_cell_impl.RNNCell is tf.nn.rnn_cell.RNNCell
    for name in ("DropoutWrapper", "ResidualWrapper", "DeviceWrapper", "MultiRNNCell"):
        assert getattr(rnn_cell, name) is getattr(rnn_cell_impl, name) is getattr(tf.nn.rnn_cell, name)


def test_names_that_moved_inside_tensorflow():
    import tensorflow as tf
    from tensorflow.python.framework import graph_util, ops
    from tensorflow.python.ops import array_ops, control_flow_ops, variables
    from tensorflow.python.training.tracking import base
    from tensorflow.python.util import nest

    assert ops.Tensor is tf.Tensor and ops.IndexedSlices is tf.IndexedSlices
    assert control_flow_ops.cond is tf.cond and control_flow_ops.while_loop is tf.while_loop
    assert array_ops.stack is tf.stack and variables.VariableV1 is tf.Variable
    assert graph_util.convert_variables_to_constants is tf.graph_util.convert_variables_to_constants
    assert nest.is_sequence([1]) and not nest.is_sequence(1) and base.Trackable


def test_shapes_of_few_dimensions_can_be_made_as_in_1_15(graph):
    """As TF 1's own dropout checked its probability, and the dropout for SELU that was written after it."""
    import tensorflow as tf
    from tensorflow.python.framework import tensor_shape

    scalar = tf.placeholder(tf.float32, []).get_shape()
    scalar.assert_is_compatible_with(tensor_shape.scalar())
    tf.placeholder(tf.float32).get_shape().assert_is_compatible_with(tensor_shape.scalar())
    with pytest.raises(ValueError, match="incompatible"):
        tf.placeholder(tf.float32, [2]).get_shape().assert_is_compatible_with(tensor_shape.scalar())
    assert tensor_shape.scalar() == scalar and isinstance(tensor_shape.scalar(), tf.TensorShape)
    assert tensor_shape.vector(3).as_list() == [3] and tensor_shape.vector(tf.Dimension(None)).as_list() == [None]
    assert tensor_shape.matrix(None, cols=2).as_list() == [None, 2]


def test_a_hook_is_exported_as_those_of_estimator_are():
    """EasyRec copies TensorFlow's hooks, decorators and all."""
    from tensorflow.python.util.tf_export import estimator_export

    @estimator_export("estimator.experimental.my_hook")
    def my_hook():
        return 1

    assert my_hook() == 1


def test_tensors_of_a_graph_are_of_the_very_class_tensor(graph):
    """As in TF 1.15, where scripts tell a tensor from a variable or an array by ``type(x) is tf.Tensor``."""
    import tensorflow as tf
    import tensorflow.compat.v1 as v1
    from tensorflow.python.framework import ops

    read = tf.get_variable("v", [2]).value()
    for tensor in (tf.placeholder(tf.float32), tf.constant(1), read, tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])):
        assert type(tensor) is tf.Tensor is ops.Tensor is v1.Tensor and isinstance(tensor, tf.compat.v2.Tensor)
    assert type(tf.get_variable("w", [2])) is not tf.Tensor


@pytest.mark.parametrize("resource", [True, False])
def test_a_variable_starts_from_the_value_of_another(graph, plain_session, resource):
    """As in TF 1.15 (Sonnet's VectorQuantizerEMA). The random values are drawn once, and later values are taken as they are."""
    import tensorflow as tf

    weights = tf.get_variable("weights", initializer=tf.random_normal([3]), use_resource=resource)
    average = tf.get_variable("average", initializer=2.0 * weights.initialized_value(), use_resource=resource)
    with tf.Session() as device:
        for session in (plain_session, device):
            session.run(tf.global_variables_initializer())
            first = session.run([weights, average])
            session.run(weights.assign([1.0, 2.0, 3.0]))
            session.run(average.initializer)
            assert first[1].tolist() == (2.0 * first[0]).tolist() and session.run(average).tolist() == [2.0, 4.0, 6.0]


def test_operations_show_their_outputs_under_the_name_of_1_15(graph):
    """As gradient checkpointing reads them."""
    import tensorflow as tf

    values, places = tf.nn.top_k(tf.constant([1.0, 3.0, 2.0]), 2)
    assert [output is tensor for output, tensor in zip(values.op._outputs, (values, places), strict=True)] == [True, True]
    assert tf.no_op()._outputs == []


def test_eager_tensors_are_tensors(fresh):
    source = """
    import npu_bridge
    import tensorflow as tf
    tf.enable_eager_execution()
    print(isinstance(tf.constant(1), tf.Tensor), isinstance(tf.constant(1), tf.compat.v1.Tensor))
    """
    assert fresh(source).stdout == "True True\n"


def test_libraries_keep_the_tensorflow_that_they_were_written_for():
    import tensorflow as tf
    from tensorflow_estimator.python.estimator import estimator as library

    assert library.tf is not tf
    assert library.tf.__version__.startswith("2.15") and not hasattr(library.tf, "Session")
    assert library.tf.nn.dropout is not tf.nn.dropout
    assert library.tf.keras.layers.LSTM is not tf.keras.layers.LSTM


def test_version_is_that_of_the_script():
    import tensorflow as tf

    assert tf.__version__ == tf.VERSION == "1.15.0" and not tf.executing_eagerly()


CONTRIB = """
import npu_bridge
import tensorflow as tf
import tensorflow.contrib.slim as slim
from tensorflow.contrib import layers
from tensorflow.contrib.framework import arg_scope, nest
import tf_slim
assert slim.conv2d is tf_slim.conv2d is tf.contrib.slim.conv2d and layers.xavier_initializer is tf.contrib.layers.xavier_initializer
assert arg_scope is tf.contrib.framework.arg_scope
for call in (lambda: __import__("tensorflow.contrib.tensorrt"), lambda: tf.contrib.tensorrt):
    try:
        call()
        raise SystemExit("tf.contrib.tensorrt is there")
    except (ImportError, AttributeError) as error:
        assert "tf.contrib.tensorrt" in str(error), error
with tf.Graph().as_default():
    net = slim.conv2d(tf.ones([1, 8, 8, 3]), 4, [3, 3], normalizer_fn=slim.batch_norm, weights_regularizer=slim.l2_regularizer(0.1))
    net = layers.fully_connected(slim.flatten(net), 5)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(net).shape == (1, 5)
    assert len(tf.losses.get_regularization_losses()) == 1
"""  # noqa: E501


def test_contrib_as_far_as_packages_carry_it(fresh):
    fresh(CONTRIB)


UNDONE = """
import inspect
import tensorflow as tf
def public():
    modules = {"tf": tf, "nn": tf.nn, "data": tf.data, "keras": tf.keras, "layers": tf.keras.layers, "train": tf.train}
    return {f"{m}.{n}": getattr(v, n) for m, v in modules.items() for n in dir(v) if not n.startswith("_")}
before = public()
import npu_bridge.npu_init
from npu_bridge import _process
with tf.Session() as session:
    assert session.run(tf.constant(1) + 1) == 2
_process.leave()
after = public()
assert before.keys() == after.keys(), set(before) ^ set(after)
changed = [n for n in before if before[n] is not after[n] and type(before[n]).__name__ not in ("_KerasLazyLoader", "KerasLazyLoader", "LazyLoader")]
assert changed == [], changed
from tensorflow.nn import dropout
assert "rate" in inspect.signature(dropout).parameters and tf.__version__.startswith("2.15")
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(tf.ones([4, 2]), tf.ones([4, 1]), verbose=0)
assert tf.executing_eagerly() and float(tf.function(lambda x: x * 2)(tf.constant(2.0))) == 4
"""  # noqa: E501


def test_the_way_back(fresh):
    fresh(UNDONE)


PLAIN = """
import sys, tensorflow as tf
print(tf.__version__, tf.executing_eagerly(), float(tf.nn.dropout(tf.ones([]), 0.0)))
with tf.GradientTape() as tape:
    x = tf.Variable(3.0)
    y = x * x
print(float(tape.gradient(y, x)), [name for name in sys.modules if name.startswith(("npu_", "hccl"))])
"""


def test_a_process_without_npu_bridge_is_untouched(fresh_python):
    assert fresh_python(PLAIN).stdout == "2.15.1 True 1.0\n6.0 []\n"


@pytest.mark.parametrize("name", ["npu_bridge", "hccl"])
def test_the_packages_have_one_name(name):
    command = [sys.executable, "-c", f"import tf2npu.{name}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == 1 and f"import {name}, not tf2npu.{name}" in done.stderr
