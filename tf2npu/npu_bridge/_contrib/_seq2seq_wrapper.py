"""A cell joined with attention. Source: tensorflow/contrib/seq2seq/python/ops/attention_wrapper.py of TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf
from npu_bridge._contrib._seq2seq_attention import AttentionMechanism
from npu_bridge._contrib.framework import with_same_shape
from tensorflow.python.ops.rnn_cell_impl import _zero_state_tensors, assert_like_rnncell


class AttentionWrapperState(
    NamedTuple(
        "AttentionWrapperState",
        [(name, Any) for name in ("cell_state", "attention", "time", "alignments", "alignment_history", "attention_state")],
    )
):
    """State of an AttentionWrapper."""

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """A copy with some fields changed to tensors of the same shape."""

        def checked(old: Any, new: Any) -> Any:
            return with_same_shape(old, new) if tf.is_tensor(old) and tf.is_tensor(new) else new

        return tf.nest.map_structure(checked, self, self._replace(**kwargs))


def _attend(mechanism: Any, cell_output: Any, state: Any, layer: Any) -> tuple[Any, Any, Any]:
    """(attention, alignments, next state of the mechanism)."""
    alignments, state = mechanism(cell_output, state=state)
    context = tf.squeeze(tf.matmul(tf.expand_dims(alignments, 1), mechanism.values), [1])
    return (layer(tf.concat([cell_output, context], 1)) if layer is not None else context), alignments, state


def _batch_size(tensor: Any) -> Any:
    """The number of rows, a scalar tensor where only the run tells it."""
    return tensor.shape[0].value or tf.shape(tensor)[0]


class AttentionWrapper(tf.nn.rnn_cell.RNNCell):
    """A cell whose inputs and outputs are joined with attention.

    Raises: TypeError for mechanisms of another kind; ValueError when the numbers of layers and mechanisms differ.
    """

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[..., Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Any = None,
        attention_fn: Callable[..., Any] | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        assert_like_rnncell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, list | tuple)
        self._attention_mechanisms = tuple(attention_mechanism) if self._is_multi else (attention_mechanism,)
        for mechanism in self._attention_mechanisms:
            if not isinstance(mechanism, AttentionMechanism):
                raise TypeError(f"attention_mechanism must be an AttentionMechanism, saw type: {type(mechanism).__name__}")
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise TypeError(f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}")
        if attention_layer_size is not None and attention_layer is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        self._cell, self._attention_fn = cell, attention_fn or _attend
        self._cell_input_fn = cell_input_fn or (lambda inputs, attention: tf.concat([inputs, attention], -1))
        self._output_attention, self._alignment_history = output_attention, alignment_history
        self._make_layers(attention_layer_size, attention_layer)
        self._initial_cell_state: Any = None
        if initial_cell_state is not None:
            with tf.name_scope(name, "AttentionWrapperInit"):
                batch = _batch_size(tf.nest.flatten(initial_cell_state)[-1])
                self._initial_cell_state = self._checked(batch, initial_cell_state, "initial_cell_state")

    def _make_layers(self, sizes: Any, layers: Any) -> None:
        mechanisms = self._attention_mechanisms
        self._attention_layers: tuple[Any, ...] | None = None
        if sizes is None and layers is None:
            self._attention_layer_size = sum(mechanism.values.shape[-1].value for mechanism in mechanisms)
            return
        given = sizes if layers is None else layers
        given = tuple(given) if isinstance(given, list | tuple) else (given,)
        if len(given) != len(mechanisms):
            raise ValueError(f"give one attention layer (or its size) for each mechanism, saw: {len(given)} vs {len(mechanisms)}")
        if layers is None:
            self._attention_layers = tuple(
                tf.layers.Dense(size, name="attention_layer", use_bias=False, dtype=mechanism.dtype)
                for size, mechanism in zip(given, mechanisms, strict=True)
            )
            self._attention_layer_size = sum(given)
            return
        self._attention_layers = given
        widths = [self._cell.output_size + mechanism.values.shape[-1].value for mechanism in mechanisms]
        shapes = [layer.compute_output_shape([None, width]) for layer, width in zip(given, widths, strict=True)]
        self._attention_layer_size = sum(tf.TensorShape(shape)[-1].value for shape in shapes)

    def _checked(self, batch: Any, structure: Any, what: str) -> Any:
        """The structure, behind an assertion that its batch, a number or a scalar tensor, is the memory's."""
        message = (
            f"AttentionWrapper {self._base_name}: the batch sizes of the memory (encoder output) and of the {what} differ; with "
            "BeamSearchDecoder, tile the memory and the state by tf.contrib.seq2seq.tile_batch with multiplier=beam_width"
        )
        checks = [tf.assert_equal(batch, mechanism.batch_size, message=message) for mechanism in self._attention_mechanisms]
        with tf.control_dependencies(checks):
            return tf.nest.map_structure(tf.identity, structure)

    def _one_or_all(self, items: Any) -> Any:
        items = tuple(items)
        return items if self._is_multi else items[0]

    @property
    def output_size(self) -> Any:
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        mechanisms = self._attention_mechanisms
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=tf.TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._one_or_all(mechanism.alignments_size for mechanism in mechanisms),
            attention_state=self._one_or_all(mechanism.state_size for mechanism in mechanisms),
            alignment_history=self._one_or_all(
                mechanism.alignments_size if self._alignment_history else () for mechanism in mechanisms
            ),
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        """The state before the first step."""
        with tf.name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            state = self._initial_cell_state
            if state is None:
                state = self._cell.zero_state(batch_size, dtype)
            starts = [mechanism.initial_alignments(batch_size, dtype) for mechanism in self._attention_mechanisms]
            return AttentionWrapperState(
                cell_state=self._checked(batch_size, state, "requested state"),
                time=tf.zeros([], dtype=tf.int32),
                attention=_zero_state_tensors(self._attention_layer_size, batch_size, dtype),
                alignments=self._one_or_all(starts),
                attention_state=self._one_or_all(
                    mechanism.initial_state(batch_size, dtype) for mechanism in self._attention_mechanisms
                ),
                alignment_history=self._one_or_all(
                    tf.TensorArray(dtype, size=0, dynamic_size=True, element_shape=start.shape) if self._alignment_history else ()
                    for start in starts
                ),
            )

    def call(self, inputs: Any, state: Any) -> tuple[Any, AttentionWrapperState]:
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(f"Expected state to be instance of AttentionWrapperState. Received type {type(state)} instead.")
        output, cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        output = self._checked(_batch_size(output), output, "query (decoder output)")
        states = state.attention_state if self._is_multi else (state.attention_state,)
        histories = state.alignment_history if self._is_multi else (state.alignment_history,)
        layers = self._attention_layers or (None,) * len(states)
        parts = zip(self._attention_mechanisms, states, layers, strict=True)
        results = [self._attention_fn(mechanism, output, before, layer) for mechanism, before, layer in parts]
        attentions, alignments, next_states = zip(*results, strict=True)
        if self._alignment_history:
            histories = [history.write(state.time, a) for history, a in zip(histories, alignments, strict=True)]
        attention = tf.concat(attentions, 1)
        following = AttentionWrapperState(
            time=state.time + 1,
            cell_state=cell_state,
            attention=attention,
            attention_state=self._one_or_all(next_states),
            alignments=self._one_or_all(alignments),
            alignment_history=self._one_or_all(histories),
        )
        return (attention if self._output_attention else output), following
