"""Cells around a cell: projections, embeddings, highways. Source: tensorflow/contrib/rnn of TF 1.15."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from npu_bridge._contrib._rnn_cells import _linear
from tensorflow.nn.rnn_cell import RNNCell
from tensorflow.python.ops.rnn_cell_impl import assert_like_rnncell

Activation = Callable[[Any], Any]


class _Around(RNNCell):
    """A cell with the state and the output size of another."""

    def __init__(self, cell: Any, reuse: Any = None) -> None:
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        self._cell = cell

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with tf.name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


class InputProjectionWrapper(_Around):
    """A dense layer in front of a cell."""

    def __init__(
        self, cell: Any, num_proj: int, activation: Activation | None = None, input_size: Any = None, reuse: Any = None
    ) -> None:
        super().__init__(cell, reuse)
        if input_size is not None:
            tf.logging.warning("%s: The input_size parameter is deprecated.", self)
        self._num_proj, self._activation = num_proj, activation

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        projected = _linear(inputs, self._num_proj)
        return self._cell(self._activation(projected) if self._activation else projected, state)


class OutputProjectionWrapper(_Around):
    """A dense layer behind a cell. Raises: ValueError when output_size is below 1."""

    def __init__(self, cell: Any, output_size: int, activation: Activation | None = None, reuse: Any = None) -> None:
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._output_size, self._activation = output_size, activation

    @property
    def output_size(self) -> int:
        return self._output_size

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        output, state = self._cell(inputs, state)
        projected = _linear(output, self._output_size)
        return (self._activation(projected) if self._activation else projected), state


class EmbeddingWrapper(_Around):
    """An embedding of ids in front of a cell. Raises: ValueError when one of its sizes is not positive."""

    def __init__(
        self, cell: Any, embedding_classes: int, embedding_size: int, initializer: Any = None, reuse: Any = None
    ) -> None:
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(f"Both embedding_classes and embedding_size must be > 0: {embedding_classes}, {embedding_size}.")
        self._embedding_classes, self._embedding_size, self._initializer = embedding_classes, embedding_size, initializer

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        bound = math.sqrt(3)  # gives values of variance 1
        initializer = self._initializer or tf.get_variable_scope().initializer or tf.random_uniform_initializer(-bound, bound)
        dtype = (state[0] if isinstance(state, tuple) else state).dtype
        shape = [self._embedding_classes, self._embedding_size]
        embedding = tf.get_variable("embedding", shape, dtype, initializer)
        return self._cell(tf.nn.embedding_lookup(embedding, tf.reshape(inputs, [-1])), state)


class HighwayWrapper(_Around):
    """A gate between a cell's inputs and its outputs (Srivastava, Greff, Schmidhuber)."""

    def __init__(self, cell: Any, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0) -> None:
        super().__init__(cell)
        self._couple, self._carry_bias_init = couple_carry_transform_gates, carry_bias_init

    def _gate(self, name: str, inputs: Any, bias: float) -> Any:
        size = inputs.shape.dims[1].value
        weights = tf.get_variable(f"{name}_w", [size, size])
        return tf.sigmoid(
            tf.nn.xw_plus_b(inputs, weights, tf.get_variable(f"{name}_b", [size], initializer=tf.constant_initializer(bias)))
        )

    def _highway(self, inputs: Any, outputs: Any) -> Any:
        carry = self._gate("carry", inputs, self._carry_bias_init)
        transform = 1 - carry if self._couple else self._gate("transform", inputs, -self._carry_bias_init)
        return inputs * carry + outputs * transform

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        outputs, state = self._cell(inputs, state, scope=scope)
        tf.nest.assert_same_structure(inputs, outputs)
        return tf.nest.map_structure(self._highway, inputs, outputs), state


class AttentionCellWrapper(_Around):
    """Attention over the last attn_length outputs (Cheng, Dong, Lapata: Long Short-Term Memory-Networks).

    input_size: of what the cell is given, the depth of the inputs if None.  Raises: ValueError for an attn_length below 1,
    or a cell of several states without state_is_tuple.
    """

    def __init__(
        self,
        cell: Any,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: Any = None,
    ) -> None:
        super().__init__(cell, reuse)
        if not state_is_tuple:
            tf.logging.warning("%s: Using a concatenated state is slower. Use state_is_tuple=True.", self)
            if isinstance(cell.state_size, tuple | list):
                size = f"State size is: {cell.state_size}"
                raise ValueError(f"Cell returns tuple of states, but the flag state_is_tuple is not set. {size}")
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        self._length, self._size, self._input_size = attn_length, attn_size or cell.output_size, input_size
        self._vector_size, self._state_is_tuple = attn_vec_size or self._size, state_is_tuple

    @property
    def state_size(self) -> Any:
        return self._sizes() if self._state_is_tuple else sum(self._sizes())

    @property
    def output_size(self) -> int:
        return self._size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        return RNNCell.zero_state(self, batch_size, dtype)

    def _look(self, query: Any, past: Any) -> Any:
        """The outputs of before, weighed by how they go with a query."""
        with tf.variable_scope("attention"):
            kernel = tf.get_variable("attn_w", [1, 1, self._size, self._vector_size])
            scores = tf.get_variable("attn_v", [self._vector_size])
            features = tf.nn.conv2d(past[:, :, None], kernel, [1, 1, 1, 1], "SAME")[:, :, 0]
            wanted = _linear(query, self._vector_size)[:, None]
            weights = tf.nn.softmax(tf.reduce_sum(scores * tf.tanh(features + wanted), 2))
        return tf.reduce_sum(weights[:, :, None] * past, 1)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        inner, seen, past = state if self._state_is_tuple else tf.split(state, self._sizes(), axis=1)
        past = tf.reshape(past, [-1, self._length, self._size])
        size = inputs.shape.as_list()[1] if self._input_size is None else self._input_size
        output, inner = self._cell(_linear(tf.concat([inputs, seen], 1), size), inner)
        seen = self._look(tf.concat(tf.nest.flatten(inner), 1), past)
        with tf.variable_scope("attn_output_projection"):
            output = _linear(tf.concat([output, seen], 1), self._size)
        past = tf.reshape(tf.concat([past[:, 1:], output[:, None]], 1), [-1, self._length * self._size])
        return output, (inner, seen, past) if self._state_is_tuple else tf.concat([inner, seen, past], 1)

    def _sizes(self) -> tuple[int, int, int]:
        return self._cell.state_size, self._size, self._size * self._length


class CompiledWrapper(_Around):
    """The cell itself: the device compiles the whole graph."""

    def __init__(self, cell: Any, compile_stateful: bool = False) -> None:
        super().__init__(cell)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        return self._cell(inputs, state, scope)
