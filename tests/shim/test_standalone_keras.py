"""``import keras``, the package of its own, beside TensorFlow 1.15; and what tf.keras of 1.15 had and Keras 2.15 dropped."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

# Module paths of Keras 2.2.4 and 2.3.1 with names that scripts take from there, and where tf.keras has them.
OLD_PATHS = {
    "keras.layers": ("layers", "Dense LSTM BatchNormalization CuDNNGRU"),
    "keras.layers.core": ("layers", "Dense Dropout Activation Reshape Flatten Lambda"),
    "keras.layers.convolutional": ("layers", "Conv2D UpSampling2D Conv3D Conv3DTranspose MaxPooling3D ZeroPadding2D"),
    "keras.layers.convolutional_recurrent": ("layers", "ConvLSTM2D"),
    "keras.layers.advanced_activations": ("layers", "LeakyReLU PReLU"),
    "keras.layers.normalization": ("layers", "BatchNormalization"),
    "keras.layers.merge": ("layers", "add concatenate Concatenate Multiply"),
    "keras.layers.recurrent": ("layers", "LSTM GRU SimpleRNN"),
    "keras.layers.pooling": ("layers", "AveragePooling3D GlobalAveragePooling2D"),
    "keras.layers.embeddings": ("layers", "Embedding"),
    "keras.layers.wrappers": ("layers", "TimeDistributed Bidirectional"),
    "keras.layers.noise": ("layers", "GaussianNoise"),
    "keras.engine": ("layers", "Input InputSpec Layer"),
    "keras.engine.topology": ("layers", "InputSpec Layer InputLayer"),
    "keras.engine.training": ("models", "Model"),
    "keras.models": ("models", "Sequential Model load_model"),
    "keras.optimizers": ("optimizers", "SGD Adam RMSprop"),
    "keras.backend": ("backend", "set_session get_session placeholder"),
    "keras.backend.tensorflow_backend": ("backend", "set_session get_session"),
    "keras.utils": ("utils", "to_categorical multi_gpu_model plot_model"),
    "keras.utils.np_utils": ("utils", "to_categorical"),
    "keras.utils.generic_utils": ("utils", "CustomObjectScope get_custom_objects Progbar"),
    "keras.utils.data_utils": ("utils", "get_file Sequence"),
    "keras.utils.vis_utils": ("utils", "plot_model"),
    "keras.applications.resnet50": ("applications.resnet50", "ResNet50 preprocess_input"),
    "keras.preprocessing.image": ("preprocessing.image", "ImageDataGenerator"),
}


@pytest.mark.parametrize("path", sorted(OLD_PATHS))
def test_names_are_those_of_tf_keras(path):
    import tensorflow as tf

    where, names = OLD_PATHS[path]
    module = importlib.import_module(path)
    twin = tf.keras
    for part in where.split("."):
        twin = getattr(twin, part)
    assert {name for name in names.split() if getattr(module, name) is not getattr(twin, name)} == set()


def test_old_names_of_layers_and_optimizers(graph):
    import keras
    import keras.backend as K

    assert keras.layers.Deconvolution2D is keras.layers.Conv2DTranspose
    assert K.tensorflow_backend.set_session is K.set_session
    optimizer = keras.optimizers.Adam(lr=0.25, decay=0.5)
    assert K.get_session(optimizer.lr).run(optimizer.lr) == 0.25
    made = keras.layers.Dense(3)(keras.layers.Input(shape=(None, 2)))
    assert made._keras_shape == keras.backend.int_shape(made) == (None, None, 3)
    assert not hasattr(K.constant([1.0]), "_keras_shape")
    with pytest.raises(ImportError, match=r"keras\.nothing"):
        importlib.import_module("keras.nothing")


def test_a_model_of_keras_trains_in_the_session_given_to_it(graph):
    import keras
    import tensorflow as tf
    from keras.backend.tensorflow_backend import set_session
    from npu_bridge.npu_init import npu_config_proto

    session = tf.Session(config=npu_config_proto())
    set_session(session)
    model = keras.models.Sequential([keras.layers.Dense(1, input_shape=(2,), kernel_initializer="zeros")])
    model.compile(loss="mse", optimizer=keras.optimizers.SGD(lr=0.5))
    x = np.eye(2, dtype=np.float32)
    losses = model.fit(x, x[:, :1], epochs=3, batch_size=2, shuffle=False, verbose=0).history["loss"]
    assert keras.backend.get_session() is session
    # By hand: w = b = 0 first; gradients of the mean of (w1 + b - 1)^2 and (w2 + b)^2.
    w, b, expected = np.zeros(2), 0.0, []
    for _ in range(3):
        error = x @ w + b - x[:, 0]
        expected.append(np.mean(error**2))
        w, b = w - 0.5 * (x.T @ error), b - 0.5 * error.sum()
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    set_session(None)


def test_a_session_given_later_initializes_what_another_had(graph):
    import keras
    import tensorflow as tf
    from npu_bridge.npu_init import npu_config_proto

    x = keras.layers.Input(shape=(2,))
    y = keras.layers.Dense(1, kernel_initializer="ones")(x)
    model = keras.models.Model(x, y)
    model.add_loss(keras.backend.mean(1.0 - y))  # tf.keras evaluates the constant in a session of its own
    model.compile(keras.optimizers.SGD(0.5))
    session = tf.Session(config=npu_config_proto())
    keras.backend.set_session(session)
    assert model.train_on_batch(np.ones([1, 2])) == -1.0
    keras.backend.set_session(session)
    assert model.predict(np.ones([1, 2])).tolist() == [[2.0 + 3 * 0.5]]
    keras.backend.set_session(None)


def test_classes_of_a_sequential_model(graph):
    import tensorflow as tf

    two = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(2,), kernel_initializer="identity")])
    assert two.predict_classes(np.array([[0.1, 0.9], [0.8, 0.2]])).tolist() == [1, 0]
    one = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,), kernel_initializer="ones")])
    found = one.predict_classes(np.array([[0.4], [0.6]]))
    assert found.tolist() == [[0], [1]] and found.dtype == np.int32
    np.testing.assert_allclose(one.predict_proba(np.array([[0.25]])), [[0.25]])


def test_an_output_may_be_the_loss_itself(graph):
    """qqwweee/keras-yolo3 trains so; recorded from tf.keras of TensorFlow 1.15."""
    import tensorflow as tf

    x = tf.keras.layers.Input((3,))
    y = tf.keras.layers.Dense(2, kernel_initializer="ones")(x)
    total = tf.keras.layers.Lambda(tf.reduce_sum, output_shape=(1,), name="total")(y)
    model = tf.keras.models.Model(x, total)
    model.compile(tf.keras.optimizers.SGD(0.01), loss={"total": lambda wanted, got: got})
    found = model.fit(np.ones((4, 3)), np.zeros(4), epochs=2, verbose=0).history["loss"]
    np.testing.assert_allclose(found, [24.0, 22.72], rtol=1e-6)


def test_several_gpus_are_not_there():
    import tensorflow as tf

    with pytest.raises(ValueError, match="call `multi_gpu_model` with `gpus >= 2`"):
        tf.keras.utils.multi_gpu_model(None, 1)
    with pytest.raises(ValueError, match=r"this machine only has: \['/cpu:0'\]. Try reducing `gpus`"):
        tf.keras.utils.multi_gpu_model(None, gpus=2)


POLICY = """
import npu_bridge
import numpy as np
import tensorflow as tf
from tensorflow.keras.mixed_precision import experimental
scales = {name: experimental.Policy(name).loss_scale for name in ("float32", "mixed_float16")}
assert scales["float32"] is None and scales["mixed_float16"].initial_loss_scale == 2.0**15, scales
assert float(experimental.Policy("mixed_float16", loss_scale=128)._loss_scale._loss_scale_value) == 128
experimental.set_policy("mixed_float16")
layer = tf.keras.layers.Dense(2)
assert layer(tf.ones([1, 2])).dtype == tf.float16 and layer.kernel.dtype.base_dtype == tf.float32
model = tf.keras.Sequential([layer, tf.keras.layers.Dense(1, dtype="float32")])
model.compile(experimental.LossScaleOptimizer(tf.keras.optimizers.SGD(0.01), 8), "mse")
losses = model.fit(np.ones([8, 2]), np.ones([8, 1]), epochs=3, verbose=0).history["loss"]
assert losses[2] < losses[0], losses
assert tf.distribute.Strategy.experimental_run_v2
from npu_bridge import _process
_process.leave()
assert tf.keras.mixed_precision.global_policy().name == "float32" and not hasattr(tf.keras.Sequential, "predict_classes")
import keras
assert not hasattr(keras.backend, "set_session") and keras.layers.LSTM is tf.keras.layers.LSTM
try:
    import keras.layers.convolutional
    raise SystemExit("old path is still there")
except ImportError:
    pass
"""


def test_policies_of_mixed_precision_and_the_way_back(fresh):
    fresh(POLICY)
