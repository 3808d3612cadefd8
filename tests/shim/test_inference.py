"""Online inference: models and checkpoints from elsewhere are loaded and run on the device."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from npu_runtime.session import run_log

MODEL = Path(__file__).parents[1] / "fixtures" / "shim" / "tf115_model"  # written by genuine TensorFlow 1.15
WANTED = np.array(json.loads((MODEL / "computed.json").read_text())["probabilities"], np.float32)
FED = np.random.RandomState(0).rand(2, 8, 8, 1).astype(np.float32)


def network():
    images = tf.placeholder(tf.float32, [None, 8, 8, 1], name="images")
    net = tf.layers.conv2d(images, 4, 3, activation=tf.nn.relu, name="conv")
    net = tf.layers.batch_normalization(net, training=False, name="norm")
    net = tf.reshape(tf.layers.max_pooling2d(net, 2, 2), [-1, 36])
    return images, tf.nn.softmax(tf.layers.dense(net, 3, name="top"), name="probabilities")


@pytest.fixture(autouse=True)
def all_on_the_device():
    """All floating-point work of a test is the device's."""
    n_before = len(run_log().sessions)
    yield
    programs = [program for session in run_log().sessions[n_before:] for program in session.programs if program.n_runs]
    assert max(program.device_flops for program in programs) > 0
    assert min(program.device_share for program in programs) == 1.0


def test_a_checkpoint_of_tensorflow_1_15(graph):
    images, probabilities = network()
    step = tf.train.get_or_create_global_step()
    with tf.Session() as session:
        tf.train.Saver().restore(session, str(MODEL / "model.ckpt-7"))
        assert session.run(step) == 7
        np.testing.assert_allclose(session.run(probabilities, {images: FED}), WANTED, rtol=1e-6)


def test_a_frozen_graph_of_tensorflow_1_15(graph):
    definition = tf.GraphDef.FromString((MODEL / "frozen.pb").read_bytes())
    images = tf.placeholder(tf.float32, [None, 8, 8, 1])
    (probabilities,) = tf.import_graph_def(definition, {"images:0": images}, ["probabilities:0"], name="imported")
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(probabilities, {images: FED}), WANTED, rtol=1e-6)
    names = [variable.name for variable in tf.global_variables()]
    assert names == [], "a frozen graph has constants only"


@pytest.fixture
def restored(graph):
    images, probabilities = network()
    tf.train.get_or_create_global_step()
    with tf.Session() as session:
        tf.train.Saver().restore(session, str(MODEL / "model.ckpt-7"))
        yield session, images, probabilities


def test_variables_of_the_device_become_constants(restored):
    session, _, _ = restored
    frozen = tf.graph_util.convert_variables_to_constants(session, session.graph_def, ["probabilities"])
    assert "VariableV2" not in {node.op for node in frozen.node} and "VarHandleOp" not in {node.op for node in frozen.node}
    with tf.Graph().as_default(), tf.Session() as other:
        tf.import_graph_def(tf.graph_util.remove_training_nodes(frozen), name="")
        np.testing.assert_allclose(other.run("probabilities:0", {"images:0": FED}), WANTED, rtol=1e-6)


def test_saved_models_load_in_every_way(restored, tmp_path):
    session, images, probabilities = restored
    folder = str(tmp_path / "saved")
    tf.saved_model.simple_save(session, folder, {"images": images}, {"probabilities": probabilities})
    with tf.Graph().as_default(), tf.Session() as other:
        signature = tf.saved_model.load(other, ["serve"], folder).signature_def["serving_default"]
        fetched = other.run(signature.outputs["probabilities"].name, {signature.inputs["images"].name: FED})
        np.testing.assert_allclose(fetched, WANTED, rtol=1e-6)
    with tf.Graph().as_default(), tf.Session() as other:
        tf.saved_model.loader.load(other, [tf.saved_model.tag_constants.SERVING], folder)
        np.testing.assert_allclose(other.run("probabilities:0", {"images:0": FED}), WANTED, rtol=1e-6)
    from tensorflow.contrib import predictor

    predict = predictor.from_saved_model(folder)
    np.testing.assert_allclose(predict({"images": FED})["probabilities"], WANTED, rtol=1e-6)
    with pytest.raises(ValueError, match="unexpected keys"):
        predict({"pictures": FED})
    by_name = predictor.from_saved_model(folder, input_names={"x": "images:0"}, output_names={"y": "probabilities:0"})
    np.testing.assert_allclose(by_name({"x": FED})["y"], WANTED, rtol=1e-6)
    with pytest.raises(ValueError, match="signature_def_key 'no'"):
        predictor.from_saved_model(folder, "no")


def test_a_predictor_of_an_estimator(tmp_path):
    from npu_bridge.npu_init import NPUEstimator, NPURunConfig

    def model_fn(features, labels, mode):
        logits = tf.layers.dense(features["x"], 2, kernel_initializer=tf.glorot_uniform_initializer(seed=1))
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits})
        loss = tf.reduce_mean(logits**2)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    x = np.random.RandomState(1).randn(6, 3).astype(np.float32)
    estimator = NPUEstimator(model_fn, config=NPURunConfig(model_dir=str(tmp_path)))
    estimator.train(lambda: tf.data.Dataset.from_tensors(({"x": x}, x[:, 0])).repeat(3), steps=3)

    def receiver():
        return tf.estimator.export.ServingInputReceiver(*[{"x": tf.placeholder(tf.float32, [None, 3])}] * 2)

    predict = tf.contrib.predictor.from_estimator(estimator, receiver)
    wanted = x @ estimator.get_variable_value("dense/kernel") + estimator.get_variable_value("dense/bias")
    np.testing.assert_allclose(predict({"x": x})["logits"], wanted, rtol=1e-5, atol=1e-6)


def test_records_feed_the_device(graph, tmp_path):
    path = str(tmp_path / "images.tfrecord")
    with tf.python_io.TFRecordWriter(path) as writer:
        for picture in FED:
            feature = {"pixels": tf.train.Feature(bytes_list=tf.train.BytesList(value=[picture.tobytes()]))}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())

    def parsed(record):
        pixels = tf.parse_single_example(record, {"pixels": tf.FixedLenFeature([], tf.string)})["pixels"]
        return tf.reshape(tf.decode_raw(pixels, tf.float32), [8, 8, 1])

    batch = tf.data.TFRecordDataset(path).map(parsed).batch(2).make_one_shot_iterator().get_next()
    definition = tf.GraphDef.FromString((MODEL / "frozen.pb").read_bytes())
    (probabilities,) = tf.import_graph_def(definition, {"images:0": batch}, ["probabilities:0"])
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(probabilities), WANTED, rtol=1e-6)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(probabilities)
