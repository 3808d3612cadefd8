"""Findings on Keras models and layers, wherever the model comes from."""

from __future__ import annotations

import pytest

from tf2npu.engine.convert_file import convert_source

TF = "import tensorflow as tf\nfrom tensorflow.keras.layers import LSTM, GRU, ConvLSTM2D\n"


def levels(code: str, rule: str) -> list[str]:
    return [f.level.value for f in convert_source(TF + code, "m.py").findings if f.rule == rule]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("m = tf.keras.Sequential([])\nm.fit(x, epochs=1, use_multiprocessing=True)", ["manual"]),
        ("def f(model):\n    model.fit_generator(g, workers=4, use_multiprocessing=FLAGS.mp)", ["manual"]),
        ("m = tf.keras.models.load_model('m')\nm.predict_generator(g, workers=2, use_multiprocessing=True)", ["manual"]),
        ("m = tf.keras.Sequential([])\nm.fit(x, epochs=1, workers=4)", []),
        ("m = tf.keras.Sequential([])\nm.fit(x, epochs=1, use_multiprocessing=False)", []),
        ("svm.fit(x, use_multiprocessing=True)", []),
    ],
)
def test_processes_that_read_for_keras_are_forked(code: str, found: list[str]) -> None:
    assert levels(code, "NPU952") == found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("y = LSTM(8, return_sequences=True)(x)", ["info"]),
        ("y = tf.keras.layers.Bidirectional(GRU(8))(x)", ["info"]),
        ("y = ConvLSTM2D(8, 3)(x)", ["info"]),
        ("y = LSTM(8, unroll=True)(x)", []),
        ("cell = tf.keras.layers.LSTMCell(8)", []),
        ("tf.enable_control_flow_v2()\ny = LSTM(8)(x)", []),
    ],
)
def test_recurrent_layers_are_loops(code: str, found: list[str]) -> None:
    assert levels(code, "NPU923") == found
