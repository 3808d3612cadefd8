"""tf.contrib under the shim: the programs of tests/fixtures/shim give what TensorFlow 1.15 gave, names have its signatures."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from tests.how_many import some

FIXTURES = Path(__file__).parents[1] / "fixtures" / "shim"
RECORDED = json.loads((FIXTURES / "contrib_values.json").read_text())["programs"]


@pytest.fixture(scope="module")
def programs():
    spec = importlib.util.spec_from_file_location("contrib_programs", FIXTURES / "contrib_programs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", some(sorted(set(RECORDED) - {"hyperparameters"}), 7))
def test_values_and_variables_are_those_of_tensorflow_1_15(programs, name):
    values, variables = programs.run(name)
    wanted = RECORDED[name]
    assert variables == wanted["variables"]
    assert [list(value.shape) for value in values] == [shape for shape, _ in wanted["values"]]
    for value, (shape, numbers) in zip(values, wanted["values"], strict=True):
        expected = np.array([np.nan if number is None else number for number in numbers], value.dtype if numbers else None)
        found = np.where(np.isfinite(value), value, np.nan) if value.dtype.kind == "f" else value
        np.testing.assert_allclose(found.astype(expected.dtype), expected.reshape(shape), rtol=2e-4, atol=2e-5)


def test_hyperparameters_print_and_parse_as_in_tensorflow_1_15(programs):
    assert programs.hyperparameters() == RECORDED["hyperparameters"]


def test_a_function_stays_where_a_module_has_its_name():
    """As in TF 1.15, where tensorflow.contrib.framework.python.ops imports everything of its module arg_scope."""
    from tensorflow.contrib.framework.python.ops import arg_scope as before
    from tensorflow.contrib.framework.python.ops.arg_scope import arg_scope
    from tensorflow.contrib.framework.python.ops import arg_scope as after  # isort: skip

    assert before is after is arg_scope and not isinstance(arg_scope, type(importlib))


def test_cells_say_what_does_not_fit():
    """The words that matter of TensorFlow 1.15's errors."""
    import tensorflow as tf
    from tensorflow.contrib import rnn

    for wrong, said in (
        (lambda: rnn.ConvLSTMCell(2, [4, 1], 2, [2]), "Invalid input_shape"),
        (lambda: rnn.GLSTMCell(5, number_of_groups=2), "num_units must be divisible by number_of_groups"),
        (lambda: rnn.GLSTMCell(4, num_proj=3, number_of_groups=2), "num_proj must be divisible by number_of_groups"),
        (lambda: rnn.AttentionCellWrapper(rnn.GRUCell(3), 0), "attn_length should be greater than zero"),
        (lambda: rnn.AttentionCellWrapper(rnn.LSTMCell(3), 2, state_is_tuple=False), "state_is_tuple is not set"),
        (lambda: step(rnn.GLSTMCell(4, number_of_groups=2), [2, 3]), "must be divisible by number_of_groups"),
        (lambda: step(rnn.IntersectionRNNCell(4), [2, 3]), "Must have input size == output size"),
        (lambda: step(rnn.CoupledInputForgetGateLSTMCell(2, num_unit_shards=9), [2, 3]), "Too many shards"),
        *[
            (lambda cell=cell: step(cell(2), [2, None]), said)
            for cell, said in ((rnn.SRUCell, "to be known"), (rnn.GLSTMCell, "Could not infer|statically known"))
        ],
    ):
        with tf.Graph().as_default(), pytest.raises(ValueError, match=said):
            wrong()


def step(cell, shape):
    import tensorflow as tf

    return cell(tf.placeholder(tf.float32, shape), cell.zero_state(2, tf.float32))


def test_resampler_says_what_does_not_fit():
    import tensorflow as tf
    from tensorflow.contrib.resampler.python.ops.resampler_ops import resampler

    for data, warp, said in (
        ([2, 3], [2, 2], "rank 4"),
        ([2, 3, 4, 1], [2, 3], "incompatible"),
        ([2, 3, 4, 1], [3, 2], "incompatible"),
    ):
        with tf.Graph().as_default(), pytest.raises(ValueError, match=said):
            resampler(tf.zeros(data), tf.zeros(warp))
    with tf.Graph().as_default(), tf.Session() as session:
        data = tf.placeholder(tf.float32)
        result = resampler(data, tf.zeros([2, 3, 2]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="data and warp of resampler"):
            session.run(result, {data: np.zeros([4, 5, 6, 1])})
