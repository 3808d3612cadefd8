"""Primitives of recurrent networks."""

from __future__ import annotations

from typing import Any

from mindspore.ops.primitive import Primitive
from npu_bridge.npu_init import tf


def _step(state: Any, inputs: Any, weight: Any, bias: Any, forget_bias: float) -> tuple[Any, ...]:
    """(h, c, i, j, f, o, tanh(c)) after a step; the gates stand in the weight in the order i, j, f, o."""
    before_h, before_c = state
    gates = tf.matmul(tf.concat([inputs, before_h], 1), weight) + tf.cast(bias, weight.dtype)
    i, j, f, o = tf.split(tf.cast(gates, bias.dtype), 4, axis=1)
    i, j, f, o = tf.sigmoid(i), tf.tanh(j), tf.sigmoid(f + forget_bias), tf.sigmoid(o)
    c = tf.cast(before_c, bias.dtype) * f + i * j
    bent = tf.tanh(c)
    return tf.cast(bent * o, before_h.dtype), c, i, j, f, o, bent


class DynamicRNN(Primitive):
    """An LSTM over inputs (time, batch, features): (y, h, c, i, j, f, o, tanh(c)), each of all steps.

    The weight is (features + hidden, 4 * hidden), with the gates in the order i, j, f, o.
    """

    defaults = (
        ("cell_type", "LSTM"), ("direction", "UNIDIRECTIONAL"), ("cell_depth", 1), ("use_peephole", False), ("keep_prob", 1.0),
        ("cell_clip", -1.0), ("num_proj", 0), ("time_major", True), ("activation", "tanh"), ("forget_bias", 0.0),
        ("is_training", True),
    )  # fmt: skip
    _ONLY = (
        ("cell_type", "LSTM"), ("direction", "UNIDIRECTIONAL"), ("use_peephole", False), ("keep_prob", 1.0), ("num_proj", 0),
        ("time_major", True), ("activation", "tanh"),
    )  # fmt: skip

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        for name, value in self._ONLY:
            if self.attrs[name] != value:
                raise ValueError(f"DynamicRNN({name}={self.attrs[name]!r}): {value!r} alone is simulated")

    def compute(self, x: Any, weight: Any, bias: Any, lengths: Any, h: Any, c: Any, **_: Any) -> Any:
        """The nodes of all steps, one after the other."""
        if lengths is not None:
            raise ValueError("DynamicRNN takes None in the place of seq_length")
        state, steps = (h[0], c[0]), []
        for inputs in tf.unstack(x, axis=0):
            steps.append(_step(state, inputs, weight, bias, self.forget_bias))
            state = steps[-1][:2]
        whole = [tf.stack(part) for part in zip(*steps, strict=True)]
        return tf.cast(whole[0], bias.dtype), *whole


__all__ = ["DynamicRNN"]
