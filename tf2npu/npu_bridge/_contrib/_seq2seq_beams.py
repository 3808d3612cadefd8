"""Beam search. Source: tensorflow/contrib/seq2seq/python/ops/{beam_search_decoder,beam_search_ops}.py of TF 1.15."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf
from npu_bridge._contrib._seq2seq_decoders import Decoder, _check_layer, output_size_of
from npu_bridge._contrib._seq2seq_wrapper import AttentionWrapperState
from tensorflow.python.ops.rnn_cell_impl import assert_like_rnncell

map_structure = tf.nest.map_structure


class BeamSearchDecoderState(NamedTuple):
    """State of all beams."""

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any


class BeamSearchDecoderOutput(NamedTuple):
    """One step of all beams: their scores, ids, and the beams they come from."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class FinalBeamSearchDecoderOutput(NamedTuple):
    """The ids of whole beams, best first, and the steps they were made of."""

    predicted_ids: Any
    beam_search_decoder_output: Any


def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """Each entry of the batch ``multiplier`` times, one after another. Raises: ValueError for unknown rank."""

    def tiled(tensor: Any) -> tf.Tensor:
        tensor = tf.convert_to_tensor(tensor, name="t")
        if not tensor.shape.ndims:
            raise ValueError("t must have statically known rank")
        repeated = tf.tile(tf.expand_dims(tensor, 1), [1, multiplier, *[1] * (tensor.shape.ndims - 1)])
        shape = tf.shape(tensor)
        flat = tf.reshape(repeated, tf.concat([[shape[0] * multiplier], shape[1:]], 0))
        batch = tensor.shape.dims[0].value
        flat.set_shape(tf.TensorShape([batch and batch * multiplier]).concatenate(tensor.shape[1:]))
        return flat

    with tf.name_scope(name, "tile_batch", [*tf.nest.flatten(t), multiplier]):
        return map_structure(tiled, t)


def gather_tree(step_ids: Any, parent_ids: Any, max_sequence_lengths: Any, end_token: Any, name: str | None = None) -> tf.Tensor:
    """Whole beams (time, batch, beams) out of the ids of each step and the beams they come from.

    Behind the first end token of a beam, and behind the longest of its batch, there are only end tokens.
    """
    with tf.name_scope(name, "GatherTree"):
        step_ids, parent_ids = tf.convert_to_tensor(step_ids), tf.convert_to_tensor(parent_ids)
        n_steps, n_batch, n_beams = tf.unstack(tf.shape(step_ids))
        last = tf.minimum(n_steps, tf.convert_to_tensor(max_sequence_lengths)) - 1
        beams = tf.tile(tf.range(n_beams)[None], [n_batch, 1])
        rows = tf.tile(tf.range(n_batch)[:, None], [1, n_beams])
        end = tf.fill(tf.shape(beams), tf.cast(end_token, step_ids.dtype))

        def back(time: Any, parent: Any, array: Any) -> tuple[Any, Any, Any]:
            at = tf.stack([rows, parent], axis=-1)
            is_inside = tf.tile((time <= last)[:, None], [1, n_beams])
            ids = tf.where(is_inside, tf.gather_nd(step_ids[time], at), end)
            parent = tf.where(is_inside, tf.gather_nd(parent_ids[time], at), parent)
            return time - 1, parent, array.write(time, ids)

        array = tf.TensorArray(step_ids.dtype, size=n_steps, element_shape=step_ids.shape[1:])
        _, _, array = tf.while_loop(lambda time, *_: time >= 0, back, (n_steps - 1, beams, array))
        ids = array.stack()
        ended = tf.cumsum(tf.cast(tf.equal(ids, end_token), tf.int32), axis=0, exclusive=True) > 0
        return tf.where(ended, tf.zeros_like(ids) + tf.cast(end_token, ids.dtype), ids)


def gather_tree_from_array(t: Any, parent_ids: Any, sequence_length: Any) -> tf.Tensor:
    """An array (time, batch, beams, ...) in the order of whole beams."""
    n_steps, n_batch, n_beams = tf.unstack(tf.shape(parent_ids))
    beams = tf.tile(tf.reshape(tf.range(n_beams), [1, 1, -1]), [n_steps, n_batch, 1])
    longest = tf.cast(tf.reduce_max(sequence_length, axis=1), tf.int32)
    order = gather_tree(beams, parent_ids, longest, n_beams + 1)
    inside = tf.transpose(tf.sequence_mask(sequence_length, maxlen=n_steps), perm=[2, 0, 1])
    order = tf.where(inside, order, beams)
    times = tf.tile(tf.reshape(tf.range(n_steps), [-1, 1, 1]), [1, n_batch, n_beams])
    rows = tf.tile(tf.reshape(tf.range(n_batch), [1, -1, 1]), [n_steps, 1, n_beams])
    flat = tf.reshape(t, tf.stack([n_steps, n_batch, n_beams, -1]))
    return tf.reshape(tf.gather_nd(flat, tf.stack([times, rows, order], -1)), tf.shape(t))


class BeamSearchDecoder(Decoder):
    """Keeps the ``beam_width`` best beginnings of each sequence.

    length_penalty_weight, coverage_penalty_weight: of Wu et al.  Raises: TypeError, ValueError for arguments of another kind.
    """

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        assert_like_rnncell("cell", cell)
        _check_layer(output_layer)
        self._cell, self._output_layer, self._beam_width = cell, output_layer, beam_width
        self._embedding_fn = embedding if callable(embedding) else lambda ids: tf.nn.embedding_lookup(embedding, ids)
        start = tf.convert_to_tensor(start_tokens, dtype=tf.int32, name="start_tokens")
        if start.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._end_token = tf.convert_to_tensor(end_token, dtype=tf.int32, name="end_token")
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = tf.size(start)
        self._length_weight, self._coverage_weight = length_penalty_weight, coverage_penalty_weight
        self._reorders = reorder_tensor_arrays
        self._initial_cell_state = map_structure(self._split, initial_state)
        self._start_inputs = self._embedding_fn(tf.tile(start[:, None], [1, beam_width]))

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        return True

    @property
    def output_size(self) -> Any:
        return BeamSearchDecoderOutput(*(tf.TensorShape([self._beam_width]),) * 3)

    @property
    def output_dtype(self) -> Any:
        dtype = tf.nest.flatten(self._initial_cell_state)[0].dtype
        sizes = output_size_of(self._cell, self._output_layer)
        return BeamSearchDecoderOutput(map_structure(lambda _: dtype, sizes), tf.int32, tf.int32)

    def _split(self, tensor: Any) -> Any:
        """(batch * beams, ...) as (batch, beams, ...)."""
        if isinstance(tensor, tf.TensorArray) or tensor.shape.ndims == 0:
            return tensor
        split = tf.reshape(tensor, tf.concat([[self._batch_size, self._beam_width], tf.shape(tensor)[1:]], 0))
        static = tf.get_static_value(self._batch_size)
        split.set_shape(tf.TensorShape([static, self._beam_width]).concatenate(tensor.shape[1:]))
        return split

    def _merge(self, tensor: Any) -> Any:
        """(batch, beams, ...) as (batch * beams, ...)."""
        if isinstance(tensor, tf.TensorArray) or tensor.shape.ndims < 2:
            return tensor
        merged = tf.reshape(tensor, tf.concat([[self._batch_size * self._beam_width], tf.shape(tensor)[2:]], 0))
        static = tf.get_static_value(self._batch_size)
        merged.set_shape(tf.TensorShape([static and static * self._beam_width]).concatenate(tensor.shape[2:]))
        return merged

    def initialize(self, name: str | None = None) -> Any:
        dtype = tf.nest.flatten(self._initial_cell_state)[0].dtype
        first = tf.zeros([self._batch_size], dtype=tf.int32)
        finished = tf.one_hot(first, depth=self._beam_width, on_value=False, off_value=True, dtype=tf.bool)
        on, off = tf.constant(0.0, dtype), tf.constant(float("-inf"), dtype)
        attention = self._attention_of(self._initial_cell_state)
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=tf.one_hot(first, depth=self._beam_width, on_value=on, off_value=off, dtype=dtype),
            finished=finished,
            lengths=tf.zeros([self._batch_size, self._beam_width], dtype=tf.int64),
            accumulated_attention_probs=() if attention is None else attention,
        )
        return finished, self._start_inputs, state

    def _attention_of(self, cell_state: Any) -> Any:
        """Mean alignments of the attention cells, None when coverage does not count."""
        if isinstance(self._coverage_weight, int | float) and self._coverage_weight == 0.0:
            return None
        states = (
            cell_state if not isinstance(cell_state, AttentionWrapperState) and isinstance(cell_state, tuple) else (cell_state,)
        )
        found = [state.alignments for state in states if isinstance(state, AttentionWrapperState)]
        if not found:
            raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
        means = [tf.add_n(list(a)) / len(a) if isinstance(a, tuple) else a for a in found]
        return means[0] if len(means) == 1 else tf.add_n(means) / len(means)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        with tf.name_scope(name, "BeamSearchDecoderStep", [time]):
            outputs, cell_state = self._cell(map_structure(self._merge, inputs), map_structure(self._merge, state.cell_state))
            logits = map_structure(self._split, outputs)
            cell_state = map_structure(self._split, cell_state)
            if self._output_layer is not None:
                logits = self._output_layer(logits)
            output, next_state = self._choose(logits, cell_state, state)
            finished = next_state.finished
            inputs = tf.cond(
                tf.reduce_all(finished), lambda: self._start_inputs, lambda: self._embedding_fn(output.predicted_ids)
            )
        return output, next_state, inputs, finished

    def _choose(self, logits: Any, cell_state: Any, state: BeamSearchDecoderState) -> Any:
        """The best continuations of all beams."""
        n_words = logits.shape.dims[-1].value or tf.shape(logits)[-1]
        running = tf.logical_not(state.finished)
        total = state.log_probs[..., None] + self._of_finished(tf.nn.log_softmax(logits), n_words, state.finished)
        grows = 1 - tf.one_hot(self._end_token, n_words, dtype=tf.int64)
        lengths = state.lengths[..., None] + grows * tf.cast(running, tf.int64)[..., None]
        attention: Any = self._attention_of(cell_state)
        if attention is not None:
            attention = state.accumulated_attention_probs + attention * tf.cast(running, tf.float32)[..., None]
        scores = self._scores(total, lengths, state.finished, attention)
        best, words = tf.nn.top_k(tf.reshape(scores, [self._batch_size, -1]), k=self._beam_width)
        static = tf.get_static_value(self._batch_size)
        for tensor in (best, words):
            tensor.set_shape([static, self._beam_width])
        parents, ids = words // n_words, tf.floormod(words, n_words)
        was_finished = self._pick(state.finished, parents)
        following = BeamSearchDecoderState(
            cell_state=map_structure(lambda part: self._pick(part, parents), cell_state),
            log_probs=self._pick(tf.reshape(total, [self._batch_size, -1]), words),
            lengths=self._pick(state.lengths, parents) + tf.cast(tf.logical_not(was_finished), tf.int64),
            finished=tf.logical_or(was_finished, tf.equal(ids, self._end_token)),
            accumulated_attention_probs=() if attention is None else self._pick(attention, parents),
        )
        return BeamSearchDecoderOutput(best, ids, parents), following

    def _of_finished(self, log_probs: Any, n_words: Any, finished: Any) -> Any:
        """Log-probabilities in which a beam that has ended can only end again."""
        off = tf.constant(log_probs.dtype.min, log_probs.dtype)
        row = tf.one_hot(self._end_token, n_words, on_value=tf.constant(0.0, log_probs.dtype), off_value=off)
        ended = tf.broadcast_to(finished[..., None], tf.shape(log_probs))
        return tf.where(ended, tf.broadcast_to(row, tf.shape(log_probs)), log_probs)

    def _scores(self, log_probs: Any, lengths: Any, finished: Any, attention: Any) -> Any:
        weight = tf.convert_to_tensor(self._length_weight, name="penalty_factor")
        scores = log_probs
        if tf.get_static_value(weight) != 0:
            penalty = ((5.0 + tf.cast(lengths, tf.float32)) / 6.0) ** weight
            scores = log_probs / tf.cast(penalty, log_probs.dtype)
        if attention is None:
            return scores
        seen = tf.where(tf.equal(attention, 0.0), tf.ones_like(attention), attention)
        coverage = tf.reduce_sum(tf.log(tf.minimum(seen, 1.0)), 2) * tf.cast(finished, tf.float32)
        return scores + (coverage * self._coverage_weight)[..., None]

    def _pick(self, tensor: Any, indices: Any) -> Any:
        """The entries of the second axis that ``indices`` (batch, beams) name, for each sequence."""
        if isinstance(tensor, tf.TensorArray) or tensor.shape.ndims < 2:
            return tensor
        rows = tf.tile(tf.range(self._batch_size)[:, None], [1, self._beam_width])
        picked = tf.gather_nd(tensor, tf.stack([rows, indices], axis=-1))
        static = tf.get_static_value(self._batch_size)
        picked.set_shape(tf.TensorShape([static, self._beam_width]).concatenate(tensor.shape[2:]))
        return picked

    def _is_sortable(self, shape: tf.TensorShape) -> bool:
        """Whether an array of the cell has elements (batch * beams) or (batch, beams, ...), as far as is known.

        As TF 1.15 asks it, where a second axis of known extent other than the beams means no.
        """
        batch, beams = tf.get_static_value(self._batch_size), self._beam_width
        if not shape.ndims:
            fits = False
        elif batch is None or shape.dims[0].value is None:
            fits = True
        else:
            second = shape.dims[1].value if shape.ndims > 1 else None
            fits = shape.dims[0].value == batch * beams and (second is None or [shape.dims[0].value, second] == [batch, beams])
        if not fits:
            tf.logging.warning("An array of the cell state with elements %s is not put into the order of the beams.", shape)
        return fits

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        longest = tf.cast(tf.reduce_max(final_state.lengths, axis=1), tf.int32)
        ids = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end_token)
        if self._reorders:

            def ordered(part: Any) -> Any:
                if not isinstance(part, tf.TensorArray) or not self._is_sortable(part.element_shape):
                    return part
                return gather_tree_from_array(part.stack(), outputs.parent_ids, final_state.lengths)

            final_state = final_state._replace(cell_state=map_structure(ordered, final_state.cell_state))
        return FinalBeamSearchDecoderOutput(ids, outputs), final_state
