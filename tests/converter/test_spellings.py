"""Every rule sees the names it looks for under all their spellings, and what is no name of theirs keeps its own."""

from __future__ import annotations

import pytest

from tf2npu.api_support.table import table
from tf2npu.engine.convert_file import convert_source
from tf2npu.rules import rule_parts
from tf2npu.scanner.names import canonical

pytestmark = pytest.mark.each_python
TENSORFLOW2_IDS = "NPU8"
"""The beginning of the ids of rules for TensorFlow 2 alone."""


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("tensorflow.python.ops.rnn.dynamic_rnn", "tensorflow.nn.dynamic_rnn"),
        ("tensorflow.python.ops.control_flow_ops.while_loop", "tensorflow.while_loop"),
        ("tensorflow_core.python.ops.control_flow_ops.cond", "tensorflow.cond"),
        ("tensorflow.python.ops.functional_ops.map_fn", "tensorflow.map_fn"),
        ("tensorflow.python.ops.rnn_cell.BasicLSTMCell", "tensorflow.nn.rnn_cell.BasicLSTMCell"),
        ("tensorflow.contrib.rnn.python.ops.core_rnn_cell.GRUCell", "tensorflow.nn.rnn_cell.GRUCell"),
        ("tensorflow.contrib.seq2seq.python.ops.decoder.dynamic_decode", "tensorflow.contrib.seq2seq.dynamic_decode"),
        ("tensorflow.python.training.input.batch", "tensorflow.train.batch"),
        ("tensorflow.python.training.queue_runner.start_queue_runners", "tensorflow.train.start_queue_runners"),
        ("tensorflow.python.ops.script_ops.py_func", "tensorflow.py_func"),
        ("tensorflow.python.keras.layers.core.Dropout", "tensorflow.keras.layers.Dropout"),
        ("tensorflow.contrib.tpu.python.tpu.tpu_estimator.TPUEstimator", "tensorflow.estimator.tpu.TPUEstimator"),
        ("tensorflow.contrib.layers.python.layers.layers.dropout", "tensorflow.contrib.layers.dropout"),
        ("tf_slim.data.dataset_data_provider.DatasetDataProvider",
         "tensorflow.contrib.slim.dataset_data_provider.DatasetDataProvider"),
        ("tensorflow.contrib.slim.losses.softmax_cross_entropy", "tensorflow.contrib.losses.softmax_cross_entropy"),
        ("tensorflow.contrib.slim.metrics.streaming_mean", "tensorflow.contrib.metrics.streaming_mean"),
        ("tf_slim.metrics.aggregate_metric_map", "tensorflow.contrib.metrics.aggregate_metric_map"),
        ("tensorflow.python.pywrap_tensorflow.NewCheckpointReader", "tensorflow.train.NewCheckpointReader"),
        ("tensorflow.math.reduce_mean", "tensorflow.reduce_mean"),
        ("tensorflow.python.framework.dtypes.float64", "tensorflow.float64"),
        ("tensorflow.dtypes.complex64", "tensorflow.complex64"),
        ("tensorflow.python.Session", "tensorflow.Session"),
        ("tensorflow.python.client.client_lib.Session", "tensorflow.Session"),
        ("tensorflow.python.ops.standard_ops.reduce_mean", "tensorflow.reduce_mean"),
        ("tensorflow.python.ops.sets.set_size", "tensorflow.sets.size"),
        ("tensorflow.python.ops.string_ops.as_string", "tensorflow.dtypes.as_string"),
        ("tensorflow.python.ops.data_flow_ops.dynamic_partition", "tensorflow.dynamic_partition"),
        ("tensorflow.python.ops.image_ops.resize_bilinear", "tensorflow.image.resize_bilinear"),
        ("tensorflow.python.ops.image_ops.decode_jpeg", "tensorflow.io.decode_jpeg"),
        ("tensorflow.python.ops.linalg.linalg.band_part", "tensorflow.linalg.band_part"),
        ("tensorflow.python.ops.losses.losses.get_total_loss", "tensorflow.losses.get_total_loss"),
        ("tensorflow.python.ops.gradients.GradientTape", "tensorflow.GradientTape"),
        ("tensorflow.python.saved_model.tag_constants.SERVING", "tensorflow.saved_model.tag_constants.SERVING"),
    ],
)  # fmt: skip
def test_a_spelling_is_brought_to_the_name_that_rules_know(spelling: str, name: str) -> None:
    assert canonical(spelling) == canonical(name)
    assert canonical(canonical(spelling)) == canonical(spelling)


@pytest.mark.parametrize(
    "name",
    [
        "tensorflow.compat.v2.math.reduce_mean",
        "tensorflow.python.ops.control_flow_ops",
        "tensorflow.python.ops.control_flow_ops.mine",
        "tensorflow.raw_ops.MatMul",
        "tensorflow.python.mine",
        "tensorflow.python.ops.standard_ops.mine",
        "mylib.python.ops.rnn.dynamic_rnn",
    ],
)
def test_another_name_stays(name: str) -> None:
    assert canonical(name) == name


def test_every_rule_sees_every_spelling_of_its_names() -> None:
    """The table has the names of 1.15, and spellings such as `tf.contrib` that files for TensorFlow 2 cannot have."""
    rules: dict[str, set[str]] = {}
    for part in (part for part in rule_parts() if not part.id.startswith(TENSORFLOW2_IDS)):
        for name in part.matches if part.on in ("call", "reference") else ():
            rules.setdefault(name, set()).add(part.id)
    rows = {name: api for api in table() for name in (api.name, *api.aliases) if api.kind in ("function", "class")}
    spellings = {
        name: [n for n in (rows[name].name, *rows[name].aliases) if ".compat.v2." not in n] for name in rules if name in rows
    }
    unseen = [(name, s) for name, found in spellings.items() for s in found if not rules[name] <= rules.get(canonical(s), set())]
    assert len(spellings) > 300 and unseen == []


@pytest.mark.parametrize(
    ("code", "rules"),
    [
        ("import tensorflow.python.ops.rnn\ny = tensorflow.python.ops.rnn.dynamic_rnn(cell, x)", {"NPU511", "NPU923"}),
        ("from tensorflow.python.ops import rnn\ny = rnn.dynamic_rnn(cell, x)", {"NPU511", "NPU923"}),
        ("from tensorflow.python.ops.control_flow_ops import while_loop\ny = while_loop(c, b, [i])", {"NPU923"}),
        ("from tensorflow.contrib import seq2seq\ny = seq2seq.dynamic_decode(d)", {"NPU923"}),
        ("from tensorflow.contrib.seq2seq import dynamic_decode as run\ny = run(d)", {"NPU923"}),
        ("from tensorflow.contrib.seq2seq.python.ops import decoder\ny = decoder.dynamic_decode(d)", {"NPU923"}),
        ("from rnn import dynamic_rnn\nimport tensorflow as tf\ny = dynamic_rnn(cell, x)", set()),
    ],
)
def test_findings_do_not_depend_on_the_spelling(code: str, rules: set[str]) -> None:
    assert {f.rule for f in convert_source(code, "m.py").findings} == rules


_EITHER = "try:\n    from tensorflow.python.ops import {} as m\nexcept ImportError:\n    {} as m\ny = m.{}\n"


@pytest.mark.parametrize(
    ("code", "rules"),
    [
        (_EITHER.format("nn_ops", "from tensorflow import nn", "dropout(x, 0.5)"), {"NPU501", "NPU100"}),
        (_EITHER.format("rnn", "from tensorflow import nn", "dynamic_rnn(cell, x)"), {"NPU511", "NPU923"}),
        (_EITHER.format("nccl_ops", "import tensorflow.contrib.nccl", "all_sum(gradients)"), {"NPU949"}),
        (_EITHER.format("rnn", "from tensorflow import keras", "dynamic_rnn(cell, x)"), set()),
        (_EITHER.format("rnn", "import mylib.rnn", "dynamic_rnn(cell, x)"), {"NPU953"}),
        ("from tensorflow import nn as m\nm = 3\ny = m.dynamic_rnn(cell, x)\n", set()),
    ],
)
def test_what_two_modules_both_have_is_known_whichever_was_imported(code: str, rules: set[str]) -> None:
    assert {f.rule for f in convert_source(code, "m.py").findings} == rules
