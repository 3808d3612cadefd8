"""``tf.contrib.crf``: linear-chain conditional random fields.

Source: tensorflow/contrib/crf of TF 1.15, whose functions and shapes these are. Potentials are (batch, time, tags), transition
parameters (tags, tags).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

__all__ = [
    "CrfDecodeBackwardRnnCell", "CrfDecodeForwardRnnCell", "CrfForwardRnnCell", "crf_binary_score", "crf_decode",
    "crf_log_likelihood", "crf_log_norm", "crf_multitag_sequence_score", "crf_sequence_score", "crf_unary_score",
    "viterbi_decode",
]  # fmt: skip


def _n_steps(inputs: Any) -> Any:
    return inputs.shape.dims[1].value or tf.shape(inputs)[1]


def _is_one_step(inputs: Any, one: Any, several: Any) -> Any:
    """The result of ``one`` for sequences of one step, else that of ``several``."""
    static = inputs.shape.dims[1].value if inputs.shape.dims else None
    if static is not None:
        return one() if static == 1 else several()
    return tf.cond(tf.equal(tf.shape(inputs)[1], 1), one, several)


def _mask(lengths: Any, n_steps: Any) -> tf.Tensor:
    return tf.sequence_mask(lengths, maxlen=n_steps, dtype=tf.float32)


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> tf.Tensor:
    """Sum of the potentials of a tag sequence, (batch,)."""
    inputs = tf.convert_to_tensor(inputs)
    n_steps, n_tags = _n_steps(inputs), inputs.shape.dims[2].value or tf.shape(inputs)[2]
    batch = tf.shape(inputs)[0]
    offsets = tf.expand_dims(tf.range(batch) * n_steps * n_tags, 1) + tf.expand_dims(tf.range(n_steps) * n_tags, 0)
    offsets = tf.cast(offsets, tf.convert_to_tensor(tag_indices).dtype)
    scores = tf.gather(tf.reshape(inputs, [-1]), tf.reshape(offsets + tag_indices, [-1]))
    scores = tf.reshape(scores, [batch, n_steps])
    return tf.reduce_sum(scores * _mask(sequence_lengths, tf.shape(tag_indices)[1]), 1)


def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> tf.Tensor:
    """Sum of the transitions of a tag sequence, (batch,)."""
    transition_params = tf.convert_to_tensor(transition_params)
    n_tags = transition_params.shape.dims[0].value or tf.shape(transition_params)[0]
    n_transitions = tf.shape(tag_indices)[1] - 1
    starts = tf.slice(tag_indices, [0, 0], [-1, n_transitions])
    ends = tf.slice(tag_indices, [0, 1], [-1, n_transitions])
    scores = tf.gather(tf.reshape(transition_params, [-1]), starts * n_tags + ends)
    mask = _mask(sequence_lengths, tf.shape(tag_indices)[1])
    return tf.reduce_sum(scores * tf.slice(mask, [0, 1], [-1, -1]), 1)


def crf_sequence_score(inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> tf.Tensor:
    """Score of a tag sequence before normalisation, (batch,)."""
    inputs = tf.convert_to_tensor(inputs)

    def one() -> tf.Tensor:
        batch = tf.shape(inputs)[0]
        rows = tf.expand_dims(tf.range(batch), 1)
        tags = tf.cast(tf.slice(tag_indices, [0, 0], [-1, 1]), tf.int32)
        scores = tf.gather_nd(tf.squeeze(inputs, [1]), tf.concat([rows, tags], axis=1))
        return tf.where(tf.less_equal(sequence_lengths, 0), tf.zeros_like(scores), scores)

    def several() -> tf.Tensor:
        unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
        return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)

    return _is_one_step(inputs, one, several)


def crf_multitag_sequence_score(inputs: Any, tag_bitmap: Any, sequence_lengths: Any, transition_params: Any) -> tf.Tensor:
    """Score of all sequences that ``tag_bitmap`` (batch, time, tags) allows, (batch,)."""
    inputs = tf.convert_to_tensor(inputs)
    allowed = tf.where(tag_bitmap, inputs, tf.fill(tf.shape(inputs), float("-inf")))

    def one() -> tf.Tensor:
        return tf.reduce_logsumexp(tf.squeeze(allowed, [1]), axis=[1], keepdims=False)

    return _is_one_step(inputs, one, lambda: crf_log_norm(allowed, sequence_lengths, transition_params))


def _forward(cell: tf.nn.rnn_cell.RNNCell, inputs: Any, sequence_lengths: Any, dtype: Any) -> tuple[Any, Any]:
    """Run ``cell`` over the steps after the first; the first is the state."""
    first = tf.squeeze(tf.slice(inputs, [0, 0, 0], [-1, 1, -1]), [1])
    rest = tf.slice(inputs, [0, 1, 0], [-1, -1, -1])
    lengths = tf.maximum(tf.constant(0, dtype=sequence_lengths.dtype), sequence_lengths - 1)
    return tf.nn.dynamic_rnn(cell, inputs=rest, sequence_length=lengths, initial_state=first, dtype=dtype)


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> tf.Tensor:
    """Logarithm of the sum over all tag sequences, (batch,)."""
    inputs, sequence_lengths = tf.convert_to_tensor(inputs), tf.convert_to_tensor(sequence_lengths)

    def empty_is_zero(norm: tf.Tensor) -> tf.Tensor:
        return tf.where(tf.less_equal(sequence_lengths, 0), tf.zeros_like(norm), norm)

    def one() -> tf.Tensor:
        first = tf.squeeze(tf.slice(inputs, [0, 0, 0], [-1, 1, -1]), [1])
        return empty_is_zero(tf.reduce_logsumexp(first, [1]))

    def several() -> tf.Tensor:
        _, alphas = _forward(CrfForwardRnnCell(transition_params), inputs, sequence_lengths, tf.float32)
        return empty_is_zero(tf.reduce_logsumexp(alphas, [1]))

    return _is_one_step(inputs, one, several)


def crf_log_likelihood(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any = None
) -> tuple[tf.Tensor, Any]:
    """Log-likelihood of tag sequences (batch,), and the transitions, a variable ``transitions`` unless given."""
    inputs = tf.convert_to_tensor(inputs)
    if transition_params is None:
        n_tags = inputs.shape.dims[2].value
        transition_params = tf.get_variable("transitions", [n_tags, n_tags])
    scores = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return scores - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


class _ChainCell(tf.nn.rnn_cell.RNNCell):
    """A cell whose state is a score for each tag."""

    def __init__(self, transition_params: Any) -> None:
        super().__init__()
        self._transitions = tf.expand_dims(transition_params, 0)
        self._n_tags = tf.convert_to_tensor(transition_params).shape.dims[0].value

    @property
    def state_size(self) -> Any:
        return self._n_tags

    @property
    def output_size(self) -> Any:
        return self._n_tags


class CrfForwardRnnCell(_ChainCell):
    """One step of the forward algorithm."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        alphas = inputs + tf.reduce_logsumexp(tf.expand_dims(state, 2) + self._transitions, [1])
        return alphas, alphas


class CrfDecodeForwardRnnCell(_ChainCell):
    """One step of Viterbi's algorithm; gives the best tags to come from."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        scores = tf.expand_dims(state, 2) + self._transitions
        return tf.cast(tf.argmax(scores, 1), tf.int32), inputs + tf.reduce_max(scores, [1])


class CrfDecodeBackwardRnnCell(tf.nn.rnn_cell.RNNCell):
    """One step back along the best tags."""

    def __init__(self, num_tags: int) -> None:
        super().__init__()
        self._n_tags = num_tags

    @property
    def state_size(self) -> Any:
        return 1

    @property
    def output_size(self) -> Any:
        return 1

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        state = tf.squeeze(state, axis=[1])
        rows = tf.range(tf.shape(inputs)[0])
        tags = tf.expand_dims(tf.gather_nd(inputs, tf.stack([rows, state], axis=1)), axis=-1)
        return tags, tags


def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """The best tags (batch, time) int32 and their scores (batch,)."""
    potentials = tf.convert_to_tensor(potentials)

    def one() -> tuple[tf.Tensor, tf.Tensor]:
        first = tf.squeeze(potentials, [1])
        return tf.expand_dims(tf.cast(tf.argmax(first, axis=1), tf.int32), axis=-1), tf.reduce_max(first, axis=1)

    return _is_one_step(potentials, one, lambda: _viterbi(potentials, transition_params, sequence_length))


def _viterbi(potentials: Any, transition_params: Any, sequence_length: Any) -> tuple[tf.Tensor, tf.Tensor]:
    n_tags = potentials.shape.dims[2].value
    lengths = tf.convert_to_tensor(sequence_length)
    steps = tf.maximum(tf.constant(0, lengths.dtype), lengths - 1)
    with tf.variable_scope("crf_decode"):
        back, scores = _forward(CrfDecodeForwardRnnCell(transition_params), potentials, lengths, tf.int32)
        back = tf.reverse_sequence(back, steps, seq_axis=1)
        last = tf.expand_dims(tf.cast(tf.argmax(scores, axis=1), tf.int32), axis=-1)
        tags, _ = tf.nn.dynamic_rnn(
            CrfDecodeBackwardRnnCell(n_tags), inputs=back, sequence_length=steps, initial_state=last, dtype=tf.int32
        )
        tags = tf.concat([last, tf.squeeze(tags, axis=[2])], axis=1)
        return tf.reverse_sequence(tags, lengths, seq_axis=1), tf.reduce_max(scores, axis=1)


def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[int], Any]:
    """The best tags of one sequence and their score, in numpy. score: (time, tags)."""
    trellis, back = np.zeros_like(score), np.zeros_like(score, dtype=np.int32)
    trellis[0] = score[0]
    for step in range(1, score.shape[0]):
        reached = np.expand_dims(trellis[step - 1], 1) + transition_params
        trellis[step], back[step] = score[step] + np.max(reached, 0), np.argmax(reached, 0)
    tags = [int(np.argmax(trellis[-1]))]
    for row in reversed(back[1:]):
        tags.append(int(row[tags[-1]]))
    return tags[::-1], np.max(trellis[-1])
