"""Recurrent layers of the device: LSTM, GRU and GRU with attention over a whole sequence."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from npu_bridge._log import once
from npu_bridge._ops import recurrent

DYNAMIC_RNN_UNIDIRECTION = "UNIDIRECTIONAL"
DYNAMIC_RNN_BIDIRECTION = "BIDIRECTIONAL"
DYNAMIC_RNN_REDIRECTIONAL = "REDIRECTIONAL"
_DIRECTIONS = (DYNAMIC_RNN_UNIDIRECTION, DYNAMIC_RNN_BIDIRECTION, DYNAMIC_RNN_REDIRECTIONAL)


class _DynamicBasic(tf.layers.Layer):
    """Base class of the three layers: options, their limits, the input size, and the initial state."""

    def __init__(self, hidden_size: int, dtype: Any, direction: str, name: str, **options: Any) -> None:
        super().__init__(name=name, dtype=tf.as_dtype(dtype))
        if direction not in _DIRECTIONS:
            raise ValueError(f"direction must be one of {', '.join(_DIRECTIONS)}, got {direction!r}")
        for option, (value, only) in options.items():
            if value != only:
                raise ValueError(f"{name}: {option} must be {only!r} on this device, got {value!r}")
        self._hidden_size = hidden_size
        self._direction = direction
        self._lengths: tf.Tensor | None = None

    def _input_size(self, x: tf.Tensor) -> int:
        size = tf.TensorShape(x).as_list()[2] if isinstance(x, tf.TensorShape) else x.shape.as_list()[2]
        if size is None:
            raise ValueError(f"{self.name}: the last dimension of x [time, batch, in] must be known")
        return size

    def _initial(self, x: tf.Tensor, given: tf.Tensor | None, index: int = 0) -> tf.Tensor:
        if given is None:
            return tf.zeros([tf.shape(x)[1], self._hidden_size], x.dtype)
        return given[index] if given.shape.ndims == 3 else given


class DynamicRNN(_DynamicBasic):
    """LSTM over x [time, batch, in]; gate order i, j, f, o.

    Returns: y, output_h, output_c, i, j, f, o, tanhc, each [time, batch, hidden]; two directions add a first axis.
    Raises: ValueError for a direction, cell or layout that the device does not have, or an unknown input size.
    """

    def __init__(
        self,
        hidden_size: int,
        dtype: Any,
        cell_type: str = "LSTM",
        direction: str = DYNAMIC_RNN_UNIDIRECTION,
        cell_depth: int = 1,
        use_peephole: bool = False,
        keep_prob: float = 1.0,
        cell_clip: float = -1.0,
        num_proj: int = 0,
        time_major: bool = True,
        activation: str = "tanh",
        forget_bias: float = 0.0,
        is_training: bool = True,
    ) -> None:
        super().__init__(
            hidden_size, dtype, direction, "dynamicrnn", cell_type=(cell_type, "LSTM"), cell_depth=(cell_depth, 1),
            use_peephole=(use_peephole, False), num_proj=(num_proj, 0), time_major=(time_major, True),
            activation=(activation, "tanh"),
        )  # fmt: skip
        self._cell_type, self._use_peephole = cell_type, use_peephole
        self._cell_clip, self._forget_bias = cell_clip, forget_bias

    @property
    def cell_type(self) -> str:
        """The kind of cell: LSTM."""
        return self._cell_type

    @property
    def use_peephole(self) -> bool:
        """Whether the gates see the cell's state; the device has no such cell."""
        return self._use_peephole

    @property
    def forget_bias(self) -> float:
        """The number that is added to the forget gate."""
        return self._forget_bias

    def build(self, input_shape: tf.TensorShape) -> None:
        """Make ``w`` [in + hidden, 4 hidden] and ``b`` [4 hidden], both with a leading 2 for two directions."""
        rows = self._input_size(input_shape) + self._hidden_size
        lead = [2] if self._direction == DYNAMIC_RNN_BIDIRECTION else []
        glorot = tf.glorot_uniform_initializer(seed=10)
        self._w = self.add_weight("w", [*lead, rows, 4 * self._hidden_size], initializer=glorot)
        self._b = self.add_weight("b", [*lead, 4 * self._hidden_size], initializer=tf.zeros_initializer())
        super().build(input_shape)

    def call(
        self, x: tf.Tensor, seq_length: Any = None, init_h: Any = None, init_c: Any = None, weight: Any = None, bias: Any = None
    ) -> tuple[tf.Tensor, ...]:
        """Run over the sequence; weight and bias replace the layer's own."""
        w, b = self._w if weight is None else weight, self._b if bias is None else bias
        if self._direction != DYNAMIC_RNN_BIDIRECTION:
            return self._one(x, w, b, init_h, init_c, seq_length, 0, self._direction == DYNAMIC_RNN_REDIRECTIONAL)
        parts = [self._one(x, w[i], b[i], init_h, init_c, seq_length, i, i == 1) for i in (0, 1)]
        return tuple(tf.stack(pair, axis=0) for pair in zip(*parts, strict=True))

    def _one(self, x: Any, w: Any, b: Any, init_h: Any, init_c: Any, lengths: Any, index: int, is_reversed: bool) -> Any:
        turn = _turner(lengths) if is_reversed else (lambda value: value)
        h, c = self._initial(x, init_h, index), self._initial(x, init_c, index)
        outputs = recurrent.lstm(turn(x), w, b, h, c, lengths, self._forget_bias, self._cell_clip)
        return tuple(turn(output) for output in outputs)


def _turner(lengths: Any) -> Any:
    """A function that turns the time axis around, within each sequence's length."""
    if lengths is None:
        return lambda value: tf.reverse(value, [0])
    return lambda value: tf.reverse_sequence(value, lengths, seq_axis=0, batch_axis=1)


class DynamicGRUV2(_DynamicBasic):
    """GRU over x [time, batch, in] whose reset gate acts after the hidden product.

    Returns: y, output_h, update, reset, new, hidden_new, each [time, batch, hidden].
    """

    _kind = "dynamicgruv2"

    def __init__(
        self,
        hidden_size: int,
        dtype: Any,
        direction: str = DYNAMIC_RNN_UNIDIRECTION,
        cell_depth: int = 1,
        keep_prob: float = 1.0,
        cell_clip: float = -1.0,
        num_proj: int = 0,
        time_major: bool = True,
        activation: str = "tanh",
        gate_order: str = "zrh",
        reset_after: bool = True,
        is_training: bool = True,
    ) -> None:
        super().__init__(
            hidden_size, dtype, direction, self._kind, cell_depth=(cell_depth, 1), num_proj=(num_proj, 0),
            time_major=(time_major, True), activation=(activation, "tanh"), reset_after=(reset_after, True),
            direction_=(direction, DYNAMIC_RNN_UNIDIRECTION),
        )  # fmt: skip
        if gate_order not in ("zrh", "rzh"):
            raise ValueError(f"gate_order must be 'zrh' or 'rzh', got {gate_order!r}")
        self._gate_order, self._reset_after = gate_order, reset_after

    @property
    def gate_order(self) -> str:
        """The order of the gates in the weights: zrh or rzh."""
        return self._gate_order

    @property
    def reset_after(self) -> bool:
        """Whether the reset gate acts after the hidden product."""
        return self._reset_after

    def build(self, input_shape: tf.TensorShape) -> None:
        """Make weights [in, 3 hidden] and [hidden, 3 hidden] and two biases [3 hidden], uniform in +-1/sqrt(hidden)."""
        size, limit = self._input_size(input_shape), self._hidden_size**-0.5
        uniform = tf.random_uniform_initializer(-limit, limit)
        width = 3 * self._hidden_size
        self._weight_input = self.add_weight("weight_input", [size, width], initializer=uniform)
        self._weight_hidden = self.add_weight("weight_hidden", [self._hidden_size, width], initializer=uniform)
        self._bias_input = self.add_weight("bias_input", [width], initializer=uniform)
        self._bias_hidden = self.add_weight("bias_hidden", [width], initializer=uniform)
        super().build(input_shape)

    def call(self, x: tf.Tensor, seq_length: Any = None, init_h: Any = None) -> tuple[tf.Tensor, ...]:
        """Run over the sequence."""
        return self._run(x, seq_length, init_h, None)

    def _run(self, x: tf.Tensor, seq_length: Any, init_h: Any, attention: Any) -> tuple[tf.Tensor, ...]:
        return recurrent.gru(
            x,
            (self._weight_input, self._weight_hidden),
            (self._bias_input, self._bias_hidden),
            self._initial(x, init_h),
            seq_length,
            self._gate_order,
            attention,
        )


class DynamicAUGRU(DynamicGRUV2):
    """GRU whose update gate is multiplied by an attention weight [time, batch] or [time, batch, 1].

    Returns: y, output_h, update, update_att, reset, new, hidden_new, each [time, batch, hidden].
    """

    _kind = "dynamicaugru"

    def build(self, input_shape: tf.TensorShape) -> None:
        """Make the weights of ``DynamicGRUV2`` under this layer's name."""
        once("DynamicAUGRU computes h = (1 - a u) h + a u n, the published form; the device's own formula is not documented")
        super().build(input_shape)

    def call(self, x: tf.Tensor, weight_att: tf.Tensor, seq_length: Any = None, init_h: Any = None) -> tuple[tf.Tensor, ...]:
        """Run over the sequence."""
        return self._run(x, seq_length, init_h, weight_att)
