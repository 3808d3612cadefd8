"""LSTM kin with other gates: coupled, grouped, crossing layers, and opened by a clock.

Source: tensorflow/contrib/rnn/python/ops/rnn_cell.py of TF 1.15.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from npu_bridge._contrib._rnn_cells import _linear, normalized
from tensorflow.nn.rnn_cell import LSTMStateTuple, RNNCell

Activation = Callable[[Any], Any]


def _depth_of(inputs: Any) -> int:
    """Raises: ValueError for inputs whose last extent is not known."""
    depth = inputs.shape.with_rank(2).dims[1].value
    if depth is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
    return int(depth)


def _in_shards(name: str, shape: list[int], dtype: Any, n_shards: int) -> Any:
    """One matrix, kept as n_shards variables of rows. Raises: ValueError for more shards than rows."""
    if n_shards > shape[0]:
        raise ValueError(f"Too many shards: shape={shape}, num_shards={n_shards}")
    if n_shards == 1:
        return tf.get_variable(f"{name}_0", shape, dtype)
    rows, more = divmod(shape[0], n_shards)
    shards = [tf.get_variable(f"{name}_{k}", [rows + (k < more), *shape[1:]], dtype) for k in range(n_shards)]
    return tf.concat(shards, 0)


class CoupledInputForgetGateLSTMCell(RNNCell):
    """LSTM whose input gate is what the forget gate leaves (Greff et al.: LSTM: A Search Space Odyssey).

    initializer: not looked at, as in TF 1.15.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation = tf.tanh,
        reuse: Any = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ) -> None:
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            tf.logging.warning("%s: Using a concatenated state is slower. Use state_is_tuple=True.", self)
        self._num_units, self._num_proj, self._proj_clip = num_units, num_proj, proj_clip
        self._use_peepholes, self._forget_bias, self._activation = use_peepholes, forget_bias, activation
        self._unit_shards, self._proj_shards, self._state_is_tuple = num_unit_shards, num_proj_shards, state_is_tuple
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift

    @property
    def state_size(self) -> Any:
        if self._state_is_tuple:
            return LSTMStateTuple(self._num_units, self.output_size)
        return self._num_units + self.output_size

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def _norm(self, values: Any, scope: str) -> Any:
        return normalized(values, scope, self._norm_gain, self._norm_shift) if self._layer_norm else values

    def _gates(self, inputs: Any, output: Any) -> list[Any]:
        size, dtype = 3 * self._num_units, inputs.dtype
        weights = _in_shards("W", [_depth_of(inputs) + self.output_size, size], dtype, self._unit_shards)
        bias = tf.get_variable("B", [size], dtype, tf.zeros_initializer())
        gates = tf.matmul(tf.concat([inputs, output], 1), weights)
        parts = tf.split(gates if self._layer_norm else tf.nn.bias_add(gates, bias), 3, axis=1)
        return [self._norm(part, scope) for part, scope in zip(parts, ("transform", "forget", "output"), strict=True)]

    def _peephole(self, name: str, cell: Any) -> Any:
        return tf.get_variable(name, [self._num_units], cell.dtype) * cell if self._use_peepholes else 0.0

    def _projected(self, output: Any) -> Any:
        if self._num_proj is None:
            return output
        output = tf.matmul(output, _in_shards("W_P", [self._num_units, self._num_proj], output.dtype, self._proj_shards))
        return output if self._proj_clip is None else tf.clip_by_value(output, -self._proj_clip, self._proj_clip)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        sizes = [self._num_units, self.output_size]
        before, output = state if self._state_is_tuple else tf.split(state, sizes, axis=1)
        j, f, o = self._gates(inputs, output)
        forget = tf.sigmoid(f + self._forget_bias + self._peephole("W_F_diag", before))
        cell = self._norm(forget * before + (1 - forget) * self._activation(j), "state")
        output = self._projected(tf.sigmoid(o + self._peephole("W_O_diag", cell)) * self._activation(cell))
        return output, LSTMStateTuple(cell, output) if self._state_is_tuple else tf.concat([cell, output], 1)


class IntersectionRNNCell(RNNCell):
    """One gate for the state and one for what goes up (Collins, Sohl-Dickstein, Sussillo).

    Raises: ValueError when called on inputs of another depth than num_units without num_in_proj.
    """

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: Any = None,
        forget_bias: float = 1.0,
        y_activation: Activation = tf.nn.relu,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._num_in_proj, self._initializer = num_units, num_in_proj, initializer
        self._forget_bias, self._y_activation = forget_bias, y_activation

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def _fitting(self, inputs: Any) -> Any:
        if _depth_of(inputs) == self._num_units:
            return inputs
        if not self._num_in_proj:
            raise ValueError(
                "Must have input size == output size for Intersection RNN. To fix, num_in_proj should be set to num_units at "
                "cell init."
            )
        with tf.variable_scope("in_projection"):
            return _linear(inputs, self._num_units)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            inputs = self._fitting(inputs)
            mixed = _linear(tf.concat([inputs, state], 1), 4 * self._num_units)
        keeps_state, h, keeps_input, y = tf.split(mixed, 4, axis=1)
        keeps_state, keeps_input = (tf.sigmoid(gate + self._forget_bias) for gate in (keeps_state, keeps_input))
        output = keeps_input * inputs + (1.0 - keeps_input) * self._y_activation(y)
        return output, keeps_state * state + (1.0 - keeps_state) * tf.tanh(h)


class GLSTMCell(RNNCell):
    """LSTM in groups of units that do not see each other (Kuchaiev, Ginsburg: Factorization tricks for LSTM networks).

    Raises: ValueError when number_of_groups does not divide a size, or, when called, the depth of the inputs.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        num_proj: int | None = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: Activation = tf.tanh,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        for name, size in (("num_units", num_units), ("num_proj", num_proj or 0)):
            if size % number_of_groups:
                raise ValueError(f"{name} must be divisible by number_of_groups")
        self._num_units, self._num_proj, self._n_groups = num_units, num_proj, number_of_groups
        self._initializer, self._forget_bias, self._activation = initializer, forget_bias, activation

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def _by_group(self, inputs: Any, output: Any) -> list[list[Any]]:
        """Gates i, j, f, o of each group."""
        made = []
        parts = zip(*(tf.split(values, self._n_groups, axis=1) for values in (inputs, output)), strict=True)
        for number, part in enumerate(parts):
            with tf.variable_scope(f"group{number}"):
                made.append(tf.split(_linear(tf.concat(part, 1), 4 * self._num_units // self._n_groups, bias=None), 4, axis=1))
        return made

    def _gates(self, inputs: Any, output: Any) -> list[Any]:
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            groups = self._by_group(inputs, output)
            return [
                tf.nn.bias_add(
                    tf.concat(parts, 1),
                    tf.get_variable(f"bias_{name}", [self._num_units], inputs.dtype, tf.zeros_initializer()),
                )
                for name, parts in zip("ijfo", zip(*groups, strict=True), strict=True)
            ]

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        depth = _depth_of(inputs)
        if depth % self._n_groups:
            raise ValueError(f"input size ({depth}) must be divisible by number_of_groups ({self._n_groups})")
        cell, output = state
        i, j, f, o = self._gates(inputs, output)
        cell = tf.sigmoid(f + self._forget_bias) * cell + tf.sigmoid(i) * tf.tanh(j)
        output = tf.sigmoid(o) * self._activation(cell)
        if self._num_proj is not None:
            with tf.variable_scope("projection"):
                output = _linear(output, self._num_proj, bias=None)
        return output, LSTMStateTuple(cell, output)


def _log_uniform(low: float, high: float) -> Callable[..., Any]:
    def values(shape: Any, dtype: Any = tf.float32, partition_info: Any = None) -> Any:
        return tf.exp(tf.random_uniform(shape, math.log(low), math.log(high), dtype))

    return values


class PhasedLSTMCell(RNNCell):
    """LSTM whose units change while their clock is open (Neil, Pfeiffer, Liu). Its inputs are (times (batch, 1), features)."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse, autocast=False)  # times may be float64
        self._num_units, self._use_peepholes, self._leak = num_units, use_peepholes, leak
        self._ratio_on, self._trainable_ratio_on = ratio_on, trainable_ratio_on
        self._periods = period_init_min, period_init_max

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        return self._num_units

    def _mixed(self, scope: str, parts: list[Any], peephole: Any, n_gates: int = 1) -> Any:
        with tf.variable_scope(scope):
            seen = [*parts, peephole] if self._use_peepholes and peephole is not None else parts
            return _linear(tf.concat(seen, 1), n_gates * self._num_units)

    def _openness(self, time: Any) -> Any:
        """The openness of each unit at a time: up and down during ratio_on of its period, a leak in the rest."""
        size = [self._num_units]
        period = tf.get_variable("period", size, initializer=_log_uniform(*self._periods))
        phase = tf.get_variable("phase", size, initializer=tf.random_uniform_initializer(0.0, period.initial_value))
        start = tf.constant_initializer(self._ratio_on)
        ratio_on = tf.get_variable("ratio_on", size, initializer=start, trainable=self._trainable_ratio_on)
        shifted, length = time - tf.cast(phase, time.dtype), tf.cast(period, time.dtype)
        rest = shifted + tf.stop_gradient(tf.mod(shifted, length) - shifted)  # a gradient passes through the modulus
        ratio = tf.cast(rest / length, tf.float32)
        rising = 2 * ratio / ratio_on
        falling_or_shut = tf.where(ratio < ratio_on, 2 - rising, self._leak * ratio)
        return tf.where(ratio < 0.5 * ratio_on, rising, falling_or_shut)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        before, hidden = state
        time, x = inputs
        gates = tf.sigmoid(self._mixed("mask_gates", [x, hidden], before, 2))
        i, f = tf.split(gates, 2, axis=1)
        cell = before * f + i * tf.tanh(self._mixed("new_input", [x, hidden], None))
        output = tf.tanh(cell) * tf.sigmoid(self._mixed("output_gate", [x, hidden], cell))
        k = self._openness(time)
        cell, output = k * cell + (1 - k) * before, k * output + (1 - k) * hidden
        return output, LSTMStateTuple(cell, output)
