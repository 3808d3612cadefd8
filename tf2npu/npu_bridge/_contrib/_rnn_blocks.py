"""The cells that TF 1.15 computed by one fused CPU operation, as plain graphs that the device runs.

Source: tensorflow/contrib/rnn/python/ops/{lstm_ops,gru_ops}.py of TF 1.15; names and shapes of variables are theirs, so that
checkpoints fit.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.nn.rnn_cell import LSTMStateTuple
from tensorflow.python.ops.rnn_cell_impl import LayerRNNCell


def _make_lstm_variables(layer: Any, input_size: int | None, n_units: int, use_peephole: bool) -> None:
    if not input_size:
        raise ValueError(f"the last dimension of the inputs of {layer.name} must be known")
    layer._kernel = layer.add_weight("kernel", [input_size + n_units, n_units * 4])
    layer._bias = layer.add_weight("bias", [n_units * 4], initializer=tf.constant_initializer(0.0))
    names = ("w_i_diag", "w_f_diag", "w_o_diag")
    layer._peepholes = [layer.add_weight(name, [n_units]) for name in names] if use_peephole else None
    layer.built = True


def _lstm_step(layer: Any, inputs: Any, state: Any) -> tuple[Any, Any]:
    """One step; gates lie in the kernel as input, candidate, forget, output.

    Gradients pass the clip of the cell as if it were not there: core/kernels/rnn/lstm_ops.h, LSTMBlockCellBprop.
    """
    cell, output = state
    gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, output], 1), layer._kernel), layer._bias)
    i, j, f, o = tf.split(gates, 4, axis=1)
    f = f + layer._forget_bias
    if layer._peepholes:
        i, f = i + layer._peepholes[0] * cell, f + layer._peepholes[1] * cell
    cell = tf.sigmoid(i) * tf.tanh(j) + tf.sigmoid(f) * cell
    if layer._cell_clip > 0:
        cell = tf.grad_pass_through(lambda c: tf.clip_by_value(c, -layer._cell_clip, layer._cell_clip))(cell)
    if layer._peepholes:
        o = o + layer._peepholes[2] * cell
    output = tf.tanh(cell) * tf.sigmoid(o)
    return output, LSTMStateTuple(cell, output)


def _keep_options(layer: Any, num_units: int, forget_bias: float, cell_clip: float | None, use_peephole: bool) -> None:
    """Stores the options of either LSTM in the layer; a cell_clip of -1 clips nothing."""
    layer._num_units, layer._forget_bias, layer._use_peephole = num_units, forget_bias, use_peephole
    layer._cell_clip = -1 if cell_clip is None else cell_clip


class LSTMBlockCell(LayerRNNCell):
    """LSTM with optional clipping of the cell and peepholes. Raises: ValueError for inputs of unknown depth."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        dtype: Any = None,
        reuse: Any = None,
        name: str = "lstm_cell",
    ) -> None:
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        _keep_options(self, num_units, forget_bias, cell_clip, use_peephole)

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        _make_lstm_variables(self, tf.TensorShape(inputs_shape).dims[1].value, self._num_units, self._use_peephole)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        return _lstm_step(self, inputs, state)


class LSTMBlockWrapper(tf.layers.Layer):
    """A recurrence over a whole sequence, time first; subclasses give ``num_units`` and ``_call_cell``."""

    @property
    def num_units(self) -> int:
        """The number of units that a step gives."""
        raise TypeError(f"{type(self).__name__} must define num_units")

    def _call_cell(self, inputs: Any, initial_cell_state: Any, initial_output: Any, dtype: Any, sequence_length: Any) -> Any:
        raise TypeError(f"{type(self).__name__} must define _call_cell")

    def call(self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None) -> tuple[Any, Any]:
        """All outputs, zero after the end of a sequence, and each sequence's last state."""
        is_list = isinstance(inputs, list)
        inputs = tf.stack(inputs) if is_list else inputs
        batch, n_steps = tf.shape(inputs)[1], tf.shape(inputs)[0]
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            initial_state = (tf.zeros(tf.stack([batch, self.num_units]), dtype=dtype),) * 2
        elif len(initial_state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        dtype = dtype or initial_state[0].dtype
        lengths = None if sequence_length is None else tf.convert_to_tensor(sequence_length)
        cells, outputs = self._call_cell(inputs, *initial_state, dtype, lengths)
        if lengths is None:
            final = cells[-1], outputs[-1]
        else:
            outputs *= tf.transpose(tf.sequence_mask(lengths, n_steps, dtype=dtype))[:, :, None]
            at = tf.stack([tf.cast(lengths, tf.int32), tf.range(batch)], axis=1)
            final = tuple(
                tf.gather_nd(tf.concat([first[None], steps], 0), at)
                for first, steps in zip(initial_state, (cells, outputs), strict=True)
            )
        return tf.unstack(outputs) if is_list else outputs, LSTMStateTuple(*final)


class LSTMBlockFusedCell(LSTMBlockWrapper):
    """LSTM over a whole sequence, time first."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: Any = None,
        dtype: Any = None,
        name: str = "lstm_fused_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        _keep_options(self, num_units, forget_bias, cell_clip, use_peephole)

    @property
    def num_units(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        _make_lstm_variables(self, tf.TensorShape(shape).dims[-1].value, self._num_units, self._use_peephole)

    def _call_cell(self, inputs: Any, initial_cell_state: Any, initial_output: Any, dtype: Any, sequence_length: Any) -> Any:
        step = _StepOf(self)
        # Cells and outputs of every step, so that each sequence's own last state can be taken from them.
        both, _ = tf.nn.dynamic_rnn(
            step, inputs, initial_state=LSTMStateTuple(initial_cell_state, initial_output), time_major=True, dtype=dtype
        )
        return both


class _StepOf(tf.nn.rnn_cell.RNNCell):
    """One step of a fused layer, whose output is the cell and the output."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self._layer = layer

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._layer.num_units, self._layer.num_units)

    @property
    def output_size(self) -> Any:
        return (self._layer.num_units, self._layer.num_units)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        _, new = _lstm_step(self._layer, inputs, state)
        return (new.c, new.h), new


class GRUBlockCell(LayerRNNCell):
    """GRU whose reset gate works before the matrix product. Raises: ValueError unless one of the two sizes is given."""

    _names = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(
        self, num_units: int | None = None, cell_size: int | None = None, reuse: Any = None, name: str = "gru_cell"
    ) -> None:
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._cell_size: int = num_units or cell_size or 0

    @property
    def state_size(self) -> int:
        return self._cell_size

    @property
    def output_size(self) -> int:
        return self._cell_size

    def build(self, input_shape: Any) -> None:
        n_in, n = tf.TensorShape(input_shape).dims[1].value, self._cell_size
        if n_in is None:
            raise ValueError("Expecting input_size to be set.")
        gates_kernel, gates_bias, kernel, bias = self._names
        self._gate_kernel = self.add_weight(gates_kernel, [n_in + n, n * 2])
        self._gate_bias = self.add_weight(gates_bias, [n * 2], initializer=tf.constant_initializer(1.0))
        self._candidate_kernel = self.add_weight(kernel, [n_in + n, n])
        self._candidate_bias = self.add_weight(bias, [n], initializer=tf.constant_initializer(0.0))
        self.built = True

    def call(self, inputs: Any, h_prev: Any) -> tuple[Any, Any]:
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, h_prev], 1), self._gate_kernel), self._gate_bias)
        reset, update = tf.split(tf.sigmoid(gates), 2, axis=1)
        candidate = tf.matmul(tf.concat([inputs, h_prev * reset], 1), self._candidate_kernel)
        candidate = tf.tanh(tf.nn.bias_add(candidate, self._candidate_bias))
        h = update * h_prev + (1 - update) * candidate
        return h, h


class GRUBlockCellV2(GRUBlockCell):
    """GRUBlockCell whose variables have the names of GRUCell's."""

    _names = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")
