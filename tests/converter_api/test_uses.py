"""References to an API: those that count, their names, and those that are said to be unknown."""

from __future__ import annotations

import json

import pytest

from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Verdict
from tf2npu.report.model.apis import numbers, sentence
from tf2npu.report.model.build import build


def uses(text: str, path: str = "m.py") -> dict[str, int]:
    """Number of references by name."""
    found: dict[str, int] = {}
    for use in convert_source(text, path).apis:
        found[use.name] = found.get(use.name, 0) + use.count
    return found


def unknown(text: str) -> dict[str, str]:
    """Names without a verdict, and why."""
    return {use.name: use.note for use in convert_source(text).apis if use.verdict is Verdict.UNKNOWN}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import tensorflow as tf\n", {}),
        ("import tensorflow as tf\ny = tf.nn.relu(x)", {"tensorflow.nn.relu": 1}),
        ("import tensorflow.compat.v1 as tf\ny = tf.nn.relu(x)", {"tensorflow": 1, "tensorflow.nn.relu": 1}),
        ("import tensorflow as tf\ny = f(x, activation=tf.nn.relu)", {"tensorflow.nn.relu": 1}),
        ("import tensorflow as tf\nclass M(tf.keras.Model):\n    pass", {"tensorflow.keras.Model": 1}),
        ("import tensorflow as tf\n@tf.custom_gradient\ndef f(x):\n    pass", {"tensorflow.custom_gradient": 1}),
        ("import tensorflow as tf\ndef f(x=tf.float32) -> tf.Tensor: pass", {"tensorflow.float32": 1, "tensorflow.Tensor": 1}),
        (
            "from tensorflow.keras.layers import Dense as D\nd = D(3)\ne = D",
            {"tensorflow.keras.layers.Dense": 3},
        ),
        ("import tensorflow as tf\nL = tf.layers\ny = L.dense(x, 3)", {"tensorflow.layers": 1, "tensorflow.layers.dense": 1}),
        ("import tensorflow as tf\nS = getattr(tf, 'Session')", {"tensorflow.Session": 1}),
        ("import tensorflow as tf\nS = tf.__dict__['Session']", {"tensorflow.Session": 1}),
        ("import tensorflow as tf\nr = tf.nn.__dict__.get('relu')", {"tensorflow.nn.relu": 1}),
        ("import tensorflow as tf\nb = hasattr(tf, 'contrib')", {}),
        ("import tensorflow as tf\nf = tf.app.flags.FLAGS\nprint(f.a, f.b.c)", {"tensorflow.app.flags.FLAGS": 3}),
        (
            "import tensorflow as tf\ns = tf.Session()\ns.run(x)",
            {"tensorflow.Session": 1, "tensorflow.Session.run": 1},
        ),
        ("import tensorflow as tf\ntf.logging.warn = print", {"tensorflow.logging.warn": 1}),
        ("import horovod.tensorflow as hvd\nhvd.init()", {"horovod.tensorflow": 1, "horovod.tensorflow.init": 1}),
        ("def place(tf):\n    return tf.device('x')\nimport tensorflow", {}),
        ("from tensorflow.keras.layers import *\nd = Dense(3)\nprint(len(d))", {
            "tensorflow.keras.layers": 1, "tensorflow.keras.layers.Dense": 1}),
        ("import requests, tensorflow_hub as hub\nrequests.Session(); hub.load('x')", {}),
    ],
)  # fmt: skip
def test_references_are_counted_by_name(text, expected):
    assert uses(text) == expected


def test_an_attribute_of_the_users_own_subclass_is_not_tensorflows():
    text = "import tensorflow as tf\nclass M(tf.keras.Model):\n    def go(self):\n        self.fit(1)\n        self.mine(2)\n"
    assert uses(text) == {"tensorflow.keras.Model": 1, "tensorflow.keras.Model.fit": 1}


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        ("import tensorflow as tf\nx = tf.nn.rellu(1)", "tensorflow.nn.rellu", "no public name"),
        ("import tensorflow as tf\nx = getattr(tf.nn, name)", "tensorflow.nn.*", "computed"),
        ("import tensorflow as tf\nx = tf.train.__dict__[name]", "tensorflow.train.*", "computed"),
        ("import tensorflow as tf\nfor name in tf.nn.__dict__:\n    print(name)", "tensorflow.nn", "handed on"),
        ("import tensorflow as tf\nf(tf)", "tensorflow", "handed on"),
        ("import tensorflow as tf\nf(a=tf.nn)", "tensorflow.nn", "handed on"),
        ("import tensorflow as tf\ndef f():\n    return tf", "tensorflow", "handed on"),
        (
            "if x:\n    import tensorflow as tf\nelse:\n    import tensorflow.compat.v2 as tf\ntf.nn.relu(x)",
            "tensorflow.nn.relu", "several meanings",
        ),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_told(text, name, why):
    assert why in unknown(text)[name]


def test_the_line_is_that_of_the_first_reference():
    text = "import tensorflow as tf\n\ny = (\n    tf.nn.relu(x))\nz = tf.nn.relu(y)\n"
    (use,) = convert_source(text).apis
    assert (use.line, use.count, use.cell) == (4, 2, None)
    (use,) = convert_source("import tensorflow as tf\ny = tf.__dict__['abs']\nz = getattr(tf, 'abs')\n").apis
    assert (use.line, use.count) == (2, 2)


def test_in_a_notebook_the_cell_is_named():
    cells = [
        {"cell_type": "code", "source": ["import tensorflow as tf\n"], "metadata": {}, "outputs": [], "execution_count": None},
        {"cell_type": "markdown", "source": "text", "metadata": {}},
        {"cell_type": "code", "source": "a = 1\nb = tf.nn.relu(a)", "metadata": {}, "outputs": [], "execution_count": None},
    ]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    (use,) = convert_source(text, "n.ipynb").apis
    assert (use.name, use.cell, use.line) == ("tensorflow.nn.relu", 2, 2)


def test_the_report_adds_up_and_says_what_is_unknown():
    text = "import tensorflow as tf\nx = tf.nn.relu(tf.nn.rellu(1))\ny = tf.nn.relu(x)\n"
    report = build([convert_source(text, "b.py"), convert_source(text, "a.py"), convert_source("print 'x'", "c.py")])
    assert numbers(report) == {"seen": 6, "resolved": 4, "unknown": 2}
    first = report.apis[0]
    assert (first.name, first.count, first.n_files, first.places) == ("tensorflow.nn.relu", 4, 2, ("a.py:2", "b.py:2"))
    assert sentence(report).startswith("6 references to TensorFlow: 4 resolved, 2 unknown")


def test_what_tensorflow_only_hands_on_is_known_with_all_below_it():
    text = (
        "import tensorflow.compat.v1 as tf\nmock = tf.test.mock\n@tf.test.mock.patch.object(os, 'remove')\n"
        "def f(m):\n    return mock.Mock(), tf.test.mock.ANY\n"
    )
    assert unknown(text) == {}
    assert uses(text)["tensorflow.test.mock"] == 4
