"""Helpers that give a decoder its next inputs. Source: tensorflow/contrib/seq2seq/python/ops/helper.py of TF 1.15."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.python.ops.rnn import _transpose_batch_time

map_structure = tf.nest.map_structure


def _lookup(embedding: Any) -> Callable[[Any], Any]:
    return embedding if callable(embedding) else lambda ids: tf.nn.embedding_lookup(embedding, ids)


def _draw(logits: Any, seed: int | None) -> tf.Tensor:
    """One id a row, by its probability."""
    return tf.reshape(tf.multinomial(logits, 1, seed=seed, output_dtype=tf.int32), [-1])


def _happens(probability: Any, batch_size: Any, seed: int | None) -> tf.Tensor:
    """True with that probability for each sequence."""
    probability = tf.convert_to_tensor(probability)
    uniform = tf.random_uniform(tf.reshape(batch_size, [1]), seed=seed, dtype=probability.dtype)
    return tf.less(uniform, probability)


class Helper(ABC):
    """Chooses ids from outputs and the next inputs from ids."""

    @property
    @abstractmethod
    def batch_size(self) -> Any:
        """Number of sequences."""

    @property
    @abstractmethod
    def sample_ids_shape(self) -> Any:
        """Shape of one id."""

    @property
    @abstractmethod
    def sample_ids_dtype(self) -> Any:
        """Type of an id."""

    @abstractmethod
    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """(finished, first inputs)."""

    @abstractmethod
    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Ids."""

    @abstractmethod
    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        """(finished, next inputs, next state)."""


class _IntegerIds(Helper):
    @property
    def sample_ids_shape(self) -> Any:
        return tf.TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        return tf.int32


class _DescribedIds(Helper):
    """A helper that is told what its ids are: TensorShape `_shape` and type `_dtype`."""

    _shape: Any
    _dtype: Any

    @property
    def sample_ids_shape(self) -> Any:
        return self._shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._dtype


class CustomHelper(_DescribedIds):
    """A helper made of three functions."""

    def __init__(
        self,
        initialize_fn: Callable[..., Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ) -> None:
        self._initialize_fn, self._sample_fn, self._next_inputs_fn = initialize_fn, sample_fn, next_inputs_fn
        self._batch_size: Any = None
        self._shape, self._dtype = tf.TensorShape(sample_ids_shape or []), sample_ids_dtype or tf.int32

    @property
    def batch_size(self) -> Any:
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        finished, inputs = self._initialize_fn()
        if self._batch_size is None:
            self._batch_size = tf.size(finished)
        return finished, inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class TrainingHelper(_IntegerIds):
    """Feeds the true inputs. Raises: ValueError when sequence_length is no vector."""

    def __init__(self, inputs: Any, sequence_length: Any, time_major: bool = False, name: str | None = None) -> None:
        with tf.name_scope(name, "TrainingHelper", [sequence_length]):
            self._inputs = map_structure(tf.convert_to_tensor, inputs)
            steps = self._inputs if time_major else map_structure(_transpose_batch_time, self._inputs)
            self._arrays = map_structure(_as_array, steps)
            self._sequence_length = tf.convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.shape.ndims != 1:
                raise ValueError(f"Expected sequence_length to be a vector, but received shape: {self._sequence_length.shape}")
            self._zero_inputs = map_structure(lambda step: tf.zeros_like(step[0, :]), steps)
            self._batch_size = tf.size(sequence_length)

    @property
    def inputs(self) -> Any:
        return self._inputs

    @property
    def sequence_length(self) -> Any:
        return self._sequence_length

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    def _inputs_at(self, time: Any, finished: Any) -> Any:
        return tf.cond(
            tf.reduce_all(finished),
            lambda: self._zero_inputs,
            lambda: map_structure(lambda array: array.read(time), self._arrays),
        )

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        with tf.name_scope(name, "TrainingHelperInitialize"):
            finished = tf.equal(0, self._sequence_length)
            return finished, self._inputs_at(0, finished)

    def sample(self, time: Any, outputs: Any, name: str | None = None, **unused: Any) -> Any:
        with tf.name_scope(name, "TrainingHelperSample"):
            return tf.cast(tf.argmax(outputs, axis=-1), tf.int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, name: str | None = None, **unused: Any) -> Any:
        with tf.name_scope(name, "TrainingHelperNextInputs"):
            finished = time + 1 >= self._sequence_length
            return finished, self._inputs_at(time + 1, finished), state


def _as_array(steps: tf.Tensor) -> tf.TensorArray:
    return tf.TensorArray(steps.dtype, size=tf.shape(steps)[0], element_shape=steps.shape[1:]).unstack(steps)


def _probability(value: Any) -> tf.Tensor:
    probability = tf.convert_to_tensor(value, name="sampling_probability")
    if probability.shape.ndims not in (0, 1):
        raise ValueError(f"sampling_probability must be either a scalar or a vector. saw shape: {probability.shape}")
    return probability


def _mix(where: Any, sampled: Any, given: Any) -> tf.Tensor:
    """Rows of ``sampled`` where the mask is set, of ``given`` elsewhere."""
    return tf.where(where, sampled, given)


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Feeds, with some probability, the embedding of an id drawn from the output in place of the true input."""

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        embedding: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(inputs, sequence_length, time_major, name)
        self._embedding_fn = _lookup(embedding)
        self._sampling_probability = _probability(sampling_probability)
        self._seed, self._scheduling_seed = seed, scheduling_seed

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None, **unused: Any) -> Any:
        with tf.name_scope(name, "ScheduledEmbeddingTrainingHelperSample"):
            chosen = _happens(self._sampling_probability, self.batch_size, self._scheduling_seed)
            return tf.where(chosen, _draw(outputs, self._seed), tf.fill([self.batch_size], -1))

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any = None, name: str | None = None, **unused: Any
    ) -> Any:
        finished, given, state = super().next_inputs(time, outputs, state, name)
        embedded = self._embedding_fn(tf.maximum(sample_ids, 0))
        inputs = tf.cond(tf.reduce_all(finished), lambda: given, lambda: _mix(sample_ids > -1, embedded, given))
        return finished, inputs, state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """Feeds, with some probability, the last output (and auxiliary inputs) in place of the true input."""

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[[Any], Any] | None = None,
        auxiliary_inputs: Any = None,
        name: str | None = None,
    ) -> None:
        self._sampling_probability = _probability(sampling_probability)
        self._seed, self._next_inputs_fn = seed, next_inputs_fn
        self._auxiliary: tf.TensorArray | None = None
        if auxiliary_inputs is not None:
            auxiliary = tf.convert_to_tensor(auxiliary_inputs, name="auxiliary_inputs")
            inputs = tf.concat((tf.convert_to_tensor(inputs), auxiliary), -1)
            self._auxiliary = _as_array(auxiliary if time_major else _transpose_batch_time(auxiliary))
        super().__init__(inputs, sequence_length, time_major, name)

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None, **unused: Any) -> Any:
        with tf.name_scope(name, "ScheduledOutputTrainingHelperSample"):
            return tf.cast(_happens(self._sampling_probability, self.batch_size, self._seed), tf.int32)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any = None, name: str | None = None, **unused: Any
    ) -> Any:
        finished, given, state = super().next_inputs(time, outputs, state, name)
        chosen = tf.cast(sample_ids, tf.bool)

        def sampled() -> tf.Tensor:
            inputs = self._next_inputs_fn(outputs) if self._next_inputs_fn else outputs
            if self._auxiliary is not None:
                inputs = tf.concat((inputs, self._auxiliary.read(time + 1)), -1)
            return _mix(chosen, inputs, given)

        stays = tf.logical_or(tf.reduce_all(finished), tf.logical_not(tf.reduce_any(chosen)))
        return finished, tf.cond(stays, lambda: given, sampled), state


class GreedyEmbeddingHelper(_IntegerIds):
    """Feeds the embedding of the best id. Raises: ValueError for tokens of another rank."""

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any) -> None:
        self._embedding_fn = _lookup(embedding)
        self._start_tokens = tf.convert_to_tensor(start_tokens, dtype=tf.int32, name="start_tokens")
        self._end_token = tf.convert_to_tensor(end_token, dtype=tf.int32, name="end_token")
        if self._start_tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = tf.size(start_tokens)
        self._start_inputs = self._embedding_fn(self._start_tokens)

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        return tf.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        if not tf.is_tensor(outputs):
            raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
        return tf.argmax(outputs, axis=-1, output_type=tf.int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        finished = tf.equal(sample_ids, self._end_token)
        inputs = tf.cond(tf.reduce_all(finished), lambda: self._start_inputs, lambda: self._embedding_fn(sample_ids))
        return finished, inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Feeds the embedding of an id drawn from the output."""

    def __init__(
        self, embedding: Any, start_tokens: Any, end_token: Any, softmax_temperature: Any = None, seed: int | None = None
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature, self._seed = softmax_temperature, seed

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        if not tf.is_tensor(outputs):
            raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
        return _draw(outputs if self._softmax_temperature is None else outputs / self._softmax_temperature, self._seed)


class InferenceHelper(_DescribedIds):
    """Feeds what functions make of the output."""

    def __init__(
        self,
        sample_fn: Callable[[Any], Any],
        sample_shape: Any,
        sample_dtype: Any,
        start_inputs: Any,
        end_fn: Callable[[Any], Any],
        next_inputs_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        self._sample_fn, self._end_fn, self._next_inputs_fn = sample_fn, end_fn, next_inputs_fn
        self._shape, self._dtype = tf.TensorShape(sample_shape), sample_dtype
        self._batch_size = tf.shape(start_inputs)[0]
        self._start_inputs = tf.convert_to_tensor(start_inputs, name="start_inputs")

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        return tf.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        return self._sample_fn(outputs)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        inputs = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), inputs, state
