"""Decoding step by step until every sequence has ended.

Source: tensorflow/contrib/seq2seq/python/ops/{decoder,basic_decoder,loss}.py of TF 1.15.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import tensorflow as tf
from tensorflow.python.ops.rnn import _transpose_batch_time
from tensorflow.python.ops.rnn_cell_impl import _zero_state_tensors, assert_like_rnncell

map_structure = tf.nest.map_structure


class Decoder(ABC):
    """Base class of the decoders that ``dynamic_decode`` runs: sizes and dtypes of an output, the start, and one step.

    Subclasses have the properties ``batch_size``, ``output_size`` and ``output_dtype`` too.
    """

    @abstractmethod
    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """(finished, first inputs, first state)."""

    @abstractmethod
    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> tuple[Any, Any, Any, Any]:
        """(outputs, next state, next inputs, finished)."""

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """A last change to outputs and state."""
        return outputs, final_state

    @property
    def tracks_own_finished(self) -> bool:
        """Whether what ``step`` says of finished replaces what was said before."""
        return False


def _step_shape(batch_size: Any, shape: Any) -> tf.TensorShape | None:
    if not isinstance(shape, tf.TensorShape) or shape.ndims == 0:
        return None
    static = tf.get_static_value(tf.convert_to_tensor(batch_size, name="batch_size"))
    return tf.TensorShape([static]).concatenate(shape)


class _Loop:
    """The body of the loop: time, output arrays, state, inputs, finished, lengths."""

    def __init__(self, decoder: Any, impute_finished: bool) -> None:
        self._decoder, self._impute_finished = decoder, impute_finished
        self._zero_outputs = map_structure(
            lambda size, dtype: _zero_state_tensors(size, decoder.batch_size, dtype), decoder.output_size, decoder.output_dtype
        )

    def __call__(self, time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, lengths: Any) -> tuple[Any, ...]:
        outputs, next_state, next_inputs, done = self._decoder.step(time, inputs, state)
        next_finished = done if self._decoder.tracks_own_finished else tf.logical_or(done, finished)
        lengths = tf.where(tf.logical_not(finished), tf.fill(tf.shape(lengths), time + 1), lengths)
        for old, new in ((state, next_state), (arrays, outputs), (inputs, next_inputs)):
            tf.nest.assert_same_structure(old, new)
        if self._impute_finished:
            outputs = map_structure(lambda out, zero: tf.where(finished, zero, out), outputs, self._zero_outputs)
            next_state = map_structure(lambda new, old: _kept(finished, new, old), next_state, state)
        arrays = map_structure(lambda array, out: array.write(time, out), arrays, outputs)
        return time + 1, arrays, next_state, next_inputs, next_finished, lengths


def _kept(finished: Any, new: Any, old: Any) -> Any:
    """The new state, or the old one where the sequence has ended."""
    if isinstance(old, tf.TensorArray):
        return new
    new.set_shape(old.shape)
    return new if new.shape.ndims == 0 else tf.where(finished, old, new)


def dynamic_decode(
    decoder: Any,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: Any = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Any = None,
    **kwargs: Any,
) -> tuple[Any, Any, tf.Tensor]:
    """Run a decoder to its end; gives outputs (batch first unless asked otherwise), final state and lengths.

    Raises: TypeError when it is no Decoder; ValueError when maximum_iterations is no scalar.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with tf.variable_scope(scope, "decoder") as variables:
        if variables.caching_device is None:
            variables.set_caching_device(lambda op: op.device)
        if maximum_iterations is not None:
            maximum_iterations = tf.convert_to_tensor(maximum_iterations, dtype=tf.int32, name="maximum_iterations")
            if maximum_iterations.shape.ndims != 0:
                raise ValueError("maximum_iterations must be a scalar")
        finished, inputs, state = decoder.initialize()
        if maximum_iterations is not None:
            finished = tf.logical_or(finished, maximum_iterations <= 0)
        arrays = map_structure(
            lambda size, dtype: tf.TensorArray(
                dtype=dtype, size=0, dynamic_size=True, element_shape=_step_shape(decoder.batch_size, size)
            ),
            decoder.output_size,
            decoder.output_dtype,
        )
        lengths = tf.zeros_like(finished, dtype=tf.int32)
        _, arrays, final_state, _, _, lengths = tf.while_loop(
            lambda time, arrays, state, inputs, finished, lengths: tf.logical_not(tf.reduce_all(finished)),
            _Loop(decoder, impute_finished),
            loop_vars=(tf.constant(0, tf.int32), arrays, state, inputs, finished, lengths),
            parallel_iterations=parallel_iterations,
            maximum_iterations=maximum_iterations,
            swap_memory=swap_memory,
        )
        outputs, final_state = decoder.finalize(map_structure(lambda array: array.stack(), arrays), final_state, lengths)
        if not output_time_major:
            outputs = map_structure(_transpose_batch_time, outputs)
    return outputs, final_state, lengths


class BasicDecoderOutput(NamedTuple):
    """One step's output and the id taken from it."""

    rnn_output: Any
    sample_id: Any


class BasicDecoder(Decoder):
    """A cell, an optional layer on its output, and a helper that chooses ids and next inputs.

    Raises: TypeError when one of them is of another kind.
    """

    def __init__(self, cell: Any, helper: Any, initial_state: Any, output_layer: Any = None) -> None:
        from npu_bridge._contrib._seq2seq_helpers import Helper

        assert_like_rnncell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        _check_layer(output_layer)
        self._cell, self._helper, self._initial_state, self._output_layer = cell, helper, initial_state, output_layer

    @property
    def batch_size(self) -> Any:
        return self._helper.batch_size

    @property
    def output_size(self) -> Any:
        return BasicDecoderOutput(output_size_of(self._cell, self._output_layer), self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> Any:
        dtype = tf.nest.flatten(self._initial_state)[0].dtype
        sizes = output_size_of(self._cell, self._output_layer)
        return BasicDecoderOutput(map_structure(lambda _: dtype, sizes), self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> Any:
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        with tf.name_scope(name, "BasicDecoderStep", [time]):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, inputs, state = self._helper.next_inputs(time=time, outputs=outputs, state=state, sample_ids=ids)
        return BasicDecoderOutput(outputs, ids), state, inputs, finished


def _check_layer(layer: Any) -> None:
    if layer is not None and not isinstance(layer, tf.layers.Layer | tf.keras.layers.Layer):
        raise TypeError(f"output_layer must be a Layer, received: {type(layer)}")


def output_size_of(cell: Any, layer: Any) -> Any:
    """The size of a cell's output behind an optional layer."""
    if layer is None:
        return cell.output_size
    shapes = map_structure(lambda size: tf.TensorShape([None]).concatenate(size), cell.output_size)
    return map_structure(lambda shape: shape[1:], layer.compute_output_shape(shapes))


def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Any = None,
    name: str | None = None,
) -> tf.Tensor:
    """Weighted cross entropy of sequences: logits (batch, time, classes), targets and weights (batch, time).

    Raises: ValueError for other ranks, or when both averaging and summing over one axis are asked for.
    """
    for what, tensor, rank in (("Logits", logits, 3), ("Targets", targets, 2), ("Weights", weights, 2)):
        if len(tensor.shape) != rank:
            depth = " x logits" if rank == 3 else ""
            raise ValueError(f"{what} must be a [batch_size x sequence_length{depth}] tensor")
    for axis, average, add in (
        ("timesteps", average_across_timesteps, sum_over_timesteps), ("batch", average_across_batch, sum_over_batch),
    ):  # fmt: skip
        if average and add:
            raise ValueError(f"average_across_{axis} and sum_over_{axis} cannot be set to True at same time.")
    with tf.name_scope(name, "sequence_loss", [logits, targets, weights]):
        flat, labels = tf.reshape(logits, [-1, tf.shape(logits)[2]]), tf.reshape(targets, [-1])
        entropy = (softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits)(labels=labels, logits=flat)
        entropy *= tf.reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return tf.div_no_nan(tf.reduce_sum(entropy), tf.reduce_sum(weights))
        if sum_over_timesteps and sum_over_batch:
            return tf.div_no_nan(tf.reduce_sum(entropy), tf.cast(tf.count_nonzero(weights), entropy.dtype))
        entropy = tf.reshape(entropy, tf.shape(logits)[0:2])
        if average_across_timesteps or average_across_batch:
            axis = [0] if average_across_batch else [1]
            return tf.div_no_nan(tf.reduce_sum(entropy, axis=axis), tf.reduce_sum(weights, axis=axis))
        if sum_over_timesteps or sum_over_batch:
            axis = [0] if sum_over_batch else [1]
            count = tf.cast(tf.count_nonzero(weights, axis=axis), entropy.dtype)
            return tf.div_no_nan(tf.reduce_sum(entropy, axis=axis), count)
        return entropy
