"""``tf.contrib.legacy_seq2seq``: encoders and decoders over lists of inputs, one a step, and their losses.

Source: tensorflow/contrib/legacy_seq2seq/python/ops/seq2seq.py of TF 1.15, whose variables have these names.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from npu_bridge._contrib._legacy_decoders import (
    attention_decoder,
    check_projection,
    embedding_attention_decoder,
    embedding_rnn_decoder,
    most_likely,
    rnn_decoder,
)
from npu_bridge._contrib._rnn_wrappers import EmbeddingWrapper, OutputProjectionWrapper
from tensorflow.nn.rnn_cell import RNNCell
from tensorflow.python.util import nest

__all__ = [
    "attention_decoder", "basic_rnn_seq2seq", "embedding_attention_decoder", "embedding_attention_seq2seq",
    "embedding_rnn_decoder", "embedding_rnn_seq2seq", "embedding_tied_rnn_seq2seq", "model_with_buckets",
    "one2many_rnn_seq2seq", "rnn_decoder", "sequence_loss", "sequence_loss_by_example", "tied_rnn_seq2seq",
]  # fmt: skip

Decoded = tuple[list[Any], Any]


def basic_rnn_seq2seq(
    encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], cell: Any, dtype: Any = tf.float32, scope: Any = None
) -> Decoded:
    """A cell that encodes, and a copy of it with its own variables that decodes from the state."""
    with tf.variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = tf.nn.static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(
    encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], cell: Any, loop_function: Any = None,
    dtype: Any = tf.float32, scope: Any = None,
) -> Decoded:  # fmt: skip
    """One cell with one set of variables that encodes and decodes."""
    with tf.variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = tf.nn.static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        tf.get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


def embedding_rnn_seq2seq(
    encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], cell: Any, num_encoder_symbols: int, num_decoder_symbols: int,
    embedding_size: int, output_projection: Any = None, feed_previous: Any = False, dtype: Any = None, scope: Any = None,
) -> Decoded:  # fmt: skip
    """``basic_rnn_seq2seq`` of symbols (batch,); feed_previous: a bool, or a scalar tensor that says it step by step."""
    with tf.variable_scope(scope or "embedding_rnn_seq2seq") as scope:
        if dtype is not None:
            scope.set_dtype(dtype)
        _, state = _encoded(copy.deepcopy(cell), encoder_inputs, num_encoder_symbols, embedding_size, scope.dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(is_fed: bool) -> Decoded:
            return embedding_rnn_decoder(
                decoder_inputs, state, cell, num_decoder_symbols, embedding_size, output_projection=output_projection,
                feed_previous=is_fed, update_embedding_for_previous=isinstance(feed_previous, bool),
            )  # fmt: skip

        return _decoded(feed_previous, decode)


def _encoded(cell: Any, inputs: Sequence[Any], n_symbols: int, size: int, dtype: Any) -> tuple[list[Any], Any]:
    """Outputs and state."""
    embedded = EmbeddingWrapper(cell, embedding_classes=n_symbols, embedding_size=size)
    outputs, state = tf.nn.static_rnn(embedded, inputs, dtype=dtype)
    return outputs, state


def _decoded(feed_previous: Any, decode: Callable[[bool], Decoded]) -> Decoded:
    """decode(feed_previous); where only a step can tell, both are built, with the same variables."""
    if isinstance(feed_previous, bool):
        return decode(feed_previous)
    made: list[Decoded] = []

    def branch(is_fed: bool) -> list[Any]:
        with tf.variable_scope(tf.get_variable_scope(), reuse=None if is_fed else True):
            made.append(decode(is_fed))
        return nest.flatten(made[-1])

    found = tf.cond(feed_previous, lambda: branch(True), lambda: branch(False))
    outputs, state = nest.pack_sequence_as(made[0], found)
    return outputs, state


def embedding_tied_rnn_seq2seq(
    encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], cell: Any, num_symbols: int, embedding_size: int,
    num_decoder_symbols: int | None = None, output_projection: Any = None, feed_previous: Any = False, dtype: Any = None,
    scope: Any = None,
) -> Decoded:  # fmt: skip
    """``tied_rnn_seq2seq`` of symbols (batch,) that share one embedding. Raises: as ``embedding_rnn_decoder``."""
    with tf.variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as scope:
        check_projection(output_projection, num_symbols, scope.dtype)
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size], dtype=scope.dtype)
        rows = [[tf.nn.embedding_lookup(embedding, symbols) for symbols in side] for side in (encoder_inputs, decoder_inputs)]
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_symbols if num_decoder_symbols is None else num_decoder_symbols)

        def decode(is_fed: bool) -> Decoded:
            back = most_likely(embedding, output_projection, isinstance(feed_previous, bool)) if is_fed else None
            return tied_rnn_seq2seq(*rows, cell, loop_function=back, dtype=scope.dtype)

        return _decoded(feed_previous, decode)


def embedding_attention_seq2seq(
    encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], cell: Any, num_encoder_symbols: int, num_decoder_symbols: int,
    embedding_size: int, num_heads: int = 1, output_projection: Any = None, feed_previous: Any = False, dtype: Any = None,
    scope: Any = None, initial_state_attention: bool = False,
) -> Decoded:  # fmt: skip
    """``embedding_rnn_seq2seq`` whose decoder looks at the encoder's outputs."""
    with tf.variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as scope:
        encoded, state = _encoded(copy.deepcopy(cell), encoder_inputs, num_encoder_symbols, embedding_size, scope.dtype)
        looked_at = tf.concat([tf.reshape(output, [-1, 1, cell.output_size]) for output in encoded], 1)
        output_size = num_decoder_symbols if output_projection is None else None
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(is_fed: bool) -> Decoded:
            return embedding_attention_decoder(
                decoder_inputs, state, looked_at, cell, num_decoder_symbols, embedding_size, num_heads=num_heads,
                output_size=output_size, output_projection=output_projection, feed_previous=is_fed,
                update_embedding_for_previous=isinstance(feed_previous, bool), initial_state_attention=initial_state_attention,
            )  # fmt: skip

        return _decoded(feed_previous, decode)


def one2many_rnn_seq2seq(
    encoder_inputs: Sequence[Any], decoder_inputs_dict: Mapping[str, Any], enc_cell: Any, dec_cells_dict: Mapping[str, Any],
    num_encoder_symbols: int, num_decoder_symbols_dict: Mapping[str, int], embedding_size: int, feed_previous: Any = False,
    dtype: Any = None, scope: Any = None,
) -> tuple[dict[str, Any], dict[str, Any]]:  # fmt: skip
    """One encoder and several decoders: outputs and states by the decoders' names.

    Raises: TypeError for what is no cell, ValueError where cells and inputs have other names.
    """
    for cell in (enc_cell, *dec_cells_dict.values()):
        if not isinstance(cell, RNNCell):
            raise TypeError(f"not an RNNCell: {type(cell)}")
    if set(dec_cells_dict) != set(decoder_inputs_dict):
        raise ValueError("keys of dec_cells_dict != keys of decoder_inputs_dict")
    outputs, states = {}, {}
    with tf.variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as scope:
        _, state = _encoded(enc_cell, encoder_inputs, num_encoder_symbols, embedding_size, scope.dtype)
        for name, inputs in decoder_inputs_dict.items():
            n_symbols = num_decoder_symbols_dict[name]
            with tf.variable_scope(f"one2many_decoder_{name}"):
                cell = OutputProjectionWrapper(dec_cells_dict[name], n_symbols)
                # The values of this turn are bound as defaults: both branches of a cond are built from them.
                outputs[name], states[name] = _decoded(
                    feed_previous,
                    lambda is_fed, cell=cell, inputs=inputs, n_symbols=n_symbols: embedding_rnn_decoder(
                        inputs, state, cell, n_symbols, embedding_size, feed_previous=is_fed
                    ),
                )
    return outputs, states


def sequence_loss_by_example(
    logits: Sequence[Any], targets: Sequence[Any], weights: Sequence[Any], average_across_timesteps: bool = True,
    softmax_loss_function: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """The weighted cross-entropy (batch,) of logits (batch, symbols) over the steps; targets and weights are (batch,).

    Raises: ValueError for lists of different lengths.
    """
    if len(targets) != len(logits) or len(weights) != len(logits):
        n_all = f"{len(logits)}, {len(weights)}, {len(targets)}"
        raise ValueError(f"Lengths of logits, weights, and targets must be the same {n_all}.")
    with tf.name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        losses = []
        for logit, target, weight in zip(logits, targets, weights, strict=True):
            loss_function = softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits
            labels = target if softmax_loss_function else tf.reshape(target, [-1])
            losses.append(loss_function(labels=labels, logits=logit) * weight)
        total = tf.add_n(losses)
        return total / (tf.add_n(weights) + 1e-12) if average_across_timesteps else total  # weights may all be 0


def sequence_loss(
    logits: Sequence[Any], targets: Sequence[Any], weights: Sequence[Any], average_across_timesteps: bool = True,
    average_across_batch: bool = True, softmax_loss_function: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """The sum, or mean, of ``sequence_loss_by_example`` over the batch."""
    with tf.name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        losses = sequence_loss_by_example(
            logits, targets, weights, average_across_timesteps=average_across_timesteps,
            softmax_loss_function=softmax_loss_function,
        )  # fmt: skip
        cost = tf.reduce_sum(losses)
        return cost / tf.cast(tf.shape(targets[0])[0], cost.dtype) if average_across_batch else cost


def model_with_buckets(
    encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], targets: Sequence[Any], weights: Sequence[Any],
    buckets: Sequence[tuple[int, int]], seq2seq: Callable[[Any, Any], Decoded], softmax_loss_function: Any = None,
    per_example_loss: bool = False, name: str | None = None,
) -> tuple[list[Any], list[Any]]:  # fmt: skip
    """Outputs and losses of the same model for each bucket (encoder steps, decoder steps), the last being the largest.

    Raises: ValueError for lists shorter than the last bucket.
    """
    n_encoded, n_decoded = buckets[-1]
    for what, values, n in (
        ("encoder_inputs", encoder_inputs, n_encoded), ("targets", targets, n_decoded), ("weights", weights, n_decoded),
    ):  # fmt: skip
        if len(values) < n:
            raise ValueError(f"Length of {what} ({len(values)}) must be at least that of last bucket ({n}).")
    loss_of = sequence_loss_by_example if per_example_loss else sequence_loss
    outputs, losses = [], []
    with tf.name_scope(name, "model_with_buckets", [*encoder_inputs, *decoder_inputs, *targets, *weights]):
        for number, (n_encoded, n_decoded) in enumerate(buckets):
            with tf.variable_scope(tf.get_variable_scope(), reuse=True if number > 0 else None):
                outputs.append(seq2seq(encoder_inputs[:n_encoded], decoder_inputs[:n_decoded])[0])
                losses.append(
                    loss_of(outputs[-1], targets[:n_decoded], weights[:n_decoded], softmax_loss_function=softmax_loss_function)
                )
    return outputs, losses
