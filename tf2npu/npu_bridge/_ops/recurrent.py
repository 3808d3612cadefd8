"""The device's recurrent operators in plain TensorFlow, so that gradients follow."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

Step = Callable[[tf.Tensor, tuple[tf.Tensor, ...]], tuple[tuple[tf.Tensor, ...], tuple[tf.Tensor, ...]]]


def unroll(step: Step, x: tf.Tensor, state: tuple[tf.Tensor, ...], lengths: tf.Tensor | None) -> tuple[tf.Tensor, ...]:
    """Run ``step`` along the first axis of ``x`` and stack its outputs.

    x: [time, batch, ...].  lengths: [batch], after which the state stays and the outputs are 0.
    Source: the semantics of ``tf.nn.dynamic_rnn`` with ``sequence_length``.
    """
    time = tf.shape(x)[0]
    outputs_like = step(x[0], state)[0]
    arrays = tuple(tf.TensorArray(x.dtype, size=time, element_shape=output.shape) for output in outputs_like)
    inputs = tf.TensorArray(x.dtype, size=time).unstack(x)

    def body(t: tf.Tensor, state: tuple[tf.Tensor, ...], arrays: tuple[tf.TensorArray, ...]):
        outputs, next_state = step(inputs.read(t), state)
        if lengths is not None:
            alive = tf.expand_dims(t < tf.cast(lengths, tf.int32), 1)
            next_state = tuple(_choose(alive, new, old) for new, old in zip(next_state, state, strict=True))
            outputs = tuple(_choose(alive, value, tf.zeros_like(value)) for value in outputs)
        return t + 1, next_state, tuple(a.write(t, o) for a, o in zip(arrays, outputs, strict=True))

    _, _, arrays = tf.while_loop(lambda t, *_: t < time, body, (tf.constant(0), state, arrays))
    return tuple(_stacked(array, x, output) for array, output in zip(arrays, outputs_like, strict=True))


def _choose(alive: tf.Tensor, new: tf.Tensor, old: tf.Tensor) -> tf.Tensor:
    keep = tf.cast(alive, new.dtype)
    return new * keep + old * (1 - keep)


def _stacked(array: tf.TensorArray, x: tf.Tensor, output: tf.Tensor) -> tf.Tensor:
    value = array.stack()
    value.set_shape([x.shape[0], *output.shape.as_list()] if output.shape.ndims is not None else None)
    return value


def lstm(
    x: tf.Tensor,
    w: tf.Tensor,
    b: tf.Tensor,
    init_h: tf.Tensor,
    init_c: tf.Tensor,
    lengths: tf.Tensor | None = None,
    forget_bias: float = 0.0,
    cell_clip: float = -1.0,
) -> tuple[tf.Tensor, ...]:
    """One direction of an LSTM, gate order i, j, f, o.

    x: [time, batch, in].  w: [in + hidden, 4 hidden].  b: [4 hidden].  init_h, init_c: [batch, hidden].
    Returns: y, h, c, i, j, f, o, tanh(c), each [time, batch, hidden].
    """

    def step(x_t: tf.Tensor, state: tuple[tf.Tensor, ...]) -> tuple[tuple[tf.Tensor, ...], tuple[tf.Tensor, ...]]:
        c, h, j, i, f, o, tanh_c = lstm_cell(x_t, state[0], state[1], w, b, forget_bias, cell_clip)
        return (h, h, c, i, j, f, o, tanh_c), (h, c)

    return unroll(step, x, (init_h, init_c), lengths)


def lstm_cell(
    x: tf.Tensor, h: tf.Tensor, c: tf.Tensor, w: tf.Tensor, b: tf.Tensor, forget_bias: float, cell_clip: float = -1.0
) -> tuple[tf.Tensor, ...]:
    """One LSTM step.  Returns: c, h, j, i, f, o, tanh(c), gates after their activation."""
    gates = tf.nn.bias_add(tf.matmul(tf.concat([x, h], 1), w), b)
    i, j, f, o = tf.split(gates, 4, axis=1)
    i, j, f, o = tf.sigmoid(i), tf.tanh(j), tf.sigmoid(f + forget_bias), tf.sigmoid(o)
    next_c = c * f + i * j
    if cell_clip > 0:
        next_c = tf.clip_by_value(next_c, -cell_clip, cell_clip)
    tanh_c = tf.tanh(next_c)
    return next_c, tanh_c * o, j, i, f, o, tanh_c


def gru(
    x: tf.Tensor,
    weights: tuple[tf.Tensor, tf.Tensor],
    biases: tuple[tf.Tensor, tf.Tensor],
    init_h: tf.Tensor,
    lengths: tf.Tensor | None = None,
    gate_order: str = "zrh",
    attention: tf.Tensor | None = None,
) -> tuple[tf.Tensor, ...]:
    """One direction of a GRU whose reset gate acts after the hidden product.

    x: [time, batch, in].  weights: [in, 3 hidden], [hidden, 3 hidden].  biases: [3 hidden] twice.  init_h: [batch, hidden].
    attention: [time, batch] or [time, batch, 1], multiplies the update gate.
    Returns: y, h, update, (update with attention,) reset, new, hidden part of new, each [time, batch, hidden].
    """
    width = x.shape[2].value
    if attention is not None:
        attention = tf.reshape(attention, [tf.shape(x)[0], tf.shape(x)[1], 1])
        x = tf.concat([x, tf.cast(attention, x.dtype)], 2)

    def step(x_t: tf.Tensor, state: tuple[tf.Tensor, ...]) -> tuple[tuple[tf.Tensor, ...], tuple[tf.Tensor, ...]]:
        (h,) = state
        from_x = tf.nn.bias_add(tf.matmul(x_t[:, :width], weights[0]), biases[0])
        from_h = tf.nn.bias_add(tf.matmul(h, weights[1]), biases[1])
        gates_x, gates_h = tf.split(from_x, 3, axis=1), tf.split(from_h, 3, axis=1)
        z, r = (0, 1) if gate_order == "zrh" else (1, 0)
        update, reset = tf.sigmoid(gates_x[z] + gates_h[z]), tf.sigmoid(gates_x[r] + gates_h[r])
        new = tf.tanh(gates_x[2] + reset * gates_h[2])
        effective = update if attention is None else update * x_t[:, width:]
        after = _next_hidden(h, new, effective, attention is not None)
        middle = (update,) if attention is None else (update, effective)
        return (after, after, *middle, reset, new, gates_h[2]), (after,)

    return unroll(step, x, (init_h,), lengths)


def _next_hidden(h: tf.Tensor, new: tf.Tensor, update: tf.Tensor, is_attention: bool) -> tf.Tensor:
    """A GRU keeps ``update`` of the old state; the attention form lets attention drive the new one in."""
    return (1.0 - update) * h + update * new if is_attention else update * h + (1.0 - update) * new
