"""Properties that recurrent loops must keep: effects, changed gradients, the order of reads, and lengths, held to TensorFlow's
CPU."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tests.passes.fuse.test_fuse_recurrent import (
    CELLS,
    UNITS,
    WIDTH,
    check,
    dynamic,
    gradients_applied,
    kernels,
    loss_of,
    sequence,
)

NUMBERS = itertools.count()
"""Of gradients that tests register: TensorFlow forgets none."""


@pytest.fixture(autouse=True)
def seeded() -> None:
    """The same weights in every run of a test."""
    tf.set_random_seed(11)


def with_gradient(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """An Identity whose gradient a script has changed as TensorFlow documents it.  function: of the gradient that comes in."""
    name = f"Changed{next(NUMBERS)}"
    tf.RegisterGradient(name)(lambda _, dy: function(dy))

    def changed(x: Any) -> Any:
        with tf.get_default_graph().gradient_override_map({"Identity": name}):
            return tf.identity(x)

    return changed


class OwnLstm(tf.nn.rnn_cell.BasicLSTMCell):
    """An LSTM as papers write it, with a place to change the gradient of what its gates add up."""

    def __init__(self, change: Callable[[Any], Any]) -> None:
        super().__init__(UNITS)
        self.change = change

    def call(self, inputs: Any, state: Any) -> Any:
        memory, h = state
        sums = tf.nn.bias_add(tf.matmul(tf.concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = tf.split(self.change(sums), 4, 1)
        memory = memory * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(memory) * tf.sigmoid(o)
        return h, tf.nn.rnn_cell.LSTMStateTuple(memory, h)


CHANGES: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "clip": lambda _: lambda dy: tf.clip_by_value(dy, -1.0, 1.0),
    "clip by a number from outside": lambda ten: lambda dy: tf.clip_by_value(dy, -ten, ten),
    "clip by minimum and maximum": lambda ten: lambda dy: tf.minimum(tf.maximum(dy, -ten), ten),
    "large ones": lambda _: lambda dy: tf.where(dy > 1.0, tf.ones_like(dy), dy),
    "no numbers": lambda _: lambda dy: tf.where(tf.is_nan(dy), tf.zeros_like(dy), dy),
    "soft clip": lambda ten: lambda dy: ten * tf.tanh(dy / ten),
    "a small number from outside": lambda ten: lambda dy: dy + 1e-5 * ten,
    "a weak pull to the signs": lambda _: lambda dy: dy + 0.2 * 0.2 * 0.2 * tf.tanh(dy),
}
"""Makers of changes of a gradient; what they are given is 10, outside of the loop."""


@pytest.mark.whole(but=("1.0-*",))
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_changed_gradients_keep_their_loops(change: str, scale: float, tmp_path: Any) -> None:
    x = tf.placeholder(tf.float32, [3, 6, WIDTH])
    cell = OwnLstm(with_gradient(CHANGES[change](tf.constant(10.0))))
    outputs, states = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    loss = loss_of(outputs, tf.nest.flatten(states))
    fetch = [gradient / scale for gradient in tf.gradients(scale * loss, [x, *tf.trainable_variables()])]
    assert check(fetch, {x: sequence()}, tmp_path) == ["_While", "_While"]


def test_gradients_left_as_they_are_go_with_the_loop(tmp_path: Any) -> None:
    x = tf.placeholder(tf.float32, [3, 6, WIDTH])
    outputs, states = tf.nn.dynamic_rnn(OwnLstm(with_gradient(tf.identity)), x, dtype=tf.float32)
    fetch = tf.gradients(loss_of(outputs, tf.nest.flatten(states)), [x, *tf.trainable_variables()])
    assert check(fetch, {x: sequence()}, tmp_path) == kernels("LSTM", True)


@pytest.mark.parametrize("period", [None, 4, 8])
def test_gradients_cut_every_few_turns_keep_their_loops(period: int | None, tmp_path: Any) -> None:
    """Truncated back-propagation, in a loop that a script writes itself.  period: in turns; None: nothing is cut."""
    x = tf.placeholder(tf.float32, [12, 3, WIDTH])
    cell = CELLS["GRUCell"]()
    given, made = tf.TensorArray(tf.float32, 12).unstack(x), tf.TensorArray(tf.float32, 12, element_shape=[3, UNITS])
    end = tf.constant(12)

    def turn(number: Any, state: Any, array: Any) -> Any:
        if period is not None:
            state = with_gradient(lambda dy: tf.where(tf.equal(number % period, 0), tf.zeros_like(dy), dy))(state)
        output, state = cell(given.read(number), state)
        return number + 1, state, array.write(number, output)

    _, last, array = tf.while_loop(lambda number, *_: number < end, turn, [tf.constant(0), tf.zeros([3, UNITS]), made])
    fetch = tf.gradients(loss_of(array.stack(), [last]), [x, *tf.trainable_variables()])
    expected = kernels("GRU", True) if period is None else ["_While", "_While"]
    assert check(fetch, {x: sequence(12, 3)}, tmp_path) == expected


@pytest.mark.parametrize("cell", ["a GRU's turns", "a hard LSTM's memory"])
def test_gradients_that_rare_forward_values_change_keep_their_loops(cell: str, tmp_path: Any) -> None:
    """Values that the forward loop keeps for its gradients may have sides that no random turn meets."""
    x = tf.placeholder(tf.float32, [18, 3, WIDTH])
    given, made = tf.TensorArray(tf.float32, 18).unstack(x), tf.TensorArray(tf.float32, 18, element_shape=[3, UNITS])
    end, is_gru = tf.constant(18), "GRU" in cell
    network = CELLS["GRUCell"]() if is_gru else tf.keras.layers.LSTMCell(UNITS, recurrent_activation="hard_sigmoid")

    def turn(number: Any, array: Any, *states: Any) -> Any:
        if is_gru:
            factor = tf.where(tf.equal(number % 8, 0), tf.zeros([3, UNITS]), tf.ones([3, UNITS]))
            output, *states = network(given.read(number), with_gradient(lambda dy: dy * factor)(states[0]))
        else:
            memory = states[1]
            kept = with_gradient(lambda dy: tf.where(memory > 1.0, tf.zeros_like(dy), dy))(memory)
            output, states = network(given.read(number), [states[0], kept])
        return number + 1, array.write(number, output), *states

    first = [2.0 * tf.ones([3, UNITS]) for _ in range(1 if is_gru else 2)]
    _, array, *last = tf.while_loop(lambda number, *_: number < end, turn, [tf.constant(0), made, *first])
    fetch = tf.gradients(loss_of(array.stack(), last), [x, *tf.trainable_variables()])
    assert check(fetch, {x: sequence(18, 3)}, tmp_path) == ["_While", "_While"]


@pytest.mark.whole(but=("LSTMCell-4-*",))
@pytest.mark.parametrize("lengths", [[3, 2, 1], [2, 2, 2], [6, 2, 1], [0, 0, 0]], ids=str)
@pytest.mark.parametrize("width", [WIDTH, UNITS])
@pytest.mark.parametrize("cell", ["LSTMCell", "GRUCell"])
def test_lengths_that_are_constants(cell: str, width: int, lengths: list[int], tmp_path: Any) -> None:
    """Rows that have all ended say nothing about the cell: the states' gradients must not be taken for each other."""
    x = tf.placeholder(tf.float32, [3, 6, width])
    values = np.random.default_rng(4).standard_normal((3, 6, width)).astype(np.float32)
    outputs, states = dynamic(cell, x, sequence_length=tf.constant(lengths))
    loss = loss_of(outputs, states) + 3.0 * tf.reduce_sum(tf.sin(states[-1]))
    fetch = tf.gradients(loss, [x, *tf.trainable_variables()])
    assert check(fetch, {x: values}, tmp_path) == kernels(cell, True)


@pytest.mark.parametrize("length", [1, 2, 6])
def test_a_constant_length_of_a_single_row(length: int, tmp_path: Any) -> None:
    x = tf.placeholder(tf.float32, [1, 6, WIDTH])
    outputs, states = dynamic("BasicLSTMCell", x, sequence_length=[length])
    loss = loss_of(outputs, states) + 3.0 * tf.reduce_sum(tf.square(states[-1]))
    fetch = tf.gradients(loss, [x, *tf.trainable_variables()])
    assert check(fetch, {x: sequence(1)}, tmp_path) == kernels("LSTM", True)


def counted(counter: Any, value: Any) -> Any:
    """The value, once the counter has gone up."""
    with tf.control_dependencies([counter.assign_add(1.0)]):
        return tf.identity(value)


@pytest.mark.parametrize("where", ["forward", "gradient"])
def test_a_variable_that_counts_turns_keeps_its_loop(where: str, tmp_path: Any) -> None:
    x = tf.placeholder(tf.float32, [3, 6, WIDTH])
    counter = tf.get_variable("counter", initializer=0.0, trainable=False, use_resource=True)
    change = (lambda z: counted(counter, z)) if where == "forward" else with_gradient(lambda dy: counted(counter, dy))

    class Counting(tf.nn.rnn_cell.GRUCell):
        def call(self, inputs: Any, state: Any) -> Any:
            return super().call(change(inputs), state)

    outputs, state = tf.nn.dynamic_rnn(Counting(UNITS), x, dtype=tf.float32)
    fetch = tf.gradients(loss_of(outputs, [state]), [x, *tf.trainable_variables()])
    assert "_While" in check(fetch, {x: sequence()}, tmp_path, steps=2)


@pytest.mark.parametrize("kind", [tf.keras.layers.GRU, tf.keras.layers.LSTM], ids=["GRU", "LSTM"])
def test_a_loss_behind_a_step_reads_the_weights_of_that_step(kind: Any, tmp_path: Any) -> None:
    x = tf.placeholder(tf.float32, [3, 6, WIDTH])
    made = kind(UNITS, return_sequences=True)
    loss = tf.reduce_mean(tf.square(made(x) - 0.3))
    dx, step = gradients_applied(loss, x)
    with tf.control_dependencies([step]):
        after = tf.reduce_mean(tf.square(made(x) - 0.3))
    ops = kernels(kind.__name__, True)
    assert check([loss, dx, step, after], {x: sequence()}, tmp_path, steps=3) == sorted([ops[0], *ops])


@pytest.mark.parametrize("cell", ["LSTMCell", "GRUCell"])
def test_weights_assigned_before_a_network_are_the_ones_it_reads(cell: str, tmp_path: Any) -> None:
    x = tf.placeholder(tf.float32, [3, 6, WIDTH])
    with tf.variable_scope("resources", use_resource=True):
        made = CELLS[cell]()
        made.build(tf.TensorShape([3, WIDTH]))
    with tf.control_dependencies([weight.assign(0.5 * weight) for weight in made.trainable_variables]):
        outputs, _ = tf.nn.dynamic_rnn(made, x, dtype=tf.float32)
    assert check(outputs, {x: sequence()}, tmp_path, steps=2) == kernels(cell, False)


def test_weights_that_only_the_first_counter_waits_for(tmp_path: Any) -> None:
    """The arrays are made before the assignment: a loop's first values alone order its reads."""
    x = tf.placeholder(tf.float32, [6, 3, WIDTH])
    with tf.variable_scope("resources", use_resource=True):
        cell = CELLS["GRUCell"]()
        cell.build(tf.TensorShape([3, WIDTH]))
    given, made = tf.TensorArray(tf.float32, 6).unstack(x), tf.TensorArray(tf.float32, 6, element_shape=[3, UNITS])
    first = tf.zeros([3, UNITS])
    with tf.control_dependencies([weight.assign(0.5 * weight) for weight in cell.trainable_variables]):
        start, end = tf.constant(0), tf.constant(6)

    def turn(number: Any, state: Any, array: Any) -> Any:
        output, state = cell(given.read(number), state)
        return number + 1, state, array.write(number, output)

    _, last, array = tf.while_loop(lambda number, *_: number < end, turn, [start, first, made])
    check([array.stack(), last], {x: sequence(6, 3)}, tmp_path, steps=2)
