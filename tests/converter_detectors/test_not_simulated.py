"""APIs of 1.15 that a simulated run lacks are told under each spelling, once a file, as work that is left: a run ends there."""

from __future__ import annotations

import pytest

from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Finding

RULE = "NPU968"
REGISTER_SHAPE = "tf.python.framework.ops.RegisterShape"
TABLE = (
    "def source(d):\n    try:\n        from tensorflow.contrib.cloud import BigtableClient\n    except ImportError as e:\n"
    "        raise e\n    client = BigtableClient(d.project, d.instance)\n    return client.table(d.table)\n"
)
CONTRIB = "import tensorflow as tf\nl = tf.contrib.layers.fully_connected(x, 3)\n"


def said(code: str) -> list[Finding]:
    return [f for f in convert_source(code, "m.py").findings if f.rule == RULE]


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import tensorflow as tf\nc = tf.contrib.rnn.GridLSTMCell(3)", "tf.contrib.rnn.GridLSTMCell"),
        ("from tensorflow.contrib.rnn import GridLSTMCell", "tf.contrib.rnn.GridLSTMCell"),
        ("import tensorflow.contrib.rnn as rnn\nc = rnn.GridLSTMCell(3)", "tf.contrib.rnn.GridLSTMCell"),
        ("from tensorflow.contrib.factorization.python.ops import clustering_ops", "tf.contrib.factorization"),
        ("import tensorflow.contrib.ffmpeg as f", "tf.contrib.ffmpeg"),
        ("from tensorflow.contrib.tensor_forest.python import tensor_forest", "tf.contrib.tensor_forest"),
        ("import tensorflow.compat.v1 as tf\ne = tf.estimator.BoostedTreesRegressor(c, 1)", "tf.estimator.BoostedTreesRegressor"),
        ("from tensorflow.contrib.quantization import bias_add", "tf.contrib.quantization"),
        ("import tensorflow as tf\nx = tf.contrib.quantization.bias_add(y, b)", "tf.contrib.quantization"),
        ("from tensorflow.python.framework import ops\n@ops.RegisterShape('A')\ndef f(op): pass", REGISTER_SHAPE),
        # of TensorFlow's own modules: whole ones, names in others, and by their path below a package with a public name
        ("from tensorflow.python.distribute import all_reduce", "tf.python.distribute.all_reduce"),
        ("import tensorflow.python.distribute.all_reduce as r", "tf.python.distribute.all_reduce"),
        ("from tensorflow.python.distribute.all_reduce import build_ring_all_reduce", "tf.python.distribute.all_reduce"),
        ("from tensorflow.python import distribute\nx = distribute.all_reduce.f(y)", "tf.python.distribute.all_reduce"),
        (
            "from tensorflow.python.framework.common_shapes import unchanged_shape_with_rank",
            "tf.python.framework.common_shapes.unchanged_shape_with_rank",
        ),
        ("from tensorflow.python.util import deprecation_wrapper", "tf.python.util.deprecation_wrapper"),
        (
            "from tensorflow_core.python.util.tf_should_use import must_use_result_or_fatal",
            "tf.python.util.tf_should_use.must_use_result_or_fatal",
        ),
        (
            "from tensorflow.python.keras.preprocessing.sequence import _remove_long_seq",
            "tf.keras.preprocessing.sequence._remove_long_seq",
        ),
        ("from tensorflow.python.data.experimental.ops import stats_ops", "tf.data.experimental.ops.stats_ops"),
        ("import tensorflow as tf\nl = tf.keras.wrappers.scikit_learn.KerasClassifier(f)", "tf.keras.wrappers"),
    ],
)
def test_it_is_said(code: str, name: str) -> None:
    (finding,) = said(code)
    assert finding.level.value == "manual"
    assert f" has no {name}. " in finding.message


@pytest.mark.parametrize(
    "code",
    [
        "import tensorflow as tf\nc = tf.contrib.rnn.LSTMCell(3)",
        "import tensorflow as tf\nx = y[:, tf.newaxis]",  # it is None
        "from tensorflow.python.keras.layers.recurrent import LSTM",  # a path of 1.15 that npu_bridge offers
        "from tensorflow.contrib.signal import stft",
        "try:\n    from tensorflow.contrib import factorization\nexcept ImportError:\n    factorization = None",
        # the author has another way, also where the uses stand outside of the `try`
        "try:\n    from tensorflow.contrib import nn\nexcept ImportError:\n    print('no')\ny = nn.rank_sampled_softmax_loss(x)",
        # what is used of an object: it is said where that is made, if at all
        TABLE,
        # what tf.contrib.quantization shared with modules that are still there
        CONTRIB + "from tensorflow.python.ops.gen_nn_ops import relu_grad",
        CONTRIB + "from tensorflow.python.ops import gen_nn_ops\ng = gen_nn_ops.relu_grad(g, y)",
        CONTRIB + "from tensorflow.python.ops import gen_nn_ops as nn\ndef f(g, y):\n    return nn.bias_add_grad(g)",
        CONTRIB + "import tensorflow.python.ops.gen_math_ops\nc = tensorflow.python.ops.gen_math_ops.cast(x, d)",
        "import tensorflow as tf\nc = mine.contrib.rnn.GridLSTMCell(3)",
        "import tensorflow as tf\nfrom mine.python.distribute import all_reduce",
        "from tensorflow.python.framework import ops\ng = ops.get_default_graph()",
        "from tensorflow.python.training.tracking import graph_view",  # npu_bridge finds it where it is now
        "try:\n    from tensorflow.python.distribute import all_reduce\nexcept ImportError:\n    all_reduce = None",
    ],
)
def test_nothing_is_said(code: str) -> None:
    assert said(code) == []


def test_it_is_said_once_and_names_the_other_lines() -> None:
    code = "from tensorflow.contrib import rnn\na = rnn.GridLSTMCell(3)\nb = rnn.GridLSTMCell(4)\nc = rnn.GridLSTMCell(5)\n"
    (finding,) = said(code)
    assert finding.span.line == 2
    assert "3 such places; the others: 3, 4." in finding.message


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("ffmpeg", "tf.audio."),
        ("layers.real_valued_column", "tf.feature_column.numeric_column."),
        ("estimator.multi_class_head", "tf.estimator.MultiClassHead."),
        ("tensor_forest", "a forest of another library"),  # a copy of its Python code would not bring back its kernels
        ("image.bipartite_match", "ops of the script's own"),
        ("rnn.GridLSTMCell", "a copy of its code in the project."),
    ],
)
def test_it_says_what_to_use_instead(name: str, instead: str) -> None:
    (finding,) = said(f"import tensorflow as tf\nx = tf.contrib.{name}\n")
    assert f" use {instead}" in finding.message
