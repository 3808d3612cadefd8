"""Feature columns of TensorFlow 1: the layers that TensorFlow builds for them, against the same program without the shim."""

from __future__ import annotations

import json

import pytest
import tensorflow as tf

PROGRAM = """
import json
{start}
import numpy as np

fc = tf.feature_column
{columns}
features = {{"a": tf.constant([[1.0], [2.0], [4.0]]), "b": tf.constant([["x"], ["y"], ["x"]])}}
logits = {model}
labels = tf.constant([[0.5], [1.5], [3.0]])
loss = tf.losses.mean_squared_error(labels, tf.reduce_sum(logits, 1, keepdims=True))
train = tf.train.AdagradOptimizer(0.1).minimize(loss)
names = [v.name for v in tf.trainable_variables()]
with tf.Session() as session:
    session.run([tf.global_variables_initializer(), tf.tables_initializer()])
    for n, v in enumerate(tf.trainable_variables()):
        v.load(np.linspace(-1, 1, v.shape.num_elements()).reshape(v.shape) + n / 10, session)
    losses = [float(session.run([loss, train])[0]) for _ in range(5)]
print(json.dumps([names, losses]))
"""
SHIM = "from npu_bridge.npu_init import *"
PLAIN = "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()"
WORDS = "words = fc.categorical_column_with_vocabulary_list('b', ['x', 'y'])\nnumber = fc.numeric_column('a')"
FIRST = """
from tensorflow.python.feature_column import feature_column as fc
words = fc._categorical_column_with_vocabulary_list('b', ['x', 'y'])
"""
MODELS = {
    "linear_model": (WORDS, "fc.linear_model(features, [words, number])"),
    "linear_model of crossed columns": (
        "words = fc.crossed_column([fc.bucketized_column(fc.numeric_column('a'), [1.5, 3.0]), 'b'], 5)",
        "fc.linear_model(features, [words])",
    ),
    "input_layer": (WORDS, "fc.input_layer(features, [fc.embedding_column(words, 3), number, fc.indicator_column(words)])"),
    "columns of the first release": (FIRST, "fc.input_layer(features, [fc._embedding_column(words, 3)])"),
    "linear model of the first release": (FIRST, "fc.linear_model(features, [words])"),
}


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("model", MODELS)
def test_variables_and_losses_are_tensorflow_s(model, fresh):
    columns, logits = MODELS[model]
    names, losses = {}, {}
    for start in (SHIM, PLAIN):
        done = fresh(PROGRAM.format(start=start, columns=columns, model=logits))
        names[start], losses[start] = json.loads(done.stdout.splitlines()[-1])
    assert names[SHIM] == names[PLAIN] and names[SHIM]
    assert losses[SHIM] == pytest.approx(losses[PLAIN], rel=1e-6)


def test_layers_of_feature_columns_go_back(fresh):
    fresh(
        """
        from tensorflow.python.feature_column import feature_column
        layers = [feature_column._LinearModel, feature_column._FCLinearWrapper, feature_column._BiasLayer]
        before = [layer.__mro__ for layer in layers]
        from npu_bridge import _process
        _process.enter()
        assert not any("tensorflow.python.keras" in base.__module__ for layer in layers for base in layer.__mro__)
        _process.leave()
        assert [layer.__mro__ for layer in layers] == before
        """
    )


def test_a_layer_of_the_script_descends_from_the_same_keras():
    from tensorflow.python.feature_column import feature_column
    from tensorflow.python.layers import base

    assert issubclass(feature_column._LinearModel, base.Layer) and issubclass(base.Layer, tf.keras.layers.Layer)
