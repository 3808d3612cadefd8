"""Loops of known cells as one kernel, held to TensorFlow's CPU: values, gradients, training steps, and what stays a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.executor.loop import turns_of
from tests.how_many import some
from tests.runtime.device import device_of, device_session

UNITS, WIDTH = 5, 4
RTOL = 2e-5
"""Of results and gradients against TensorFlow's: what is summed in another order differs in the last digits of fp32."""

CELLS: dict[str, Callable[[], Any]] = {
    "BasicLSTMCell": lambda: tf.nn.rnn_cell.BasicLSTMCell(UNITS),
    "BasicLSTMCell without bias of forgetting": lambda: tf.nn.rnn_cell.BasicLSTMCell(UNITS, forget_bias=0.0),
    "LSTMCell": lambda: tf.nn.rnn_cell.LSTMCell(UNITS, initializer=tf.glorot_uniform_initializer(seed=3)),
    "GRUCell": lambda: tf.nn.rnn_cell.GRUCell(UNITS),
}
LAYERS: dict[str, Callable[[], Any]] = {
    f"{kind.__name__} {activation} {implementation} {' '.join(f'{k}={v}' for k, v in options.items())}": (
        lambda kind=kind, activation=activation, implementation=implementation, options=options: kind(
            UNITS, recurrent_activation=activation, implementation=implementation, return_sequences=True, return_state=True,
            bias_initializer=tf.random_uniform_initializer(-2, 2, seed=5), **options,
        )
    )
    for kind, options in ((tf.keras.layers.LSTM, {}), (tf.keras.layers.GRU, {"reset_after": False}),
                          (tf.keras.layers.GRU, {"reset_after": True}), (tf.keras.layers.LSTM, {"use_bias": False}))
    for activation in ("sigmoid", "hard_sigmoid")
    for implementation in (1, 2)
}  # fmt: skip


@pytest.fixture(autouse=True)
def seeded() -> None:
    """The same weights in every run of a test."""
    tf.set_random_seed(11)


def adam() -> Any:
    """Its own epsilon would make full steps of gradients that are nothing but rounding."""
    return tf.train.AdamOptimizer(0.01, epsilon=1e-3)


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "GradientDescent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "Momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "Adam": adam,
}


def sequence(batch: int = 3, turns: int = 6) -> np.ndarray:
    return np.random.default_rng(4).standard_normal((batch, turns, WIDTH)).astype(np.float32)


def dynamic(cell: str, x: Any, **options: Any) -> tuple[Any, list[Any]]:
    """Outputs and the last states of a cell of TensorFlow's."""
    outputs, state = tf.nn.dynamic_rnn(CELLS[cell](), x, dtype=tf.float32, **options)
    return outputs, tf.nest.flatten(state)


def layer(name: str, x: Any) -> tuple[Any, list[Any]]:
    """The same of a layer of Keras'."""
    outputs, *states = LAYERS[name]()(x)
    return outputs, states


def loss_of(outputs: Any, states: list[Any]) -> Any:
    return tf.reduce_mean(tf.square(outputs - 0.3)) + tf.add_n([tf.reduce_mean(tf.sin(state)) for state in states])


def gradients_applied(loss: Any, x: Any) -> list[Any]:
    """The gradient of x, and a step of Adam with those of all weights, by one loop of gradients.

    The step waits for the gradient of x: TensorFlow would else change the weights while its last turn reads them.
    """
    dx, *gradients = tf.gradients(loss, [x, *tf.trainable_variables()])
    with tf.control_dependencies([dx]):
        return [dx, adam().apply_gradients(zip(gradients, tf.trainable_variables(), strict=True))]


def ops_of(tmp_path: Any) -> list[str]:
    """The ops of the loops and kernels of the last program that a session has written down."""
    text = max(tmp_path.glob("*after.txt"), key=lambda path: path.stat().st_mtime_ns).read_text()
    return sorted(op for op in ("_While", "_LstmSequence", "_LstmSequenceGrad", "_GruSequence", "_GruSequenceGrad")
                  for _ in range(text.count(f"= {op}(")))  # fmt: skip


def check(fetch: Any, feed: dict[Any, Any], tmp_path: Any, steps: int = 1, rtol: float = RTOL) -> list[str]:
    """Hold `steps` runs on the device to those of TensorFlow, from the same variables.  Returns: see `ops_of`."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = session.run(tf.global_variables())
        wanted = [session.run(fetch, feed) for _ in range(steps)]
        after = session.run(tf.global_variables())
    with device_session(dump_graph=str(tmp_path)) as session:
        for variable, value in zip(tf.global_variables(), first, strict=True):
            variable.load(value, session)
        for step in wanted:
            found = session.run(fetch, feed)
            for a, b in zip(tf.nest.flatten(found), tf.nest.flatten(step), strict=True):
                if b is not None:
                    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)
        made = ops_of(tmp_path)
        for variable, a, b in zip(tf.global_variables(), session.run(tf.global_variables()), after, strict=True):
            np.testing.assert_allclose(a, b, rtol=rtol * steps, atol=rtol * steps, err_msg=variable.name)
    return made


def kernels(name: str, is_trained: bool) -> list[str]:
    made = "_GruSequence" if "GRU" in name else "_LstmSequence"
    return [made, f"{made}Grad"] if is_trained else [made]


@pytest.mark.whole(beyond=2)
@pytest.mark.parametrize("lengths", [None, [6, 0, 2], [1, 3, 3]], ids=["whole", "of any length", "short"])
@pytest.mark.parametrize("cell", some(CELLS, 2))
def test_cells_of_tensorflow_forward_and_trained(cell: str, lengths: list[int] | None, tmp_path: Any) -> None:
    x = tf.placeholder(tf.float32, [3, 6, WIDTH])
    length = None if lengths is None else tf.placeholder(tf.int32, [3])
    feed = {x: sequence()} | ({} if length is None else {length: lengths})
    outputs, states = dynamic(cell, x, sequence_length=length)
    assert check([outputs, states], feed, tmp_path) == kernels(cell, False)
    loss = loss_of(outputs, states)
    trained = [loss, *gradients_applied(loss, x)]
    assert check(trained, feed, tmp_path, steps=3) == kernels(cell, True)


@pytest.mark.whole(
    but=(
        "LSTM sigmoid 1 ",
        "LSTM hard_sigmoid 2 ",
        "GRU sigmoid 2 reset_after=False",
        "GRU hard_sigmoid 1 reset_after=True",
        "LSTM sigmoid 1 use_bias=False",
    )
)
@pytest.mark.parametrize("name", LAYERS)
def test_layers_of_keras_forward_and_trained(name: str, tmp_path: Any) -> None:
    x = tf.placeholder(tf.float32, [3, 6, WIDTH])
    outputs, states = layer(name, x)
    assert check([outputs, states], {x: sequence()}, tmp_path) == kernels(name, False)
    loss = loss_of(outputs, states)
    trained = [loss, *gradients_applied(loss, x)]
    assert check(trained, {x: sequence()}, tmp_path, steps=3) == kernels(name, True)


@pytest.mark.whole(beyond=2)
@pytest.mark.parametrize("optimizer", ["GradientDescent", "Momentum", "Adam"])
@pytest.mark.parametrize("cell", ["LSTMCell", "GRUCell"])
def test_last_states_alone_train_a_network(cell: str, optimizer: Any, tmp_path: Any) -> None:
    """No gradient comes in by the outputs: their array of gradients is never filled."""
    x = tf.placeholder(tf.float32, [3, 6, WIDTH])
    _, states = dynamic(cell, x)
    loss = tf.reduce_mean(tf.square(states[-1] - 1.0))
    assert check([loss, OPTIMIZERS[optimizer]().minimize(loss)], {x: sequence()}, tmp_path, steps=3) == kernels(cell, True)


@pytest.mark.parametrize("cell", ["LSTMCell", "GRUCell"])
def test_gradients_of_the_first_state_and_of_the_input(cell: str, tmp_path: Any) -> None:
    x = tf.placeholder(tf.float32, [3, 6, WIDTH])
    first = [tf.placeholder(tf.float32, [3, UNITS]) for _ in range(1 if cell == "GRUCell" else 2)]
    state = tf.nn.rnn_cell.LSTMStateTuple(*first) if len(first) == 2 else first[0]
    outputs, last = tf.nn.dynamic_rnn(CELLS[cell](), x, initial_state=state)
    loss = loss_of(outputs, tf.nest.flatten(last))
    random = np.random.default_rng(8)
    feed = {x: sequence()} | {one: random.standard_normal((3, UNITS)).astype(np.float32) for one in first}
    assert check(tf.gradients(loss, [x, *first, *tf.trainable_variables()]), feed, tmp_path) == kernels(cell, True)


@pytest.mark.whole(beyond=3)
@pytest.mark.parametrize(("batch", "turns"), some([(1, 6), (3, 1), (2, 0), (40, 30), (1, 1)], 2))
@pytest.mark.parametrize("cell", ["BasicLSTMCell", "GRUCell"])
def test_sequences_of_any_extent(cell: str, batch: int, turns: int, tmp_path: Any) -> None:
    x = tf.placeholder(tf.float32, [batch, turns, WIDTH])
    outputs, states = dynamic(cell, x)
    loss = tf.reduce_sum(tf.square(outputs)) + tf.add_n([tf.reduce_mean(tf.sin(state)) for state in states])
    wanted = [x, *tf.trainable_variables()] if turns else tf.trainable_variables()  # TensorFlow has none of x without turns
    fetch = [outputs, states, tf.gradients(loss, wanted)]
    made = check(fetch, {x: sequence(batch, turns)}, tmp_path, rtol=1e-4)
    assert made == kernels(cell, True)


def test_time_may_come_first(tmp_path: Any) -> None:
    x = tf.placeholder(tf.float32, [6, 3, WIDTH])
    outputs, states = dynamic("LSTMCell", x, time_major=True)
    loss = loss_of(outputs, states)
    fetch = [loss, adam().minimize(loss)]
    assert check(fetch, {x: sequence(6, 3)}, tmp_path, steps=3) == kernels("LSTM", True)


@pytest.mark.whole
def test_an_open_batch_and_layers_over_each_other(tmp_path: Any) -> None:
    """As scripts write it: the batch is known by the feed alone, and one network reads another's outputs."""
    x = tf.placeholder(tf.float32, [None, None, WIDTH])
    length = tf.placeholder(tf.int32, [None])
    (forward, backward), states = tf.nn.bidirectional_dynamic_rnn(
        CELLS["GRUCell"](), CELLS["GRUCell"](), x, length, dtype=tf.float32
    )  # fmt: skip
    with tf.variable_scope("second"):
        outputs, last = dynamic("BasicLSTMCell", tf.concat([forward, backward], -1), sequence_length=length)
    loss = loss_of(outputs, [*last, *states])
    fetch = [loss, adam().minimize(loss)]
    made = check(fetch, {x: sequence(), length: [6, 2, 4]}, tmp_path, steps=3)
    assert made == ["_GruSequence"] * 2 + ["_GruSequenceGrad"] * 2 + ["_LstmSequence", "_LstmSequenceGrad"]


class Doubled(tf.nn.rnn_cell.BasicLSTMCell):
    """An LSTM that is no LSTM: its new memory is doubled."""

    def call(self, inputs: Any, state: Any) -> Any:
        h, (c, _) = super().call(inputs, state)
        return h, tf.nn.rnn_cell.LSTMStateTuple(2.0 * c, h)


@tf.custom_gradient
def with_clipped_gradient(x: Any) -> Any:
    return tf.identity(x), lambda dy: tf.clip_by_value(dy, -1e-3, 1e-3)


@tf.custom_gradient
def with_doubled_gradient(x: Any) -> Any:
    return tf.identity(x), lambda dy: 2.0 * dy


class Clipped(tf.nn.rnn_cell.GRUCell):
    """A GRU whose state's gradient is cut."""

    def call(self, inputs: Any, state: Any) -> Any:
        return super().call(inputs, with_clipped_gradient(state))


class Amplified(tf.nn.rnn_cell.GRUCell):
    """A GRU whose state's gradient is doubled."""

    def call(self, inputs: Any, state: Any) -> Any:
        return super().call(inputs, with_doubled_gradient(state))


OTHERS: dict[str, Callable[[], Any]] = {
    "activation": lambda: tf.nn.rnn_cell.BasicLSTMCell(UNITS, activation=tf.nn.relu),
    "peepholes": lambda: tf.nn.rnn_cell.LSTMCell(UNITS, use_peepholes=True),
    "projection": lambda: tf.nn.rnn_cell.LSTMCell(UNITS, num_proj=3),
    "clipping": lambda: tf.nn.rnn_cell.LSTMCell(UNITS, cell_clip=0.5),
    "far clipping": lambda: tf.nn.rnn_cell.LSTMCell(UNITS, cell_clip=50.0),
    "residual": lambda: tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.GRUCell(WIDTH)),
    "two layers": lambda: tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(UNITS) for _ in range(2)]),
    "doubled memory": lambda: Doubled(UNITS),
    "clipped gradient": lambda: Clipped(UNITS),
    "amplified gradient": lambda: Amplified(UNITS),
    "one gate": lambda: tf.nn.rnn_cell.BasicRNNCell(UNITS),
}


@pytest.mark.whole(beyond=4)
@pytest.mark.parametrize("name", OTHERS)
def test_cells_that_are_not_known_stay_loops(name: str, tmp_path: Any) -> None:
    x = tf.placeholder(tf.float32, [3, 6, WIDTH])
    outputs, state = tf.nn.dynamic_rnn(OTHERS[name](), x, dtype=tf.float32)
    loss = loss_of(outputs, tf.nest.flatten(state))
    step = tf.train.GradientDescentOptimizer(0.01).minimize(
        loss
    )  # a longer one makes a doubled memory diverge, and rounding with it
    assert check([loss, step], {x: sequence()}, tmp_path, steps=3) == ["_While", "_While"]


def test_loops_that_end_by_other_tests_stay_loops(tmp_path: Any) -> None:
    """Until all values are large, or a flag is set: nothing counts the turns."""
    x = tf.placeholder(tf.float32, [3, UNITS])
    grown = tf.while_loop(lambda y: tf.logical_not(tf.reduce_all(y > 2.0)), lambda y: tf.tanh(y) * y + 1.0, [x])
    flagged = tf.while_loop(lambda done, y: tf.logical_not(done), lambda done, y: (tf.reduce_all(y > 2.0), y + 1.0), [False, x])
    values = np.full((3, UNITS), 0.5, np.float32)
    assert check([grown, flagged[1]], {x: values}, tmp_path) == ["_While", "_While"]


def test_dropout_inside_stays_a_loop(tmp_path: Any) -> None:
    x = tf.placeholder(tf.float32, [3, 6, WIDTH])
    cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(UNITS), state_keep_prob=0.5, seed=3)
    outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    with device_session(dump_graph=str(tmp_path)) as session:
        session.run(tf.global_variables_initializer())
        assert np.isfinite(session.run(outputs, {x: sequence()})).all()
    assert ops_of(tmp_path) == ["_While"]


def test_the_run_log_counts_the_same_operations_and_turns() -> None:
    counts, turns = [], []
    x = tf.placeholder(tf.float32, [3, 6, WIDTH])
    length = tf.placeholder(tf.int32, [3])
    outputs, states = dynamic("GRUCell", x, sequence_length=length)
    loss = loss_of(outputs, states)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    for options in ({}, {"track_nan": "log"}):  # nothing is fused then, and constants are folded all the same
        with device_session(**options) as session:
            session.run(tf.global_variables_initializer())
            session.run([loss, train], {x: sequence(), length: [2, 1, 4]})
            runner = next(runner for plan in list(device_of(session)._plans.values())[-1:] for runner in plan.runners.values())
            turns.append(turns_of(runner.program))
            counts.append(device_of(session)._state.record.programs[-1].device_flops)
    assert counts[0] == pytest.approx(counts[1], rel=1e-6)
    assert turns[0] == turns[1] and set(turns[0].values()) == {4}
