"""Decoders of ``tf.contrib.legacy_seq2seq``: a step of a cell for each input of a list, with attention or without.

Source: tensorflow/contrib/legacy_seq2seq/python/ops/seq2seq.py of TF 1.15, whose variables have these names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf
from npu_bridge._contrib._rnn_linear import _linear
from tensorflow.python.util import nest

Reader = Callable[[Any, int], Any]


def rnn_decoder(
    decoder_inputs: Iterable[Any], initial_state: Any, cell: Any, loop_function: Reader | None = None, scope: Any = None
) -> tuple[list[Any], Any]:
    """Outputs (batch, size), one for each input (batch, depth), and the last state.

    loop_function: makes an input of the output before it and its number; of the inputs only the first is read then.
    """
    with tf.variable_scope(scope or "rnn_decoder"):
        outputs: list[Any] = []
        state = initial_state
        for number, value in enumerate(decoder_inputs):
            value = _next_input(value, outputs, number, loop_function)
            if number > 0:
                tf.get_variable_scope().reuse_variables()
            output, state = cell(value, state)
            outputs.append(output)
    return outputs, state


def _next_input(value: Any, outputs: Sequence[Any], number: int, loop_function: Reader | None) -> Any:
    if loop_function is None or not outputs:
        return value
    with tf.variable_scope("loop_function", reuse=True):
        return loop_function(outputs[-1], number)


def embedding_rnn_decoder(
    decoder_inputs: Iterable[Any],
    initial_state: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """``rnn_decoder`` of symbols (batch,); with feed_previous it reads what it found most likely.

    Raises: ValueError where output_projection (weights, biases) is not made for num_symbols.
    """
    with tf.variable_scope(scope or "embedding_rnn_decoder") as scope:
        check_projection(output_projection, num_symbols, scope.dtype)
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size])
        back = most_likely(embedding, output_projection, update_embedding_for_previous) if feed_previous else None
        embedded = (tf.nn.embedding_lookup(embedding, symbols) for symbols in decoder_inputs)
        return rnn_decoder(embedded, initial_state, cell, loop_function=back)


def check_projection(projection: Any, n_symbols: int, dtype: Any) -> None:
    """Raises: ValueError where the projection (weights, biases) is for another number of symbols."""
    if projection is not None:
        tf.convert_to_tensor(projection[0], dtype=dtype).shape.assert_is_compatible_with([None, n_symbols])
        tf.convert_to_tensor(projection[1], dtype=dtype).shape.assert_is_compatible_with([n_symbols])


def most_likely(embedding: Any, projection: Any = None, is_trained: bool = True) -> Reader:
    """A loop function: the embedding of the most likely symbol; is_trained: whether gradients reach the embedding so."""

    def read(previous: Any, _: int) -> Any:
        logits = previous if projection is None else tf.nn.xw_plus_b(previous, projection[0], projection[1])
        row = tf.nn.embedding_lookup(embedding, tf.argmax(logits, 1))
        return row if is_trained else tf.stop_gradient(row)

    return read


def attention_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    output_size: int | None = None,
    num_heads: int = 1,
    loop_function: Reader | None = None,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """``rnn_decoder`` that looks at attention_states (batch, length, size) in each step (Vinyals and others, 2014).

    initial_state_attention: look before the first step too, where it otherwise reads zeros.

    Raises: ValueError without inputs or heads, or where a depth is unknown.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    with tf.variable_scope(scope or "attention_decoder", dtype=dtype) as scope:
        attention = _Attention(attention_states, num_heads, scope.dtype)
        outputs: list[Any] = []
        state = initial_state
        read = attention.look(state) if initial_state_attention else attention.nothing(decoder_inputs[0])
        for number, value in enumerate(decoder_inputs):
            if number > 0:
                tf.get_variable_scope().reuse_variables()
            value = _next_input(value, outputs, number, loop_function)
            output, state = cell(_mixed([value, *read], _depth(value), scope.dtype), state)
            with tf.variable_scope(tf.get_variable_scope(), reuse=True if initial_state_attention else None):
                read = attention.look(state)
            with tf.variable_scope("AttnOutputProjection"):
                outputs.append(_mixed([output, *read], output_size or cell.output_size, scope.dtype))
    return outputs, state


def _depth(value: Any) -> int:
    depth = value.shape.with_rank(2).dims[1].value
    if depth is None:
        raise ValueError(f"Could not infer input size from input: {value.name}")
    return int(depth)


def _mixed(values: Sequence[Any], size: int, dtype: Any) -> Any:
    return _linear([tf.cast(value, dtype) for value in values], size, True)


class _Attention:
    """Heads that look at states (batch, length, size)."""

    def __init__(self, states: Any, n_heads: int, dtype: Any) -> None:
        if n_heads < 1:
            raise ValueError("With less than 1 heads, use a non-attention decoder.")
        self.length, self.size = (dim.value for dim in states.shape.with_rank(3).dims[1:])
        if self.size is None:
            raise ValueError(f"Shape[2] of attention_states must be known: {states.shape}")
        if self.length is None:
            self.length = tf.shape(states)[1]
        self.dtype = dtype
        self.hidden = tf.reshape(states, [-1, self.length, 1, self.size])
        self.heads = [self._head(number) for number in range(n_heads)]

    def _head(self, number: int) -> tuple[Any, Any]:
        kernel = tf.get_variable(f"AttnW_{number}", [1, 1, self.size, self.size], dtype=self.dtype)
        features = tf.nn.conv2d(self.hidden, kernel, [1, 1, 1, 1], "SAME")
        return features, tf.get_variable(f"AttnV_{number}", [self.size], dtype=self.dtype)

    def nothing(self, like: Any) -> list[Any]:
        """The zeros, (batch, size), that each head has read before the first look; like: a tensor of the same batch."""
        zeros = [tf.zeros(tf.stack([tf.shape(like)[0], self.size]), dtype=self.dtype) for _ in self.heads]
        for value in zeros:
            value.set_shape([None, self.size])
        return zeros

    def look(self, query: Any) -> list[Any]:
        """The weighted sum of the states that each head reads, (batch, size)."""
        if nest.is_nested(query):
            query = tf.concat(nest.flatten(query), 1)
        return [self._read(number, query) for number in range(len(self.heads))]

    def _read(self, number: int, query: Any) -> Any:
        features, scale = self.heads[number]
        with tf.variable_scope(f"Attention_{number}"):
            asked = tf.cast(tf.reshape(_linear(query, self.size, True), [-1, 1, 1, self.size]), self.dtype)
            scores = tf.reduce_sum(scale * tf.tanh(features + asked), [2, 3])
            weights = tf.cast(tf.nn.softmax(tf.cast(scores, tf.float32)), self.dtype)
            found = tf.reduce_sum(tf.reshape(weights, [-1, self.length, 1, 1]) * self.hidden, [1, 2])
            return tf.reshape(found, [-1, self.size])


def embedding_attention_decoder(
    decoder_inputs: Iterable[Any],
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: int | None = None,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """``attention_decoder`` of symbols (batch,), see ``embedding_rnn_decoder``."""
    if output_projection is not None:
        biases = tf.convert_to_tensor(output_projection[1], dtype=dtype)
        biases.shape.assert_is_compatible_with([num_symbols])
    with tf.variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size])
        back = most_likely(embedding, output_projection, update_embedding_for_previous) if feed_previous else None
        return attention_decoder(
            [tf.nn.embedding_lookup(embedding, symbols) for symbols in decoder_inputs], initial_state, attention_states, cell,
            output_size=output_size or cell.output_size, num_heads=num_heads, loop_function=back,
            initial_state_attention=initial_state_attention,
        )  # fmt: skip
