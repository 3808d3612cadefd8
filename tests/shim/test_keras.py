"""Keras models on the device, in every spelling."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

RNG = np.random.RandomState(0)
X = RNG.randn(64, 4).astype(np.float32)
Y = (X.sum(1) > 0).astype(np.int32)


@pytest.fixture(autouse=True)
def clean():
    tf.keras.backend.clear_session()
    yield
    tf.keras.backend.clear_session()


def model(optimizer, dropout=0.0):
    layers = tf.keras.layers
    x = layers.Input((4,))
    hidden = layers.Dense(8, "relu", kernel_initializer=tf.keras.initializers.glorot_uniform(seed=1))(x)
    hidden = layers.Dropout(dropout, seed=3)(hidden) if dropout else hidden
    y = layers.Dense(2, "softmax", kernel_initializer=tf.keras.initializers.glorot_uniform(seed=2))(hidden)
    built = tf.keras.Model(x, y)
    built.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
    return built


def losses(built, **options):
    return built.fit(X, Y, epochs=4, batch_size=16, shuffle=False, verbose=0, **options).history["loss"]


@pytest.mark.parametrize("name", ["npu_keras_optimizer", "npu_distributed_optimizer_wrapper"])
@pytest.mark.parametrize("inner", ["SGD", "Adam"])
def test_wrapped_optimizers_train_as_the_inner_one(name, inner):
    from npu_bridge import npu_init

    npu_init.set_keras_session_npu_config()
    plain = losses(model(getattr(tf.keras.optimizers, inner)(0.05)))
    tf.keras.backend.clear_session()
    npu_init.set_keras_session_npu_config()
    wrapped = getattr(npu_init, name)(getattr(tf.keras.optimizers, inner)(0.05))
    callbacks = npu_init.npu_callbacks_append([])
    np.testing.assert_allclose(losses(model(wrapped), callbacks=callbacks), plain, rtol=1e-5)


def test_the_wrapper_takes_a_name_and_gives_the_same_object():
    from npu_bridge.npu_init import npu_distributed_optimizer_wrapper

    assert isinstance(npu_distributed_optimizer_wrapper("adam"), tf.keras.optimizers.Optimizer)
    optimizer = tf.train.AdamOptimizer()
    assert npu_distributed_optimizer_wrapper(optimizer) is optimizer


def test_a_saved_model_keeps_the_wrapped_optimizer(tmp_path):
    from npu_bridge.npu_init import KerasDistributeOptimizer, npu_keras_optimizer, set_keras_session_npu_config

    set_keras_session_npu_config()
    first = model(npu_keras_optimizer(tf.keras.optimizers.Adam(0.02)))
    losses(first)
    first.save(str(tmp_path / "model.h5"))
    before, weights = first.evaluate(X, Y, verbose=0), first.get_weights()
    again = losses(first)
    tf.keras.backend.clear_session()
    set_keras_session_npu_config()
    loaded = tf.keras.models.load_model(str(tmp_path / "model.h5"), {"KerasDistributeOptimizer": KerasDistributeOptimizer})
    assert (
        isinstance(loaded.optimizer, KerasDistributeOptimizer)
        and loaded.optimizer.get_config()["optimizer"]["class_name"] == "Adam"
    )
    np.testing.assert_allclose(loaded.evaluate(X, Y, verbose=0), before, rtol=1e-5)
    for a, b in zip(loaded.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(losses(loaded), again, rtol=1e-3)


def test_a_session_given_in_one_spelling_serves_models_of_the_other():
    from npu_bridge.npu_init import close_session, npu_config_proto
    from tensorflow.python.keras import backend as old_backend
    from tensorflow.python.keras.layers import Dense
    from tensorflow.python.keras.models import Sequential

    session = tf.Session(config=npu_config_proto())
    old_backend.set_session(session)
    built = Sequential([Dense(1, input_shape=(4,))])
    built.compile("sgd", "mse")
    built.fit(X, Y.astype(np.float32), epochs=1, verbose=0)
    assert tf.keras.backend.get_session() is session
    assert session.run(built.weights[0]).shape == (4, 1)
    close_session(session)


def test_npu_clear_session():
    from npu_bridge.npu_init import npu_clear_session

    npu_clear_session()
    first = tf.keras.backend.get_session()
    npu_clear_session()
    assert tf.keras.backend.get_session() is not first


def test_model_to_npu_estimator(tmp_path):
    from npu_bridge.npu_init import NPUEstimator, NPURunConfig, keras_to_npu

    built = model("sgd")
    name = built.input_names[0]
    config = NPURunConfig(model_dir=str(tmp_path))
    estimator = keras_to_npu.model_to_npu_estimator(built, config=config)
    assert isinstance(estimator, NPUEstimator)

    def input_fn():
        return tf.data.Dataset.from_tensor_slices(({name: X}, Y)).repeat(2).batch(16, drop_remainder=True)

    start = built.get_weights()[0]
    estimator.train(input_fn, steps=5)
    result = estimator.evaluate(input_fn)
    assert result["global_step"] == 5 and result["loss"] < 1.0
    trained = next(v for v in map(estimator.get_variable_value, estimator.get_variable_names()) if np.shape(v) == start.shape)
    assert 0 < np.abs(trained - start).max() < 0.2
    for arguments in ({}, {"keras_model": built, "keras_model_path": "x"}, {"keras_model": tf.keras.Sequential()}):
        with pytest.raises(ValueError):
            keras_to_npu.model_to_npu_estimator(**arguments, config=config)


CONVERTED = """
import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *
from npu_bridge.estimator.npu import npu_convert_dropout
assert tf.keras.layers.Dropout.call is npu_convert_dropout.dropout_call
x = tf.ones([200, 100])
for layer in (tf.keras.layers.Dropout(0.2, seed=1), tf.keras.layers.Dropout(0.2, noise_shape=[200, 1], seed=1)):
    on, off, phase = layer(x, training=True), layer(x, training=False), layer(x)
    with tf.Session() as session:
        value, same, fed = session.run([on, off, phase], {tf.keras.backend.learning_phase(): 1})
    assert set(np.unique(value)) == set(np.unique(fed)) == {0.0, np.float32(1.25)} and (same == 1).all(), np.unique(value)
    assert abs((value > 0).mean() - 0.8) < 0.1
"""


def test_converted_dropout_layers(fresh):
    fresh(CONVERTED)


SPATIAL = """
import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *
from npu_bridge.estimator.npu import npu_convert_dropout

class Rows(tf.keras.layers.Dropout):
    def _get_noise_shape(self, inputs):
        shape = tf.shape(inputs)
        return (shape[0], 1, shape[2])

of = tf.keras.layers
for kind, rank in [(Rows, 3), (of.SpatialDropout1D, 3), (of.SpatialDropout2D, 4), (of.SpatialDropout3D, 5)]:
    x = tf.ones([8, *[3] * (rank - 2), 50])
    with tf.Session() as session:
        value = session.run(kind(0.2, seed=1)(x, training=True)).reshape(8, -1, 50)
    assert (value == value[:, :1]).all(), (kind, value[0])
    assert set(np.unique(value)) == {0.0, np.float32(1.25)}
"""


def test_layers_that_drop_whole_maps_do_so_with_the_import(fresh):
    """A layer that makes a noise shape of its own has none in `noise_shape`; Keras drops entire feature maps by it."""
    fresh(SPATIAL)


TPU_NORMALIZATION = """
import numpy as np
{start}

class TpuBatchNormalization(tf.layers.BatchNormalization):
    calls = 0

    def __init__(self, fused=False, **kwargs):
        super(TpuBatchNormalization, self).__init__(fused=fused, **kwargs)

    def _moments(self, inputs, reduction_axes, keep_dims):
        TpuBatchNormalization.calls += 1
        return super(TpuBatchNormalization, self)._moments(inputs, reduction_axes, keep_dims=keep_dims)

x = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 3, 4) ** 2)
layer = TpuBatchNormalization(momentum=0.5)
y = layer(x, training=True)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(layer.updates)
    print(TpuBatchNormalization.calls, session.run([y, *layer.weights]))
"""


def test_moments_of_the_script_are_called_as_in_1_15(fresh):
    """TPU models override the moments without the mask that Keras 2.15 hands over: the layer's own numbers come out."""
    shim = fresh(TPU_NORMALIZATION.format(start="from npu_bridge.npu_init import *")).stdout
    plain = "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()"
    source = TPU_NORMALIZATION.format(start=plain).replace(" keep_dims):", " keep_dims, mask=None):")
    assert shim == fresh(source).stdout and shim.startswith("1 [array(")


def test_a_session_may_be_set_in_eager_mode(fresh):
    source = """
    import tensorflow as tf
    from npu_bridge.npu_init import *
    tf.enable_eager_execution()
    with tf.Graph().as_default():
        session = tf.Session()
    tf.keras.backend.set_session(session)
    print(float(tf.reduce_sum(tf.keras.layers.Dense(2, kernel_initializer="ones")(tf.ones([1, 3])))))
    """
    assert fresh(source).stdout == "6.0\n"
