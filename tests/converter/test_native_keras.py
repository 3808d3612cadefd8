"""Programs with native Keras: all of their files become tf.keras in one pass, or none does."""

from __future__ import annotations

import json

import pytest

from tests.converter.test_golden import convert_folder
from tf2npu.config import Config
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import FileResult, Level

LAYER = "from keras import backend as K\nfrom keras.layers import Layer\n\nclass Mine(Layer):\n    pass\n"
TRAIN = """import numpy as np
from keras.models import Sequential
from keras.layers.core import Dense
from mine import Mine
from keras import backend as K

if __name__ == '__main__':
    m = Sequential([Dense(output_dim=4, input_dim=3), Mine()])
    m.compile('adagrad', 'mse')
    m.fit(np.ones((4, 3)), np.ones((4, 4)), nb_epoch=2)
    K.clear_session()
"""
OBSTACLES = [
    "from keras.engine.topology import Node\n",
    "import keras\nkeras.legacy.layers.MaxoutDense(3)\n",
    "from keras_contrib.layers import CRF\nfrom keras.layers import Dense\n",
    "import keras\nimport theano\n",
    "from keras import backend as K\nshape = SHAPES[K.image_dim_ordering()]\n",
    "import keras, importlib\nK = importlib.import_module('keras.backend')\n",
    "import keras, os\nos.environ['KERAS_BACKEND'] = 'theano'\n",
    "from keras.layers import Layer\nclass A(Layer):\n    def build(self, s):\n        self.trainable_weights = []\n",
    "from keras.layers import Dense\nlayer = Dense(3)  # tf2npu: ignore\nfrom keras.models import Model  # tf2npu: ignore\n",
    "import keras\ndef f(keras):\n    return keras.layers.core.Dense(output_dim=3)\n",
    "from keras.layers import *\nx = np.ones(3)\n",
    "from keras import backend as K\ny = K.tf.nn.relu(x)\n",
    "import keras\nprint keras.__version__\n",
]


def converted(**files: str) -> dict[str, FileResult]:
    return convert_folder({f"{name}.py": text.encode() for name, text in files.items()}, Config())


def test_one_pass_gives_keras_all_that_tf_keras_gets_and_a_second_one_nothing() -> None:
    done = converted(mine=LAYER, train=TRAIN)
    after = done["train.py"].after.decode()
    assert "from tensorflow.keras.layers import Dense\n" in after and "Dense(units=4, input_dim=3)" in after
    assert "npu_keras_sess = set_keras_session_npu_config()" in after and "        npu_clear_session()\n" in after
    assert "epochs=2)" in after and "'initial_accumulator_value': 0.0" in after
    assert done["mine.py"].after.decode().startswith("from tensorflow.keras import backend as K\n")
    again = convert_folder({path: result.after for path, result in done.items()}, Config())
    assert {path: result.after for path, result in again.items()} == {path: result.after for path, result in done.items()}
    levels = {f.level for result in done.values() for f in result.findings}
    assert levels <= {Level.FIXED, Level.INFO}


@pytest.mark.parametrize("other", OBSTACLES)
def test_a_program_is_moved_as_a_whole_or_not_at_all(other: str) -> None:
    done = converted(mine=LAYER, train=TRAIN, other=f"import mine\n{other}", alone=TRAIN.replace("from mine", "from layers"))
    assert done["mine.py"].after.decode() == LAYER
    kept = {path: result.after.decode() for path, result in done.items() if path != "alone.py"}
    assert not any("tensorflow.keras" in text for text in kept.values())
    (told,) = [f for f in done["mine.py"].findings if f.rule == "NPU303"]
    assert told.level is Level.UNSUPPORTED and "(other.py:" in told.message
    assert "from tensorflow.keras.models import Sequential" in done["alone.py"].after.decode()


def test_a_program_for_tensorflow_2_is_not_moved() -> None:
    other = "import mine\nimport tensorflow as tf\ntf.config.run_functions_eagerly(True)\n"
    done = converted(mine=LAYER, train=TRAIN, other=other)
    assert not any(b"tensorflow.keras" in result.after for result in done.values())


def test_a_package_of_the_tree_may_have_keras_in_its_name() -> None:
    files = {
        "keras_mine/__init__.py": LAYER.encode(),
        "train.py": b"from keras_mine import Mine\nfrom keras.models import Model\n",
    }
    done = convert_folder(files, Config())
    assert all(b"from tensorflow.keras." in result.after or b"from tensorflow.keras " in result.after for result in done.values())


def test_a_package_of_the_tree_may_be_called_keras() -> None:
    files = {
        "keras/__init__.py": b"",
        "keras/layers.py": b"Dense = 3\n",
        "train.py": b"from keras.layers import Dense\nDense + 1\n",
    }
    done = convert_folder(files, Config())
    assert done["train.py"].after == files["train.py"]


def test_findings_stand_at_places_of_the_original() -> None:
    source = "from keras.layers import Input, merge\nfrom keras.engine import Input, Model\nimport tensorflow as tf\n"
    source += "x = Input((3,))\nm = Model(input=x, output=tf.nn.dropout(x, 0.5))\n"
    result = convert_source(source, "m.py")
    lines = source.splitlines()
    for finding in result.findings:
        if finding.before and "\n" not in finding.before:
            assert finding.before in lines[finding.span.line - 1]
    (dropout,) = [f for f in result.findings if f.rule == "NPU501"]
    assert dropout.span.line == 5 and dropout.before == "tf.nn.dropout(x, 0.5)"
    text = source
    for edit in sorted(result.edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.new + text[edit.end :]
    assert text == result.after.decode()


def test_a_chain_of_attributes_gets_its_new_name() -> None:
    source = "import tensorflow as tf\nimport keras.backend as K\nimport keras\na = keras.layers.core.Dense(3)\n"
    source += "b = K.control_flow_ops.while_loop(c, d, e)\nf = K.tf.nn.relu(e)\ng = keras.optimizers.adam()\n"
    source += "if K.image_dim_ordering() == 'tf':\n    K.set_image_dim_ordering('th')\n"
    after = convert_source(source, "m.py").after.decode()
    assert "if K.image_data_format() == 'channels_last':\n    K.set_image_data_format('channels_first')\n" in after
    for line in ("a = keras.layers.Dense(3)", "b = tf.while_loop(c, d, e)", "f = tf.nn.relu(e)", "g = keras.optimizers.Adam()"):
        assert f"\n{line}\n" in after


def test_names_of_several_modules_get_an_import_each() -> None:
    source = "if True:\n    from keras.engine import Layer, Model as M, InputSpec\nimport keras, os\n"
    source += "x = 1; import keras.layers as kl\n"
    after = convert_source(source, "m.py").after.decode()
    assert (
        "    from tensorflow.keras.layers import Layer, InputSpec\n    from tensorflow.keras.models import Model as M\n" in after
    )
    assert "from tensorflow import keras\nimport os\nx = 1; from tensorflow.keras import layers as kl\n" in after


@pytest.mark.parametrize(
    ("source", "level", "word"),
    [
        ("from keras.layers import LSTM\nx = LSTM(3)\n", Level.INFO, "hard_sigmoid"),
        ("from keras.callbacks import EarlyStopping\nEarlyStopping(monitor='val_accuracy')\n", Level.MANUAL, "'val_acc'"),
        ("from keras.models import Model\nm.fit(x, y, sample_weight=w)\n", Level.MANUAL, "divides a loss"),
        ("from keras.layers import Embedding\nEmbedding(9, 3, mask_zero=True)\n", Level.MANUAL, "divides a loss"),
    ],
)
def test_what_differs_and_has_no_edit_is_told(source: str, level: Level, word: str) -> None:
    found = [f for f in convert_source(source, "m.py").findings if f.rule == "NPU303" and f.level is not Level.FIXED]
    assert [(f.level, f.span.line) for f in found] == [(level, 2)] and word in found[0].message


def test_a_notebook_is_moved_with_what_it_imports_or_not() -> None:
    def notebook(*cells: str) -> bytes:
        made = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text} for text in cells]
        return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}).encode()

    moved = notebook("from mine import Mine\nfrom keras.models import Model", "m = Model(input=x, output=y)")
    done = convert_folder({"mine.py": LAYER.encode(), "a.ipynb": moved}, Config())
    assert b"from tensorflow.keras.models import Model" in done["a.ipynb"].after and b"inputs=x" in done["a.ipynb"].after
    assert b"tensorflow.keras" in done["mine.py"].after
    assert {f.cell for f in done["a.ipynb"].findings if f.rule == "NPU303"} == {0, 1}
    kept = notebook("from mine import Mine\nfrom keras.engine import no")
    done = convert_folder({"mine.py": LAYER.encode(), "a.ipynb": kept}, Config())
    assert b"tensorflow.keras" not in done["mine.py"].after + done["a.ipynb"].after
