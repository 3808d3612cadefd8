"""Attention over an encoder's outputs. Source: tensorflow/contrib/seq2seq/python/ops/attention_wrapper.py of TF 1.15."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.rnn_cell_impl import _zero_state_tensors

Probability = Callable[[Any, Any], Any]


def hardmax(logits: Any, name: str | None = None) -> tf.Tensor:
    """One at the greatest of the last axis, zero elsewhere."""
    with tf.name_scope(name, "Hardmax", [logits]):
        logits = tf.convert_to_tensor(logits, name="logits")
        return tf.one_hot(tf.argmax(logits, -1), logits.shape[-1].value or tf.shape(logits)[-1], dtype=logits.dtype)


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> tf.Tensor:
    """Cumulative product by logarithms, for values in [0, 1]."""
    with tf.name_scope(None, "SafeCumprod", [x]):
        x = tf.convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        return tf.exp(tf.cumsum(tf.log(tf.clip_by_value(x, tiny, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> tf.Tensor:
    """Attention that only moves forward (Raffel et al.); mode: "recursive", "parallel" or "hard".

    Raises: ValueError for another mode.
    """
    choose = tf.convert_to_tensor(p_choose_i, name="p_choose_i")
    previous = tf.convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "parallel":
        left = safe_cumprod(1 - choose, axis=1, exclusive=True)
        return choose * left * tf.cumsum(previous / tf.clip_by_value(left, 1e-10, 1.0), axis=1)
    if mode == "hard":
        choose *= tf.cumsum(previous, axis=1)
        return choose * tf.cumprod(1 - choose, axis=1, exclusive=True)
    if mode != "recursive":
        raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")
    batch = choose.shape[0].value or tf.shape(choose)[0]
    passed = tf.concat([tf.ones((batch, 1)), 1 - choose[:, :-1]], 1)
    steps = [tf.transpose(passed), tf.transpose(previous)]
    scanned = tf.scan(lambda x, yz: tf.reshape(yz[0] * x + yz[1], (batch,)), steps, tf.zeros((batch,)))
    return choose * tf.transpose(scanned)


class AttentionMechanism:
    """Base class of the mechanisms that ``AttentionWrapper`` asks for alignments."""

    @property
    def alignments_size(self) -> Any:
        """Length of the memory."""
        raise TypeError(f"{type(self).__name__} must define alignments_size")

    @property
    def state_size(self) -> Any:
        """Size of the state."""
        raise TypeError(f"{type(self).__name__} must define state_size")


def _prepared(memory: Any, lengths: Any) -> Any:
    """The memory with zeros behind the end of each sequence."""
    memory = tf.nest.map_structure(lambda m: tf.convert_to_tensor(m, name="memory"), memory)
    for m in tf.nest.flatten(memory):
        if not m.shape[2:].is_fully_defined():
            raise ValueError(f"Expected memory {m.name} to have fully defined inner dims, but saw shape: {m.shape}")
    if lengths is None:
        return memory
    first = tf.nest.flatten(memory)[0]
    mask = tf.sequence_mask(lengths, maxlen=tf.shape(first)[1], dtype=first.dtype)
    return tf.nest.map_structure(
        lambda m: m * tf.reshape(mask, [*tf.unstack(tf.shape(mask)), *[1] * (m.shape.ndims - 2)]), memory
    )


def _masked(score: Any, lengths: Any, value: Any) -> Any:
    if lengths is None:
        return score
    message = "All values in memory_sequence_length must be greater than zero."
    with tf.control_dependencies([tf.assert_positive(lengths, message=message)]):
        mask = tf.sequence_mask(lengths, maxlen=tf.shape(score)[1])
    return tf.where(mask, score, value * tf.ones_like(score))


class _Mechanism(AttentionMechanism):
    """Keys and values out of the memory; subclasses give the score."""

    _first_alignment_is_the_first_step = False

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any,
        probability: Probability,
        score_mask_value: Any,
        dtype: Any,
        custom_key_value_fn: Callable[..., Any] | None,
        name: str,
        has_query_layer: bool,
    ) -> None:
        dtype = tf.float32 if dtype is None else dtype

        def dense(layer: str) -> Any:
            return tf.layers.Dense(num_units, name=layer, use_bias=False, dtype=dtype)

        self.dtype, self._num_units, self._name = dtype, num_units, name
        self.query_layer = dense("query_layer") if has_query_layer else None
        self.memory_layer = dense("memory_layer")
        mask = tf.as_dtype(dtype).as_numpy_dtype(-np.inf) if score_mask_value is None else score_mask_value
        lengths = None if memory_sequence_length is None else tf.convert_to_tensor(memory_sequence_length)
        self._probability_fn: Probability = lambda score, previous: probability(_masked(score, lengths, mask), previous)
        with tf.name_scope(name, "BaseAttentionMechanismInit", tf.nest.flatten(memory)):
            self.values = _prepared(memory, lengths)
            self.keys = self.memory_layer(self.values)
            if custom_key_value_fn is not None:
                self.keys, self.values = custom_key_value_fn(self.keys, self.values)
            self.batch_size = self.keys.shape[0].value or tf.shape(self.keys)[0]
            self._alignments_size = self.keys.shape[1].value or tf.shape(self.keys)[1]

    @property
    def alignments_size(self) -> Any:
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> tf.Tensor:
        """The alignments before the first step."""
        if self._first_alignment_is_the_first_step:
            return tf.one_hot(tf.zeros((batch_size,), dtype=tf.int32), self._alignments_size, dtype=dtype)
        return _zero_state_tensors(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> tf.Tensor:
        """The state before the first step."""
        return self.initial_alignments(batch_size, dtype)

    def _luong_score(self, query: Any, scale: bool) -> Any:
        depth, units = query.shape[-1], self.keys.shape[-1]
        if depth != units:
            raise ValueError(
                f"Incompatible or unknown inner dimensions between query and keys: query {query} has {depth} units, "
                f"keys {self.keys} have {units}; perhaps set num_units to {units}"
            )
        score = tf.squeeze(tf.matmul(tf.expand_dims(query, 1), self.keys, transpose_b=True), [1])
        if not scale:
            return score
        return tf.get_variable("attention_g", dtype=query.dtype, initializer=tf.ones_initializer, shape=()) * score

    def _bahdanau_score(self, query: Any, normalize: bool) -> Any:
        asked = tf.expand_dims(self.query_layer(query) if self.query_layer else query, 1)
        v = tf.get_variable("attention_v", [self._num_units], dtype=query.dtype)
        if not normalize:
            return tf.reduce_sum(v * tf.tanh(self.keys + asked), [2])
        start = tf.constant_initializer(math.sqrt(1.0 / self._num_units))
        g = tf.get_variable("attention_g", dtype=query.dtype, initializer=start, shape=())
        b = tf.get_variable("attention_b", [self._num_units], dtype=query.dtype, initializer=tf.zeros_initializer())
        normed = g * v * tf.rsqrt(tf.reduce_sum(tf.square(v)))
        return tf.reduce_sum(normed * tf.tanh(self.keys + asked + b), [2])


def _of_score(probability_fn: Callable[[Any], Any] | None) -> Probability:
    function = tf.nn.softmax if probability_fn is None else probability_fn
    return lambda score, _: function(score)


class LuongAttention(_Mechanism):
    """Multiplicative attention."""

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str = "LuongAttention",
    ) -> None:
        super().__init__(
            num_units, memory, memory_sequence_length, _of_score(probability_fn), score_mask_value, dtype,
            custom_key_value_fn, name, has_query_layer=False,
        )  # fmt: skip
        self._scale = scale

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        with tf.variable_scope(None, "luong_attention", [query]):
            alignments = self._probability_fn(self._luong_score(query, self._scale), state)
        return alignments, alignments


class BahdanauAttention(_Mechanism):
    """Additive attention, optionally with a normalised energy."""

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str = "BahdanauAttention",
    ) -> None:
        super().__init__(
            num_units, memory, memory_sequence_length, _of_score(probability_fn), score_mask_value, dtype,
            custom_key_value_fn, name, has_query_layer=True,
        )  # fmt: skip
        self._normalize = normalize

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        with tf.variable_scope(None, "bahdanau_attention", [query]):
            alignments = self._probability_fn(self._bahdanau_score(query, self._normalize), state)
        return alignments, alignments


def _monotonic(score: Any, previous: Any, noise: float, mode: str, seed: int | None) -> Any:
    if noise > 0:
        score += noise * tf.random_normal(tf.shape(score), dtype=score.dtype, seed=seed)
    choose = tf.cast(score > 0, score.dtype) if mode == "hard" else tf.sigmoid(score)
    return monotonic_attention(choose, previous, mode)


def _with_bias(score: Any, dtype: Any, start: float) -> Any:
    initializer = tf.constant_initializer(start)
    return score + tf.get_variable("attention_score_bias", shape=(), dtype=dtype, initializer=initializer)


class _MonotonicMechanism(_Mechanism):
    """Attention that only moves forward; subclasses name their scope and give the score ahead of its bias."""

    _first_alignment_is_the_first_step = True
    _scope = ""

    def _prepare(self, common: tuple[Any, ...], noise: tuple[float, str, int | None], bias: float, has_query_layer: bool) -> None:
        """common: num_units, memory and its lengths, score mask, dtype, name.  noise: its size, the mode, its seed."""
        num_units, memory, lengths, mask, dtype, name = common
        probability = partial(_monotonic, noise=noise[0], mode=noise[1], seed=noise[2])
        super().__init__(num_units, memory, lengths, probability, mask, dtype, None, name, has_query_layer=has_query_layer)
        self._bias = bias

    def _raw_score(self, query: Any) -> Any:
        raise TypeError(f"{type(self).__name__} must define _raw_score")

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        with tf.variable_scope(None, self._scope, [query]):
            score = _with_bias(self._raw_score(query), query.dtype, self._bias)
            alignments = self._probability_fn(score, state)
        return alignments, alignments


class BahdanauMonotonicAttention(_MonotonicMechanism):
    """Additive attention that only moves forward."""

    _scope = "bahdanau_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        common = num_units, memory, memory_sequence_length, score_mask_value, dtype, name
        self._prepare(common, (sigmoid_noise, mode, sigmoid_noise_seed), score_bias_init, has_query_layer=True)
        self._normalize = normalize

    def _raw_score(self, query: Any) -> Any:
        return self._bahdanau_score(query, self._normalize)


class LuongMonotonicAttention(_MonotonicMechanism):
    """Multiplicative attention that only moves forward."""

    _scope = "luong_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:
        common = num_units, memory, memory_sequence_length, score_mask_value, dtype, name
        self._prepare(common, (sigmoid_noise, mode, sigmoid_noise_seed), score_bias_init, has_query_layer=False)
        self._scale = scale

    def _raw_score(self, query: Any) -> Any:
        return self._luong_score(query, self._scale)
