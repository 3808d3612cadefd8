"""Variables of recurrent cells, asked for by the names of before 1.2: TensorFlow finds them once the script is converted."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow.compat.v1 as tf

from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Level

CELLS = {
    "basic_lstm_cell": "tf.nn.rnn_cell.BasicLSTMCell(4)",
    "lstm_cell": "tf.nn.rnn_cell.LSTMCell(4)",
    "lstm_cell/projection": "tf.nn.rnn_cell.LSTMCell(4, num_proj=2)",
    "basic_rnn_cell": "tf.nn.rnn_cell.BasicRNNCell(4)",
    "gru_cell/gates": "tf.nn.rnn_cell.GRUCell(4)",
    "gru_cell/candidate": "tf.nn.rnn_cell.GRUCell(4)",
    "multi_rnn_cell/cell_1/lstm_cell": "tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(4) for _ in range(2)])",
}
NET = (
    "with tf.variable_scope('net') as scope:\n"
    "    cell = {}\n"
    "    y, _ = tf.nn.dynamic_rnn(cell, tf.ones([2, 3, 4]), dtype=tf.float32, scope=scope)\n"
    "    scope.reuse_variables()\n"
)
WAYS = {
    "get_variable": "    v = tf.get_variable('{path}/{kind}')\n",
    "by keyword, appended": "    v = tf.get_variable(name='' + '{path}/{kind}')\n",
    "equal": "v = [v for v in tf.global_variables() if v.name == 'net/{path}/{kind}:0'][0]\n",
    "in a tuple": "v = [v for v in tf.global_variables() if v.name in ('net/{path}/{kind}:0', 'a')][0]\n",
    "part of the name": "v = [v for v in tf.global_variables() if '{path}/{kind}' in v.name][0]\n",
    "start": "v = [v for v in tf.global_variables() if v.op.name.startswith('net/{path}/{kind}')][0]\n",
    "end": "v = [v for v in tf.global_variables() if v.name.endswith('{path}/{kind}:0')][0]\n",
    "pattern": "import re\nv = [v for v in tf.global_variables() if re.match('n.t/{path}/{kind}', v.name)][0]\n",
    "tensor": "v = tf.get_default_graph().get_tensor_by_name('net/{path}/{kind}:0')\n",
}


def converted(code: str) -> str:
    return convert_source(f"import tensorflow as tf\n{code}", "m.py").after.decode()


def name_found(code: str) -> str:
    """The name of the variable `v` once the code has run."""
    names: dict[str, Any] = {"tf": tf}
    lines = [line for line in code.splitlines() if "npu_bridge" not in line and line != "import tensorflow as tf"]
    with tf.Graph().as_default():
        exec("\n".join(lines), names)
    return str(names["v"].name)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(("path", "cell"), CELLS.items(), ids=CELLS)
def test_the_variable_of_a_cell_is_found_once_converted(path: str, cell: str, way: str) -> None:
    for old, new in {"weights": "kernel", "biases": "bias"}.items():
        if (path, old) != ("lstm_cell/projection", "biases"):  # it has none
            code = NET.format(cell) + way.format(path=path, kind=old)
            with pytest.raises((ValueError, IndexError, KeyError)):
                name_found(code)
            assert name_found(converted(code)) == f"net/{path}/{new}:0"


@pytest.mark.parametrize(
    "way",
    [
        "v = [v for v in cell.variables if 'weights' in v.name][0]\n",
        "for w in cell.trainable_weights:\n    if w.name.endswith('/x') or '/weights' in w.name:\n        v = w\n",
        "v = [v for v in tf.global_variables() if '/lstm_cell/' in v.name and 'weights' in v.name][0]\n",
        "    with tf.variable_scope('lstm_cell'):\n        v = tf.get_variable('weights')\n",
    ],
)
def test_a_part_of_a_name_is_converted_where_it_is_asked_of_a_cell(way: str) -> None:
    code = NET.format("tf.nn.rnn_cell.LSTMCell(4)") + way
    with pytest.raises((ValueError, IndexError, KeyError)):
        name_found(code)
    assert name_found(converted(code)) == "net/lstm_cell/kernel:0"


KEPT = {
    "of contrib's layers": "y = tf.contrib.layers.fully_connected(x, 3, scope='fc')\nw = tf.get_variable('fc/weights')",
    "of any layer": "w = [v for v in tf.trainable_variables() if 'weights' in v.name]",
    "a variable that is made": "w = tf.get_variable('lstm_cell/weights', shape=[3, 4])",
    "a variable made by its value": "w = tf.get_variable('lstm_cell/weights', initializer=[1.])",
    "both names": "w = [v for v in tf.trainable_variables() if v.name in ('lstm_cell/weights:0', 'lstm_cell/kernel:0')]",
    "a table of names": "names = {'lstm/basic_lstm_cell/weights': 'lstm/basic_lstm_cell/kernel'}",
    "the script's own": "with tf.variable_scope('fc'):\n    w = tf.get_variable('weights')",
    "no variable": "print('basic_lstm_cell/weights')",
}


@pytest.mark.parametrize("code", KEPT.values(), ids=KEPT)
def test_other_names_are_kept(code: str) -> None:
    assert converted(code).rstrip().endswith(code)


def test_a_name_that_is_kept_for_later_is_told() -> None:
    code = "import tensorflow as tf\nnames = ('rnn/lstm_cell/weights:0',)\nsaved = {'rnn/lstm_cell/biases': 1}\n"
    found = [f for f in convert_source(code, "m.py").findings if f.rule == "NPU969"]
    assert [(f.level, f.after) for f in found] == [(Level.MANUAL, "'rnn/lstm_cell/kernel:0'"), (Level.INFO, "")]


@pytest.mark.parametrize("name", ["BasicLSTMCell/Linear/Matrix", "RNN/GRUCell/Gates/Linear/Bias"])
def test_names_of_before_1_0_are_told(name: str) -> None:
    asked = f"import tensorflow as tf\nw = tf.get_variable('{name}')\n"
    assert [f.level for f in convert_source(asked, "m.py").findings if f.rule == "NPU969"] == [Level.UNSUPPORTED]
    either = (
        f"import tensorflow as tf\nfor v in tf.all_variables():\n    if v.name == '{name}' or v.name == 'a':\n        w = v\n"
    )
    assert [f.level for f in convert_source(either, "m.py").findings if f.rule == "NPU969"] == []
